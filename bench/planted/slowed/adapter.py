"""SEAL with extra executions of one operation, a share of those asked for: real work of the library, on the same
operands, so that whatever slows the operation slows the extra work as much.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ciphermark_adapters.seal.adapter import SealAdapter, SealEvaluator
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, Row

OPERATION = "mul_plain"
PERCENT_VARIABLE = "CIPHERMARK_BENCH_PLANTED"  # of the head


class SlowedBound(Bound):
    """Takes ``share`` longer than another, as far as whole executions can: samples have dozens of them."""

    def __init__(self, bound: Bound, share: float) -> None:
        self._bound = bound
        self._share = share

    def run(self, loops: int) -> int:
        return self._bound.run(loops + round(self._share * loops))

    def results(self) -> list[Handle]:
        return self._bound.results()


class SlowedEvaluator(SealEvaluator):
    """Slows :data:`OPERATION` in the head."""

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        bound = super().bound(operation, rows)
        if operation != OPERATION:
            return bound
        is_head = self._declared.variant == "planted-head"
        share = float(os.environ.get(PERCENT_VARIABLE, "0")) / 100 if is_head else 0.0
        return SlowedBound(bound, share)


class Slowed(SealAdapter):
    """SEAL's adapter with that evaluator."""

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return SlowedEvaluator(self._module, self._declared, public_material)
