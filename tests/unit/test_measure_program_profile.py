"""Probes around a workload's program: its stage has their values, and its stacks begin with operations."""

from __future__ import annotations

import pytest

from ciphermark_adapters import registry
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, Trial
from ciphermark_measure.probes.stacks import Stacks, stacks_of
from ciphermark_measure.program_profile import Marked, found
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import recommended

WORKLOAD = WORKLOADS["lmc-plain"]
SPEC = recommended(WORKLOAD, "bfv", registry.declaration("cleartext"))
REASON = Stacks().available()


def trial(*probes: str, data_set: str = "boston") -> Trial:
    case = Case(
        "cleartext",
        WORKLOAD.family,
        WORKLOAD.name,
        SPEC,
        SPEC.slots,
        "real",
        dimensions={"data_set": data_set},
    )
    return Trial("id", "run", case, 0, 7, Budget(probes=probes))


def _find(name: str):
    if name not in DATA_SETS:
        raise UserError(f"there is no data set {name}")
    return DATA_SETS[name]()


def test_the_program_of_the_last_stage_has_the_values() -> None:
    profile = found(trial("allocations"), WORKLOADS, _find)
    stage = WORKLOAD.stages[-1].name
    assert {sample.phase for sample in profile.samples} == {stage}
    assert {"minor_faults", "task_clock", "allocations_overhead"} <= {s.metric for s in profile.samples}
    assert (profile.unmeasured, profile.stacks) == ({}, {})


@pytest.mark.skipif(REASON is not None, reason=REASON or "")
def test_stacks_begin_with_operations_of_the_program() -> None:
    profile = found(trial("stacks"), WORKLOADS, _find)
    ((_, text),) = profile.stacks.items()
    roots = {frames[0] for frames, _ in stacks_of(text)}
    assert roots & {"mul_plain", "rotate", "add"}


def test_an_unknown_data_set_is_refused() -> None:
    with pytest.raises(UserError, match="there is no data set nowhere"):
        found(trial("allocations", data_set="nowhere"), WORKLOADS, _find)


def test_a_marked_operator_is_the_operator() -> None:
    class Operator:
        level = 3

        def apply(self, operation: str, *operands: int) -> tuple[str, int]:
            return operation, sum(operands)

    operator = Marked(Operator())
    assert operator.apply("add", 1, 2) == ("add", 3)
    assert operator.level == 3
