"""Predicted memory of the two parties of a workload, from its traced programs and a library's :class:`Footprint`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import Shape, top_level
from ciphermark_contract.program import Program
from ciphermark_core.model import Parameters

_WORD = 8  # bytes
_MIB = 1 << 20
_WORKLOAD = 5 * _MIB  # an input, and the traced programs
_UPLOAD = 3  # a ciphertext, its bytes, and those of all in one message


class Switching(NamedTuple):
    """Digits of key switching, and special primes."""

    digits: int
    special_primes: int


def _digit_per_prime(parameters: Parameters) -> Switching:
    return Switching(len(parameters.moduli), len(parameters.special_moduli))


def _no_rotations(parameters: Parameters) -> Collection[int]:
    return ()


class OfParties(NamedTuple):
    """A value for each party."""

    client: float
    server: float


_NONE = OfParties(0, 0)


@dataclass(frozen=True, slots=True)
class Footprint:
    """A library's memory. Constants are fitted to the peaks of parties (docs/explanation/memory.md).

    - ``process_mib`` is an interpreter with the loaded library, in MiB.
    - A context takes ``per_prime`` bytes per coefficient for each prime of QP, and ``per_square`` bytes per coefficient
      times their squared number.
    - ``key_share`` is the part of an evaluation key that is kept; its uniform half may be a seed.
    - With ``owner_keeps_keys``, the client holds all evaluation keys. ``copies`` are those of a key, or with
      ``sends_keys_whole`` of all keys, that exist while it is written and read.
    - ``buffers`` are the polynomials of all primes of QP that the library needs beyond operands and results.
    - With ``has_pools``, freed memory serves objects of the same size only, until it is collected.
    - ``switching`` predicts the key switching of parameters with the requested data primes.
    - ``bootstrapping_rotations`` are the steps, modulo N/2, whose keys bootstrapping shares with programs. A process
      that holds keys of bootstrapping has ``garbage_bytes`` on average.
    """

    process_mib: float
    per_prime: float
    copies: OfParties
    per_square: float = 0.0
    key_share: float = 1.0
    owner_keeps_keys: bool = False
    sends_keys_whole: bool = False
    buffers: OfParties = _NONE
    has_pools: bool = False
    switching: Callable[[Parameters], Switching] = _digit_per_prime
    bootstrapping_rotations: Callable[[Parameters], Collection[int]] = _no_rotations
    garbage_bytes: int = 0

    def key_bytes(self, parameters: Parameters) -> int:
        """One evaluation key: two polynomials of all primes for each digit, and for each factor of a composite t."""
        digits, _ = self.switching(parameters)
        return 2 * digits * self._residues(parameters) * self._polynomial_bytes(parameters)

    def context_bytes(self, parameters: Parameters) -> int:
        """The library's tables in one party."""
        primes = self._primes(parameters)
        each = parameters.ring_dimension * (self.per_prime * primes + self.per_square * primes**2)
        return round(self._residues(parameters) * each)

    def parties(
        self, programs: Sequence[Program], constants: Iterable[int], keys: KeyRequest, stored: int
    ) -> PartyBytes | None:
        """The peaks of the parties for one input. ``constants`` are the sizes of the programs' vectors, ``stored`` is
        what the workload states to keep on the server. ``None`` if the library alone knows its keys. The making of
        an input is not counted.
        """
        if keys.bootstrapping is not None:
            return None
        parameters = programs[0].parameters
        residues, kept = self._residues(parameters), self._kept_keys(parameters, keys)
        plaintexts = residues * sum(program.plaintext_bytes for program in programs) + sum(constants)
        live = residues * max(live_bytes(program, has_pools=self.has_pools) for program in programs)
        sent = residues * sum(_bytes(program, shape) for program in programs for shape in program.inputs)
        moved = self._moved_keys(parameters, keys)
        buffer = self._polynomial_bytes(parameters)
        base = self.base_bytes(parameters)
        encrypting = _UPLOAD * sent + self.buffers.client * buffer
        evaluating = max(plaintexts, stored) + live + self.buffers.server * buffer
        owned = kept if self.owner_keeps_keys else 0
        return PartyBytes(
            client=round(base + owned + _WORKLOAD + max(self.copies.client * moved, encrypting)),
            server=round(base + kept + max(self.copies.server * moved, _WORKLOAD + evaluating)),
            keys=kept,
        )

    def worker(self, parameters: Parameters, keys: KeyRequest) -> PartyBytes | None:
        """The peak of a worker, which is both parties in one process, as that of a server; without operands."""
        if keys.bootstrapping is not None:
            return None
        kept = self._kept_keys(parameters, keys) * (2 if self.owner_keeps_keys else 1)
        moved = self.copies.client * self._moved_keys(parameters, keys)
        return PartyBytes(0, round(self.base_bytes(parameters) + kept + moved), kept)

    def base_bytes(self, parameters: Parameters) -> float:
        """A process with the library and its tables."""
        return self.process_mib * _MIB + self.context_bytes(parameters)

    def _kept_keys(self, parameters: Parameters, keys: KeyRequest) -> int:
        return round(self.key_share * keys.count * self.key_bytes(parameters))

    def _moved_keys(self, parameters: Parameters, keys: KeyRequest) -> float:
        """The keys that are written and read at once, those of one factor of a composite t."""
        count = keys.count if self.sends_keys_whole else min(1, keys.count)
        return self.key_share * count * self.key_bytes(parameters) / self._residues(parameters)

    def _primes(self, parameters: Parameters) -> int:
        return len(parameters.moduli) + self.switching(parameters).special_primes

    def _polynomial_bytes(self, parameters: Parameters) -> int:
        """A polynomial of all primes of QP."""
        return self._primes(parameters) * _WORD * parameters.ring_dimension

    @staticmethod
    def _residues(parameters: Parameters) -> int:
        return max(1, len(parameters.spec.plain_residues))


class PartyBytes(NamedTuple):
    """The peaks of client and server, and the evaluation keys in that of the server."""

    client: int
    server: int
    keys: int


def live_bytes(program: Program, *, has_pools: bool) -> int:
    """The maximum size of the ciphertexts alive at once when nodes execute in order; with pools, of each size."""
    size_of = {shape: _bytes(program, shape) for shape in {*program.shapes}}
    sizes = [size_of[shape] for shape in program.shapes]
    live, most = Counter(sizes[: len(program.inputs)]), Counter[int]()
    total = peak = sum(sizes[: len(program.inputs)])
    most |= live
    for first, node, dying in zip(program.first_results, program.nodes, program.dying, strict=True):
        for value in range(first, first + len(node.results)):
            size = sizes[value]
            live[size] += 1
            most[size] = max(most[size], live[size])
            total += size
        peak = max(peak, total)
        for value in dying:
            live[sizes[value]] -= 1
            total -= sizes[value]
    return sum(size * count for size, count in most.items()) if has_pools else peak


def _bytes(program: Program, shape: Shape) -> int:
    parameters = program.parameters
    primes = len(parameters.moduli) - top_level(parameters) + shape.level
    return shape.polynomials * primes * _WORD * parameters.ring_dimension
