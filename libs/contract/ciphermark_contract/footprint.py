"""Predicted memory of the two parties of a workload, from its traced programs and a library's :class:`Footprint`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import Shape, top_level
from ciphermark_contract.program import Program
from ciphermark_core.model import Parameters

_WORD = 8  # bytes
_PROCESS = 70 << 20  # an interpreter with numpy and a library
# Keys that exist besides the set: generated, written, and read.
_IN_TRANSIT = 3


class Switching(NamedTuple):
    """Digits of key switching, and special primes."""

    digits: int
    special_primes: int


def _digit_per_prime(parameters: Parameters) -> Switching:
    return Switching(len(parameters.moduli), len(parameters.special_moduli))


@dataclass(frozen=True, slots=True)
class Footprint:
    """A library's memory in addition to ciphertexts, plaintexts and keys.

    A context takes ``per_prime`` bytes per coefficient for each prime of QP, and ``per_square`` bytes per coefficient
    times their squared number. With ``has_pools``, freed memory serves objects of the same size only. With
    ``owner_keeps_keys``, the client holds all evaluation keys; otherwise it makes and sends one at a time.
    ``switching`` predicts the key switching of parameters with the requested data primes.
    """

    per_prime: float
    per_square: float = 0.0
    has_pools: bool = False
    owner_keeps_keys: bool = False
    switching: Callable[[Parameters], Switching] = _digit_per_prime

    def key_bytes(self, parameters: Parameters) -> int:
        """One evaluation key: two polynomials of all primes for each digit."""
        digits, special = self.switching(parameters)
        return 2 * digits * (len(parameters.moduli) + special) * _WORD * parameters.ring_dimension

    def context_bytes(self, parameters: Parameters) -> int:
        """The library's tables in one party."""
        primes = len(parameters.moduli) + self.switching(parameters).special_primes
        return round(parameters.ring_dimension * (self.per_prime * primes + self.per_square * primes**2))

    def parties(
        self, programs: Sequence[Program], constants: Iterable[int], keys: KeyRequest, stored: int
    ) -> PartyBytes | None:
        """The peaks of the parties for one input. ``constants`` are the sizes of the programs' vectors, ``stored`` is
        what the workload states to keep on the server. ``None`` if the library alone knows its keys.
        """
        if keys.bootstrapping is not None:
            return None
        parameters = programs[0].parameters
        key, context = self.key_bytes(parameters), self.context_bytes(parameters)
        count = _count(keys)
        plaintexts = sum(program.plaintext_bytes for program in programs) + sum(constants)
        live = max(live_bytes(program, has_pools=self.has_pools) for program in programs)
        sent = sum(_bytes(program, shape) for program in programs for shape in program.inputs)
        transit = _IN_TRANSIT * key if count else 0
        return PartyBytes(
            client=_PROCESS + context + (count * key if self.owner_keeps_keys else 0) + transit + 2 * sent,
            server=_PROCESS + context + count * key + max(plaintexts, stored) + live,
            keys=count * key,
        )

    def worker(self, parameters: Parameters, keys: KeyRequest) -> PartyBytes | None:
        """The peak of a worker, which is both parties in one process, as that of a server; without operands."""
        if keys.bootstrapping is not None:
            return None
        key, count = self.key_bytes(parameters), _count(keys)
        kept = count * key * (2 if self.owner_keeps_keys else 1)
        transit = _IN_TRANSIT * key if count else 0
        return PartyBytes(0, _PROCESS + self.context_bytes(parameters) + kept + transit, kept)


def _count(keys: KeyRequest) -> int:
    evaluation = (keys.relinearization is not None) + (keys.switching is not None)
    return len(keys.steps) + len(keys.elements) + evaluation


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
