"""bfv modulo a product of primes, in any library: residue by residue, each with separate keys and ciphertexts.

A plaintext modulus T = t₁·…·t_k of different primes has the slots of each of them, by the Chinese remainder theorem.
The library is unaware of it: it computes k times, and the results are combined. All handles consist of k handles, all
bytes of k objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import takewhile
from operator import or_
from time import perf_counter_ns
from typing import Any

import msgspec
import numpy as np

from ciphermark_contract.bound import Collections, collections_of
from ciphermark_contract.interfaces import (
    Adapter,
    Bound,
    Evaluator,
    Handle,
    KeyOwner,
    KeyRequest,
    Prepared,
    Unsupported,
    Vector,
)
from ciphermark_contract.program import Program
from ciphermark_core import wire
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec

# Separates the parts of one residue's public material from the next one's: no library writes such a part.
_END = b"end of a residue"


class _Several(tuple[Handle, ...]):
    """One handle per residue."""


class ResidueAdapter(Adapter):
    """Wraps another adapter, which computes each residue of a plaintext modulus with several.

    Residues are sequential where its programs have no threads (``is_sequential``).
    """

    def __init__(self, adapter: Adapter, *, is_sequential: bool) -> None:
        self._adapter = adapter
        self._is_sequential = is_sequential

    def info(self) -> LibraryInfo:
        return self._adapter.info()

    def resolve(self, spec: ParameterSpec) -> Parameters:
        moduli = spec.plain_residues
        if not moduli:
            return self._adapter.resolve(spec)
        first, *others = (self._adapter.resolve(replace(spec, plain_modulus=prime)) for prime in moduli)
        if any(other.moduli != first.moduli for other in others):
            raise Unsupported("the residues of this plaintext modulus have no modulus chain in common")
        return replace(first, spec=spec, plain_modulus=spec.plain_modulus)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        each = _each(parameters)
        if not each:
            return self._adapter.key_owner(parameters, keys)
        return _KeyOwner(parameters, [self._adapter.key_owner(one, keys) for one in each])

    def restored_owner(self, parameters: Parameters, keys: KeyRequest, secret: bytes) -> KeyOwner:
        if _each(parameters):
            return super().restored_owner(parameters, keys, secret)
        return self._adapter.restored_owner(parameters, keys, secret)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        parts = iter(public_material)
        first = next(parts, b"")
        parameters = _parameters_in(first)
        if parameters is None:
            return self._adapter.evaluator(_chained(first, parts))
        evaluators = []
        for _ in _each(parameters):
            own = takewhile(_END.__ne__, parts)
            evaluators.append(self._adapter.evaluator(own))
            for _ in own:  # parts that the library did not read
                pass
        return _Evaluator(parameters, evaluators, is_sequential=self._is_sequential)

    def collections(self) -> Collections:
        return self._adapter.collections()


def _chained(first: bytes, parts: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from parts


def _each(parameters: Parameters) -> list[Parameters]:
    return [
        replace(parameters, spec=replace(parameters.spec, plain_modulus=prime), plain_modulus=prime)
        for prime in parameters.spec.plain_residues
    ]


def _parameters_in(part: bytes) -> Parameters | None:
    try:
        return wire.from_line(part, _Header).residues
    except ValueError:  # the library's own part
        return None


@dataclass(frozen=True, slots=True)
class _Header:
    residues: Parameters


def _packed(several: Iterable[bytes]) -> bytes:
    return msgspec.msgpack.encode([*several])


def _unpacked(data: bytes, count: int) -> list[bytes]:
    """Split packed bytes; raises ``ValueError`` for other bytes."""
    parts = msgspec.msgpack.decode(data, type=list[bytes])
    if len(parts) != count:
        raise ValueError(f"these bytes are of {len(parts)} residues, and there are {count}")
    return parts


class _Side:
    """Common base of owner and evaluator: ``_sides`` are those of the residues."""

    def __init__(self, parameters: Parameters, sides: Sequence[Any]) -> None:
        self.parameters = parameters
        self._sides = sides
        self._primes = parameters.spec.plain_residues

    def load(self, data: bytes) -> Handle:
        parts = _unpacked(data, len(self._sides))
        return _Several(side.load(part) for side, part in zip(self._sides, parts, strict=True))

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        return _packed(side.dump(item, compression) for side, item in self._with(ciphertext))

    def _with(self, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Pairs of a side and its item."""
        return zip(self._sides, items, strict=True)


class _KeyOwner(_Side, KeyOwner):
    def encrypt(self, values: Vector) -> Handle:
        return _Several(owner.encrypt(values % prime) for owner, prime in self._with(self._primes))

    def decrypt(self, ciphertext: Handle) -> Vector:
        return together([owner.decrypt(item) for owner, item in self._with(ciphertext)], self._primes)

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """The minimum over the residues."""
        budgets = [owner.noise_budget_bits(item) for owner, item in self._with(ciphertext)]
        return None if None in budgets else min(budgets)

    def public_material(self) -> Iterator[bytes]:
        yield wire.to_line(_Header(self.parameters))
        for owner in self._sides:
            yield from owner.public_material()
            yield _END

    def dump_seeded(self, item: str, values: Vector, compression: str) -> bytes:
        return _packed(
            owner.dump_seeded(item, values % prime, compression) for owner, prime in self._with(self._primes)
        )

    def dump_key(self, item: str, compression: str) -> bytes:
        return _packed(owner.dump_key(item, compression) for owner in self._sides)


class _Evaluator(_Side, Evaluator):
    def __init__(
        self, parameters: Parameters, evaluators: Sequence[Evaluator], *, is_sequential: bool
    ) -> None:
        super().__init__(parameters, evaluators)
        self._is_sequential = is_sequential
        self._table = {name: partial(self._applied, name) for name in evaluators[0].operations}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        return self._table

    def reason_against(self, operation: str) -> str:
        return str(self._sides[0].reason_against(operation))

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        return _Several(
            evaluator.encode(values % prime, None if like is None else like[number], scale, level)
            for number, (evaluator, prime) in enumerate(self._with(self._primes))
        )

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        return _packed(side.dump_plaintext(item, compression) for side, item in self._with(plaintext))

    def level(self, ciphertext: Handle) -> int:
        return int(self._sides[0].level(ciphertext[0]))

    def scale(self, ciphertext: Handle) -> float | None:
        return None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(self._sides[0].polynomials(ciphertext[0]))

    def prepare_constants(
        self, program: Program, constants: Mapping[str, Vector], threads: int = 1
    ) -> Prepared:
        programs = []
        for evaluator, prime in self._with(self._primes):
            own = replace(program, parameters=evaluator.parameters)
            vectors = {digest: values % prime for digest, values in constants.items()}
            programs.append((own, evaluator.prepare_constants(own, vectors, threads)))
        return programs

    def bind_program(
        self, program: Program, inputs: Sequence[Handle], prepared: Prepared, threads: int = 1
    ) -> Bound:
        """See the contract: residues are independent; threads take whole ones, and extra threads share a residue."""
        each = threads if self._is_sequential else max(1, threads // len(self._sides))
        bounds = [
            evaluator.bind_program(own, [item[number] for item in inputs], constants, each)
            for number, (evaluator, (own, constants)) in enumerate(self._with(prepared))
        ]
        return _Bound(bounds, 1 if self._is_sequential else min(threads, len(bounds)))

    def _applied(self, operation: str, *operands: Any) -> Handle:
        results = [
            evaluator.apply(operation, *(_of_residue(operand, number, prime) for operand in operands))
            for number, (evaluator, prime) in enumerate(self._with(self._primes))
        ]
        if isinstance(results[0], list):
            return [_Several(items) for items in zip(*results, strict=True)]
        return _Several(results)


def _of_residue(operand: Any, number: int, prime: int) -> Any:
    if isinstance(operand, _Several):
        return operand[number]
    return operand % prime if isinstance(operand, np.ndarray) else operand


class _Bound(Bound):
    """The loops of all residues, on ``threads`` threads, which exist only while it runs."""

    def __init__(self, bounds: Sequence[Bound], threads: int) -> None:
        self._bounds = bounds
        self._threads = threads

    def run(self, loops: int) -> int:
        elapsed = self._run(loops)
        self.collections = reduce(or_, map(collections_of, self._bounds))
        return elapsed

    def _run(self, loops: int) -> int:
        if self._threads == 1:
            return sum(bound.run(loops) for bound in self._bounds)
        with ThreadPoolExecutor(self._threads) as pool:
            start = perf_counter_ns()
            for done in [pool.submit(bound.run, loops) for bound in self._bounds]:
                done.result()
            return perf_counter_ns() - start

    def results(self) -> list[Handle]:
        return [_Several(items) for items in zip(*(bound.results() for bound in self._bounds), strict=True)]


def together(residues: Sequence[Vector], moduli: Sequence[int]) -> Vector:
    """The numbers in [0, Πm) with these residues modulo pairwise coprime m below 2^31, whose product is below 2^62.

    Computed digit by digit in mixed radix (Garner, "The residue number system", 1959).
    """
    total, product = residues[0].astype(np.int64), moduli[0]
    for values, modulus in zip(residues[1:], moduli[1:], strict=True):
        digit = (values - total % modulus) % modulus * pow(product, -1, modulus) % modulus
        total, product = total + product * digit, product * modulus
    return total
