"""SEAL with extra executions of one operation, a share of those requested.

The extra work is the library's, on the same operands, so that interference slows it as much as the operation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from ciphermark_adapters.seal.adapter import SealAdapter, SealEvaluator
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, Row

PERCENT_VARIABLE = "CIPHERMARK_BENCH_PLANTED"


class SlowedBound(Bound):
    """Takes ``share`` longer than another bound, rounded to whole executions, of which samples have dozens."""

    def __init__(self, bound: Bound, share: float) -> None:
        self._bound = bound
        self._share = share

    def run(self, loops: int) -> int:
        return self._bound.run(loops + round(self._share * loops))

    def results(self) -> list[Handle]:
        return self._bound.results()


class SlowedEvaluator(SealEvaluator):
    """Slows operations by the shares of :attr:`slowed`."""

    slowed: Mapping[str, float] = {}

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        bound = super().bound(operation, rows)
        return SlowedBound(bound, self.slowed[operation]) if operation in self.slowed else bound


class Base(SealAdapter):
    """SEAL's adapter with that evaluator, without a planted slowdown."""

    slowed: Mapping[str, float] = {"mul_plain": 0.0}

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        evaluator = SlowedEvaluator(self._module, self._declared, public_material)
        evaluator.slowed = self.slowed
        return evaluator


class Head(Base):
    """The same, with the slowdown that the environment states."""

    slowed: Mapping[str, float] = {"mul_plain": float(os.environ.get(PERCENT_VARIABLE, "0")) / 100}
