"""Adapters with one planted fault each: subclasses of ``cleartext``, which itself passes every check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ciphermark_adapters.cleartext.adapter import (
    CleartextAdapter,
    CleartextEvaluator,
    CleartextKeyOwner,
    Slots,
)
from ciphermark_adapters.cleartext.declaration import DECLARATIONS as CLEARTEXT
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Bound, PythonBound, Row, Unsupported
from ciphermark_contract.operations import OPERATIONS, Operation
from ciphermark_core import wire
from ciphermark_core.model import Parameters, Scheme

from . import harness
from .harness import Subject


class PlantedAdapter(CleartextAdapter):
    def __init__(self, declared: Declaration, owner: type, evaluator: type) -> None:
        super().__init__(declared)
        self._owner, self._evaluator = owner, evaluator

    def key_owner(self, parameters: Parameters, keys: Any) -> Any:
        return self._owner(parameters)

    def evaluator(self, public_material: Iterable[bytes]) -> Any:
        line = next(iter(public_material))
        return self._evaluator(wire.from_line(line, Parameters), self._declared)


def planted(
    evaluator: type = CleartextEvaluator,
    owner: type = CleartextKeyOwner,
    scheme: Scheme = "bfv",
    **declared: Any,
) -> Subject:
    """A subject with a fault in the evaluator, the owner or the declaration."""
    declaration = replace(CLEARTEXT[0], **declared)
    return harness.subject_of(
        declaration, PlantedAdapter(declaration, owner, evaluator), harness.SPECS[scheme]
    )


def changed(slots: Slots) -> Slots:
    """One slot of the last is off by one."""
    values = slots.values.copy()
    values[-1] += 1
    return replace(slots, values=values)


# -- operations -----------------------------------------------------------------------------------------------


class OneSlotWrong(CleartextEvaluator):
    def _applied(self, operation: Operation, *operands: Any) -> Slots:
        return changed(super()._applied(operation, *operands))


class WrongWhenBound(CleartextEvaluator):
    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        return PythonBound(lambda *row: changed(self.apply(operation, *row)), rows)


class FirstRowForAll(CleartextEvaluator):
    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        return super().bind(operation, [rows[0]] * len(rows))


class FirstRowOnly(CleartextEvaluator):
    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        return super().bind(operation, rows[:1])


class CachedResult(CleartextEvaluator):
    """Operands vary between samples so that this shows."""

    _cache: dict[str, Slots]

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        cache = self.__dict__.setdefault("_cache", {})
        return PythonBound(
            lambda *row: cache.setdefault(f"{operation} {len(rows)}", self.apply(operation, *row)), rows
        )


class OperandChanged(CleartextEvaluator):
    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        result = super()._applied(operation, a, *others)
        a.values.setflags(write=True)
        a.values[:] = result.values
        return result

    def load(self, data: bytes) -> Slots:
        slots = super().load(data)
        return replace(slots, values=slots.values.copy())


class OperandAtAnotherLevel(CleartextEvaluator):
    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        result = super()._applied(operation, a, *others)
        object.__setattr__(a, "level", 0)
        return result


class RefusesWhatItDeclares(CleartextEvaluator):
    def apply(self, operation: str, *operands: Any) -> Slots:
        raise Unsupported("not today")


class MissesWhatItDeclares(CleartextEvaluator):
    @property
    def operations(self) -> Any:
        return {name: function for name, function in self._table.items() if name != "negate"}


class MoreThanDeclared(CleartextEvaluator):
    """Offers ``negate``, whatever the declaration says."""

    @property
    def operations(self) -> Any:
        return self._table | {"negate": lambda a: self._applied(OPERATIONS["negate"], a)}


class MoreThanItLists(CleartextEvaluator):
    def apply(self, operation: str, *operands: Any) -> Slots:
        return self._applied(OPERATIONS[operation], *operands)


class MoreWhenBound(CleartextEvaluator):
    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        return PythonBound(lambda *row: self._applied(OPERATIONS[operation], *row), rows)


class NoReason(CleartextEvaluator):
    def reason_against(self, operation: str) -> str:
        return ""


class CrashesWhereUnsupported(CleartextEvaluator):
    def apply(self, operation: str, *operands: Any) -> Slots:
        raise KeyError(operation)


# -- values ---------------------------------------------------------------------------------------------------


class NotReduced(CleartextEvaluator):
    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        return replace(a, values=a.values + others[0].values)


class RepeatsShortVectors(CleartextKeyOwner):
    """As TenSEAL does by itself."""

    def encrypt(self, values: Any) -> Slots:
        return super().encrypt(np.resize(values, self.parameters.slots))


class FewerSlots(CleartextKeyOwner):
    def decrypt(self, ciphertext: Slots) -> Any:
        return ciphertext.values[:-1]


class Floats(CleartextKeyOwner):
    def decrypt(self, ciphertext: Slots) -> Any:
        return ciphertext.values.astype(np.float64)


class Imprecise(CleartextKeyOwner):
    def decrypt(self, ciphertext: Slots) -> Any:
        return ciphertext.values + 0.01


# -- levels, scales, polynomials ------------------------------------------------------------------------------


class TwoPolynomials(CleartextEvaluator):
    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        return replace(super()._applied(operation, a, *others), polynomials=2)


class NoRelinearization(CleartextEvaluator):
    def _applied(self, operation: Operation, *operands: Any) -> Slots:
        made = super()._applied(operation, *operands)
        return replace(made, polynomials=3) if operation.name == "relinearize" else made


class NominalScale(CleartextEvaluator):
    """Divides by a power of two near the prime, as if primes were powers of two."""

    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        made = super()._applied(operation, a, *others)
        return replace(made, scale=(a.scale or 0) / 2.0**30) if operation.name == "rescale" else made


class LosesALevel(CleartextEvaluator):
    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        return replace(super()._applied(operation, a, *others), level=a.level - 1)


class NeverExhausted(CleartextEvaluator):
    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        return replace(a, level=max(0, a.level - 1))


class FailsWhenExhausted(CleartextEvaluator):
    def _applied(self, operation: Operation, a: Slots, *others: Any) -> Slots:
        return replace(a, level=a.level - 1 // a.level)


# -- noise ----------------------------------------------------------------------------------------------------


def noisy(first: int, step: int, least: int) -> type[CleartextKeyOwner]:
    """An owner whose budget starts at ``first`` and falls by ``step`` with every look, down to ``least``."""

    class Noisy(CleartextKeyOwner):
        _budget = first + step

        def noise_budget_bits(self, ciphertext: Slots) -> int | None:
            self._budget = max(least, self._budget - step)
            return self._budget

    return Noisy


# -- serialization and secrecy --------------------------------------------------------------------------------


class AnyCompression(CleartextKeyOwner):
    def dump(self, ciphertext: Slots, compression: str) -> bytes:
        return super().dump(ciphertext, "none")


class AnyKeyCompression(CleartextKeyOwner):
    def dump_key(self, item: str, compression: str) -> bytes:
        return super().dump_key(item, "none")


class ScaleLost(CleartextEvaluator):
    def dump(self, ciphertext: Slots, compression: str) -> bytes:
        return super().dump(replace(ciphertext, scale=1.0), compression)


class OnePlaintext(CleartextEvaluator):
    def dump_plaintext(self, plaintext: Slots, compression: str) -> bytes:
        return b"plaintext"


class ShowsEveryKey(CleartextKeyOwner):
    def dump_key(self, item: str, compression: str) -> bytes:
        return b"the key, the whole key and nothing but the key"


class WithSecret(CleartextKeyOwner):
    """Has a secret key to keep, and keeps it."""

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self._secret = np.random.default_rng().bytes(4096)

    def dump_key(self, item: str, compression: str) -> bytes:
        return b"header" + self._secret if item == "secret_key" else super().dump_key(item, compression)


class LeaksSecret(WithSecret):
    def public_material(self) -> Iterator[bytes]:
        yield from super().public_material()
        yield b"somewhere " + self._secret[:1000]


class Decrypts(CleartextEvaluator):
    def decrypt(self, ciphertext: Slots) -> Any:
        return ciphertext.values


class DecryptsAsOperation(CleartextEvaluator):
    @property
    def operations(self) -> Any:
        return self._table | {"decrypt": lambda a: a.values}


# -- time -----------------------------------------------------------------------------------------------------


class Told(Bound):
    """Runs a real bound, and tells another time."""

    def __init__(self, inner: Bound, loops: Any, told: Any) -> None:
        self._inner, self._loops, self._told = inner, loops, told

    def run(self, loops: int) -> int:
        return self._told(self._inner.run(self._loops(loops)))

    def results(self) -> list[Any]:
        return self._inner.results()
