"""Examines a workload: its declarations, its programs, and its result with one library.

``python -m ciphermark_measure.parties.examination FILE[:CLASS] --variant seal --scheme ckks --deadline 60`` examines
one with one library in a separate process, and prints the outcome as a line of JSON. At the deadline an examination
ends, and its current place is printed on standard error.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter, Exhausted, Unsupported
from ciphermark_core import containment
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import SCHEMES, Parameters, ParameterSpec, Scheme
from ciphermark_measure import confinement
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import Override, changed, recommended
from ciphermark_workloads.programs import all_traced, keys_of

SEED = 1
TINY = Override(ring_dimension=2048, security=0)


class Found(msgspec.Struct, frozen=True):
    """The outcome for a workload with a library: ``correct``; ``incorrect``, where the workload has to be fixed; or
    ``unsupported``, where the library lacks something that the workload needs.
    """

    verdict: Literal["correct", "incorrect", "unsupported"]
    text: str


def examined(workload: AnyWorkload, variant: str, scheme: Scheme) -> Found:
    """Execute a workload with a library: in a small ring, and with its own parameters where that result is incorrect.

    A workload that needs more slots than the small ring has may raise anything, or compute something else. Only
    failures with its own parameters are its fault; errors of its methods there pass through.
    """
    declared = registry.declaration(variant)
    if scheme not in declared.schemes:
        return Found("unsupported", f"{declared.library} offers no {scheme} here")
    adapter = registry.load(variant)
    spec = recommended(workload, scheme, declared)
    given = workload.input(SEED, DATA_SETS["boston"]() if workload.takes_data else None)
    try:
        outcome = _executed(workload, adapter, changed(spec, TINY), given)
    except Exception:  # whatever the workload does
        outcome = None
    if outcome is not None and outcome.verdict == "correct":
        return outcome
    return _executed(workload, adapter, spec, given)


def _executed(workload: AnyWorkload, adapter: Adapter, spec: ParameterSpec, given: Any) -> Found:
    parameters = adapter.resolve(spec)
    fault = _fault(workload, parameters, registry.declaration(adapter.info().variant), given)
    if fault is not None:
        return Found("incorrect", fault)
    workload.require_room(given, parameters)
    both = InProcess(workload, adapter, spec, given)
    outputs = both.executed(given)[workload.stages[-1].name].outputs
    judgement = both.judged(both.output(outputs, given), given)
    if judgement.complaint is not None:
        return Found("incorrect", judgement.complaint)
    return Found("correct", _summary(both, judgement.accuracy.max_abs_error))


def _fault(workload: AnyWorkload, parameters: Parameters, declared: Declaration, given: Any) -> str | None:
    """The fault of programs or keys that can be found without a key, or ``None``."""
    programs = all_traced(workload, given, parameters, declared)
    again = all_traced(workload, given, parameters, declared)
    for stage, program in programs.items():
        if again[stage].program.digest != program.program.digest:
            return f"the program of stage {stage} is another one each time: a circuit may depend on its arguments alone"
    needed, request = keys_of(programs.values()), workload.keys(parameters)
    if request is not None and not request.has(needed):
        return f"keys: {request} were requested, but its programs need {needed}; leave the method out"
    return None


def _summary(both: InProcess, error: float) -> str:
    operations = sum(len(item.program.nodes) for item in both.programs.values())
    depth = sum(item.program.depth for item in both.programs.values())
    return f"N = {both.parameters.ring_dimension}; {operations} operations, depth {depth}; largest error {error:.2g}"


def found_in(path: str, variant: str, scheme: Scheme) -> Found:
    """As :func:`examined`, for a file; any fault of the workload is reported with its place there."""
    file = Path(path.partition(":")[0])
    try:
        workload = user_workloads.sound(path, Path()) if user_workloads.is_own(path) else _installed(path)
        return examined(workload, variant, scheme)
    except UserError as error:
        return Found("incorrect", str(error))
    except Unsupported as error:
        return _refused(error, file)
    except Exhausted as error:
        return Found("incorrect", user_workloads.explained(error, file))
    except Exception as error:  # whatever the workload does
        return Found("incorrect", user_workloads.explained(error, file))


def _refused(error: Unsupported, file: Path) -> Found:
    """The outcome of a refusal. A modulus chain that is too short, or an operation that no library has, is the
    workload's fault; any other is not.
    """
    is_fault = "does not fit its modulus chain" in str(error) or "there is no operation" in str(error)
    if not is_fault:
        return Found("unsupported", str(error))
    where = user_workloads.place(error.__cause__ or error, file) or user_workloads.place(error, file)
    return Found("incorrect", f"{where}: {error}" if where else str(error))


def _installed(name: str) -> AnyWorkload:
    from ciphermark_workloads.catalogue import WORKLOADS, named

    return named(WORKLOADS, name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Examine and print the outcome."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workload")
    parser.add_argument("--variant", required=True)
    parser.add_argument("--scheme", choices=SCHEMES, required=True)
    parser.add_argument("--deadline", type=float, default=60.0)
    parser.add_argument("--memory-mb", type=int, default=Budget().memory_mb)
    settings = parser.parse_args(arguments)
    containment.lead(confinement.WHERE)
    replies = confinement.own_output()
    confinement.confine(settings.memory_mb)
    faulthandler.dump_traceback_later(settings.deadline, exit=True, file=sys.stderr)
    outcome = found_in(settings.workload, settings.variant, settings.scheme)
    confinement.send(replies, _alone(outcome))


def _alone(outcome: Found) -> Found:
    """The outcome, checked for leftover processes: a correct workload leaves none. Any that exist are ended."""
    left_behind = containment.end_below(os.getpid())
    if left_behind and outcome.verdict == "correct":
        return Found("incorrect", f"it leaves processes running: {left_behind}, which were ended")
    return outcome


if __name__ == "__main__":
    main()
