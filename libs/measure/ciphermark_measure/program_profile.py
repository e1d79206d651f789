"""Probes around the program of a workload's last stage: both parties are in one process, and nothing is recorded there.

``python -m ciphermark_measure.program_profile --trial JSON …`` answers with a line of JSON, in a separate process. Call
stacks are those of its operations, executed one by one; all other probes measure the program as runs execute it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ciphermark_adapters import registry
from ciphermark_analysis.stopping import Rule
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, ProgramBound, encoded_constants
from ciphermark_core import containment
from ciphermark_core.descriptor import DATA_SET
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Trial
from ciphermark_measure import confinement, protocol
from ciphermark_measure.clock import MonotonicClock
from ciphermark_measure.layers import last_operands, whole
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_measure.parties.inputs import Finder, finder
from ciphermark_measure.probes.stacks import STACKS, marked
from ciphermark_measure.profiling import profiled, together
from ciphermark_measure.sampling import Phase, Target
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.options import of_case


class Marked:
    """An evaluator, or its managed operations, where the call of each operation is marked with its name."""

    def __init__(self, operator: Any) -> None:
        self._operator = operator
        self._calls: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operator, name)

    def managed(self) -> Marked:
        """The managed operations, marked."""
        return Marked(self._operator.managed())

    def apply(self, operation: str, *operands: Any) -> Handle:
        """As the evaluator's."""
        call = self._calls.get(operation)
        if call is None:
            call = self._calls[operation] = marked(operation, partial(self._operator.apply, operation))
        return call(*operands)


def found(trial: Trial, workloads: Mapping[str, AnyWorkload], find: Finder) -> protocol.Profiled:
    """The profile of the last stage of a trial's workload. Raises ``Unsupported`` and ``UserError`` like a run."""
    case, names = trial.case, trial.budget.probes
    workload = workloads[case.operation].with_options(of_case(case.dimensions))
    data_set = DATA_SET.of(case.dimensions)
    given = workload.input(trial.seed, find(data_set) if data_set else None)
    both = InProcess(workload, registry.load(case.variant), case.parameters, given)
    stage, operands = workload.stages[-1].name, last_operands(both, given)
    made = both.programs[stage].traced

    def phase(bound: Bound) -> Phase:
        return Phase(stage, [bound], Target(1, Rule(1)), MonotonicClock())

    profiles = []
    if others := [name for name in names if name != STACKS]:
        profiles.append(profiled([phase(whole(both, made, operands, case.threads))], others))
    if STACKS in names:
        evaluator: Evaluator = Marked(both.evaluator)  # type: ignore[assignment]
        constants = encoded_constants(both.evaluator, made.program, made.constants)
        bound = ProgramBound(evaluator, made.program, operands, constants)
        profiles.append(profiled([phase(bound)], [STACKS]))
    return together(profiles)


def main() -> None:
    """Measure and print the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--trial", type=partial(msgspec.json.decode, type=Trial), required=True)
    for name in ("workloads", "files", "data-sets"):
        parser.add_argument(f"--{name}", type=Path)
    confinement.add_options(parser)
    given = parser.parse_args()
    containment.lead(confinement.WHERE)
    replies = confinement.own_output()
    confinement.confine(given.memory_mb)
    confinement.pin(given.cpus)
    if given.files is not None:
        user_workloads.look_in(given.files)
    workloads = user_workloads.CatalogueWithCopies(WORKLOADS, given.workloads)
    try:
        profile = found(given.trial, workloads, finder(given.data_sets))
    except (Unsupported, UserError, MemoryError) as error:
        reason = str(error) or "the memory limit was reached"
        profile = protocol.Profiled(unmeasured=dict.fromkeys(given.trial.budget.probes, reason))
    confinement.send(replies, profile)


if __name__ == "__main__":
    main()
