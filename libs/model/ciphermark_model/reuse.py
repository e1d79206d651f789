"""Where the operands of a program's nodes are when a node reads them: in a cache, or in memory. Pure."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ciphermark_contract.footprint import Switching
from ciphermark_contract.operations import OPERATIONS, Kind, top_level
from ciphermark_contract.program import Node, Program
from ciphermark_core.model import EXACT_SCHEMES
from ciphermark_model.table import switches_keys

_WORD = 8  # bytes


@dataclass(frozen=True, slots=True)
class Reads:
    """What a node reads: bytes and reuse distances, the bytes touched since the last use, of operands and of its key.

    ``written`` are the bytes of its results, which go to memory that was just freed.
    """

    operands: tuple[tuple[int, int], ...]
    key: tuple[int, int] | None
    written: int

    @property
    def touched(self) -> int:
        """Bytes that an execution accesses again and again in a loop over this node alone."""
        read = sum(size for size, _ in self.operands) + (self.key[0] if self.key else 0)
        return read + self.written


@dataclass(frozen=True, slots=True)
class Caches:
    """The sizes between which reads move from the near cache to memory."""

    near: int
    last: int

    def missing(self, distance: float) -> float:
        """The share of bytes at a reuse distance that comes from memory: 0 up to the near cache, 1 from the last cache
        on, and between them linear in the logarithm of the distance.
        """
        if not self.last or distance <= self.near:
            return 0.0
        if distance >= self.last:
            return 1.0
        return math.log(distance / self.near) / math.log(self.last / self.near)

    def streamed_share(self, reads: Reads) -> float:
        """How far a node is from a loop over cached operands, at 0, to one over streamed operands, at 1.

        Operands count by their bytes. A loop over cached operands misses, too, where these exceed the caches.
        """
        base = self.missing(reads.touched)
        total = sum(size for size, _ in reads.operands) + reads.written
        if base >= 1 or not total:
            return 0.0
        missed = sum(size * max(0.0, self.missing(distance) - base) for size, distance in reads.operands)
        return missed / (1 - base) / total

    def missed_key_bytes(self, reads: Reads) -> float:
        """Bytes of the key that come from memory, beyond those of a loop with one key."""
        if reads.key is None:
            return 0.0
        size, distance = reads.key
        return size * max(0.0, self.missing(distance) - self.missing(reads.touched))


def reads_of(program: Program, switching: Switching) -> list[Reads]:
    """What each node reads when the nodes execute in order, pass after pass.

    An object's reuse distance is the number of bytes touched since its last use, at most those of all objects.
    Inputs were just received. Constants and keys were last used a pass before.
    """
    lowest = len(program.parameters.moduli) - top_level(program.parameters)
    polynomial = (
        _WORD * program.parameters.ring_dimension * max(1, len(program.parameters.spec.plain_residues))
    )
    sizes = [shape.polynomials * (lowest + shape.level) * polynomial for shape in program.shapes]
    accesses = [_accesses(program, node, sizes, lowest, polynomial, switching) for node in program.nodes]
    results = [
        sum(sizes[first : first + len(node.results)])
        for first, node in zip(program.first_results, program.nodes, strict=True)
    ]
    whole = sum(sizes[: len(program.inputs)]) + sum(
        {item: size for each in accesses for item, size in each}.values()
    )
    clock, last = 0, dict[Hashable, int]()
    for value in range(len(program.inputs)):
        clock += sizes[value]
        last[value] = clock
    reads = []
    for index, node in enumerate(program.nodes):
        found = []
        for item, size in accesses[index]:
            found.append((item, size, min(clock - last[item], whole) if item in last else whole))
            last[item] = clock
        operands = tuple((size, distance) for item, size, distance in found if not _is_key(item))
        key = next(((size, distance) for item, size, distance in found if _is_key(item)), None)
        reads.append(Reads(operands, key, results[index]))
        clock += sum(size for _, size in accesses[index]) + results[index]
        first = program.first_results[index]
        last.update(dict.fromkeys(range(first, first + len(node.results)), clock))
    return reads


def _is_key(item: Hashable) -> bool:
    return isinstance(item, tuple) and item[0] == "key"


def _accesses(  # noqa: PLR0913, PLR0917 - a node and the sizes of what it reads
    program: Program, node: Node, sizes: Sequence[int], lowest: int, polynomial: int, switching: Switching
) -> list[tuple[Hashable, int]]:
    """The objects that a node reads, each once, with their sizes: values by number, constants and keys as tuples."""
    primes = lowest + program.level_of(node)
    taken: dict[Hashable, int] = {value: sizes[value] for value in node.operands}
    row = OPERATIONS[node.operation]
    is_short = program.scheme in EXACT_SCHEMES and Kind.NTT_PLAINTEXT not in row.operands
    for constant in node.constants:
        taken["constant", constant] = polynomial * (1 if is_short else primes)
    if switches_keys(node.operation):
        digits = digits_in_use(primes, len(program.parameters.moduli), switching.digits)
        taken["key", node.operation, node.arguments] = (
            2 * digits * (primes + switching.special_primes) * polynomial
        )
    return list(taken.items())


def digits_in_use(primes: int, chain: int, digits: int) -> int:
    """Digits of a ciphertext of ``primes`` data primes, where one of the whole chain has ``digits``."""
    return -(-primes // -(-chain // max(1, digits)))
