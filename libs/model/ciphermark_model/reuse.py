"""Where the operands of a program's nodes are when a node reads them: in a cache, or in memory. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_contract.footprint import Switching
from ciphermark_contract.operations import OPERATIONS, Kind, top_level
from ciphermark_contract.program import Node, Program
from ciphermark_core.model import EXACT_SCHEMES
from ciphermark_model.table import switches_keys

_WORD = 8  # bytes
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reads:
    """What the nodes of a program read, in arrays: bytes and reuse distances, the bytes touched since the last use.

    ``nodes``, ``sizes`` and ``distances`` have an entry for each operand; the other arrays one for each node, with keys
    of no bytes where it has none. ``written`` are the bytes of results, which go to memory that was just freed.
    """

    nodes: Integers
    sizes: Floats
    distances: Floats
    key_sizes: Floats
    key_distances: Floats
    written: Floats

    @property
    def accessed(self) -> Floats:
        """Bytes of operands and results of each node."""
        return self.of_nodes(self.sizes) + self.written

    def of_nodes(self, values: Floats) -> Floats:
        """The sum of values of operands for each node."""
        return np.bincount(self.nodes, values, len(self.written)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Caches:
    """The sizes between which reads move from the near cache to memory."""

    near: int
    last: int

    def missing(self, distances: Floats) -> Floats:
        """The share of bytes at reuse distances that comes from memory: 0 up to the near cache, 1 from the last cache
        on, and between them linear in the logarithm of the distance; a step where there is one cache alone.
        """
        if not self.last:
            return np.zeros_like(distances)
        if not 0 < self.near < self.last:
            return (distances > self.last).astype(float)
        shares: Floats = np.log(np.maximum(distances, self.near) / self.near) / np.log(self.last / self.near)
        return np.clip(shares, 0.0, 1.0)

    def streamed_shares(self, reads: Reads) -> Floats:
        """How far each node is from a loop over cached operands, at 0, to one over streamed operands, at 1.

        Operands count by their bytes. A loop over cached operands misses, too, where these exceed the caches.
        """
        base = self._missing_in_loop(reads)
        more = np.maximum(0.0, self.missing(reads.distances) - base[reads.nodes])
        possible = np.maximum((1 - base) * reads.accessed, 1.0)
        return np.where(base < 1, reads.of_nodes(reads.sizes * more) / possible, 0.0)

    def missed_key_bytes(self, reads: Reads) -> Floats:
        """Bytes of each node's key that come from memory, beyond those of a loop with one key."""
        more = self.missing(reads.key_distances) - self._missing_in_loop(reads)
        return reads.key_sizes * np.maximum(0.0, more)

    def _missing_in_loop(self, reads: Reads) -> Floats:
        return self.missing(reads.accessed + reads.key_sizes)


def reads_of(program: Program, switching: Switching) -> Reads:
    """What each node reads when the nodes execute in order, pass after pass.

    An object's reuse distance is the number of bytes touched since its last use, at most those of all objects.
    Inputs were just received. Constants and keys were last used a pass before.
    """
    sizes = _Sizes(program, switching)
    clock, last, bytes_of = 0, dict[Hashable, int](), dict[Hashable, int]()
    for value in range(len(program.inputs)):
        clock += sizes.values[value]
        last[value], bytes_of[value] = clock, sizes.values[value]
    operands, keys = list[tuple[int, int, int]](), list[tuple[int, int]]()
    written = list[int]()
    for index, (node, first) in enumerate(zip(program.nodes, program.first_results, strict=True)):
        start = clock
        for item, size in sizes.operands(node):
            operands.append((index, size, start - last.get(item, _NEVER)))
            last[item], bytes_of[item] = start, size
            clock += size
        item, size = sizes.key(node)
        keys.append((size, start - last.get(item, _NEVER)))
        if size:
            last[item], bytes_of[item] = start, size
            clock += size
        results = range(first, first + len(node.results))
        written.append(sum(sizes.values[value] for value in results))
        clock += written[-1]
        last.update(dict.fromkeys(results, clock))
    whole = sum(bytes_of.values())
    nodes, read, distances = np.array(operands, dtype=np.float64).reshape(-1, 3).T
    key_sizes, key_distances = np.array(keys, dtype=np.float64).reshape(-1, 2).T
    return Reads(
        nodes.astype(np.int64),
        read,
        np.minimum(distances, whole),
        key_sizes,
        np.minimum(key_distances, whole),
        np.array(written, dtype=np.float64),
    )


_NEVER = -(1 << 62)


class _Sizes:
    """Bytes of the objects that nodes read."""

    def __init__(self, program: Program, switching: Switching) -> None:
        parameters = program.parameters
        residues = max(1, len(parameters.spec.plain_residues))
        self._polynomial = _WORD * parameters.ring_dimension * residues
        self._lowest = len(parameters.moduli) - top_level(parameters)
        self._chain, self._switching = len(parameters.moduli), switching
        self._shapes, self._is_exact = program.shapes, program.scheme in EXACT_SCHEMES
        self.values = [
            shape.polynomials * (self._lowest + shape.level) * self._polynomial for shape in program.shapes
        ]

    def operands(self, node: Node) -> Iterator[tuple[Hashable, int]]:
        """The values, by number, and constants that a node reads, each once."""
        for value in dict.fromkeys(node.operands):
            yield value, self.values[value]
        if node.constants:
            is_short = self._is_exact and Kind.NTT_PLAINTEXT not in OPERATIONS[node.operation].operands
            size = self._polynomial * (1 if is_short else self._primes(node))
            for constant in dict.fromkeys(node.constants):
                yield ("constant", constant), size

    def key(self, node: Node) -> tuple[Hashable, int]:
        """The key that a node uses, and the bytes that it reads of it; 0 without a key."""
        if not switches_keys(node.operation):
            return None, 0
        primes = self._primes(node)
        digits = digits_in_use(primes, self._chain, self._switching.digits)
        used = primes + self._switching.special_primes
        return (node.operation, node.arguments), 2 * digits * used * self._polynomial

    def _primes(self, node: Node) -> int:
        return self._lowest + self._shapes[node.operands[0]].level


def digits_in_use(primes: int, chain: int, digits: int) -> int:
    """Digits of a ciphertext of ``primes`` data primes, where one of the whole chain has ``digits``."""
    return -(-primes // -(-chain // max(1, digits)))
