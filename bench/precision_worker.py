"""Executes small workloads of a variant, and prints a line of JSON for each: measured and predicted bits."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from ciphermark_adapters import registry
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Exhausted, Unsupported
from ciphermark_core.model import EXACT_SCHEMES, Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_measure.precision import predicted
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import NOTHING, Override, recommended

_SMALL_RINGS = (1024, 4096)
# Networks take the ring that they are made for, which is ``None``.
_RINGS: Mapping[str, tuple[int | None, ...]] = dict.fromkeys(
    ("digits", "digits-encrypted", "digits-one", "cifar-chebyshev"), (None,)
)
_SEEDS = (1, 2)
_NEAR_BITS = 2.0
# Options that make workloads small.
_SMALL: Mapping[str, Mapping[str, Value]] = {
    "digits": {},
    "digits-encrypted": {},
    "digits-one": {},
    "matrix-product": {"side": 8},
    "matrix-product-packed": {"side": 8},
    "matrix-product-published": {"side": 8},
    "logistic": {"values": 500},
    "logistic-published": {"values": 500},
    "sign": {"values": 500},
    "sign-published": {"values": 500},
    "chi-square": {"people": 12, "markers": 500},
    "chi-square-published": {"people": 12, "markers": 500},
    "lmc-plain": {},
    "lmc-encrypted": {},
    "lmc-per-row-plain": {},
    "lmc-per-row-encrypted": {},
    "lr-k3-plain": {},
    "lr-k3-encrypted": {},
    "lr-k5-plain": {},
    "lr-k5-encrypted": {},
    "lr-fixed-encrypted": {},
    "cifar-chebyshev": {},
    "cryptonets-digits": {"images_at_once": 512},
    "fast-pir": {"elements": 700, "element_bytes": 33},
    "mul-pir": {"elements": 667, "element_bytes": 33},
    "seal-pir": {"elements": 810, "element_bytes": 33},
    "keyword-pir": {"records": 500, "value_bytes": 33},
    "batch-pir": {"elements": 700, "element_bytes": 129, "wanted": 16},
    "constant-weight-pir": {"records": 100, "value_bytes": 33, "keyword_bits": 8},
    "constant-weight-pir-published": {"records": 40, "value_bytes": 33, "keyword_bits": 6},
}


def _results(variant: str) -> Iterator[dict[str, Any]]:
    declared = registry.declaration(variant)
    for name, options in _SMALL.items():
        workload = WORKLOADS[name].with_options(options)
        for scheme in workload.schemes:
            if declared.noise is None or scheme not in {*declared.noise.schemes} & {*declared.schemes}:
                continue
            if any(not declared.has(item, scheme) for item in workload.operations(scheme)):
                continue
            for ring in _RINGS.get(name, _SMALL_RINGS):
                try:
                    yield from _of_ring(workload, variant, scheme, ring)
                except (Unsupported, Exhausted) as reason:
                    print(f"{variant} {scheme} {name} {ring}: {reason}", file=sys.stderr)


def _of_ring(
    workload: AnyWorkload, variant: str, scheme: Scheme, ring: int | None
) -> Iterator[dict[str, Any]]:
    given = workload.input(1, _data(workload))
    override = NOTHING if ring is None or variant == "tenseal" else Override(ring_dimension=ring, security=0)
    adapter, declared = registry.load(variant), registry.declaration(variant)
    both = InProcess(workload, adapter, recommended(workload, scheme, declared, override), given)
    found = predicted(workload, both.programs, given, both.parameters, declared)
    outputs = both.executed(given)[workload.stages[-1].name].outputs
    facts = {"name": f"{variant} {scheme} {workload.name} N = {both.parameters.ring_dimension}"}
    if scheme in EXACT_SCHEMES:
        assert found.budget_bits is not None
        handles = [both.owner.load(both.evaluator.dump(item, declared.compressions[0])) for item in outputs]
        opened = workload.opened(both.owner, handles)
        budgets = [budget for item in opened if (budget := both.owner.noise_budget_bits(item)) is not None]
        if budgets:
            yield facts | _compared(float(min(budgets)), found.budget_bits, "budget")
        return
    assert found.error is not None
    judgement = both.judged(both.output(outputs, given), given)
    measured = judgement.accuracy.max_abs_error
    bits = type(found.error)(
        *(-math.log2(item) for item in (found.error.value, found.error.high, found.error.low))
    )
    yield facts | _compared(-math.log2(measured), bits, "error")


def _compared(measured: float, bits: Any, kind: str) -> dict[str, Any]:
    is_covered = bits.low <= measured <= bits.high
    note = f"{kind}: {measured:.1f} measured, {bits.value:.1f} [{bits.low:.1f}, {bits.high:.1f}] predicted"
    return {"measured_bits": measured, "predicted_bits": bits.value, "is_covered": is_covered, "note": note}


def _data(workload: AnyWorkload) -> Any:
    return DATA_SETS["boston"]() if workload.takes_data else None


if __name__ == "__main__":
    for line in _results(sys.argv[1]):
        print(json.dumps(line), flush=True)
