"""Probes of a workload's program, in a process of its own after the trial: no pass has a probe beside it."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ciphermark_adapters import registry
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_core.containment import Limits
from ciphermark_core.model import Outcome
from ciphermark_measure import protocol
from ciphermark_measure.processes import executed

_MODULE = "ciphermark_measure.program_profile"


def with_profile(outcome: Outcome, needs: WorkerNeeds, data_directory: DataDirectory | None) -> Outcome:
    """The outcome with the values of the probes that its suite asks for, or the reasons."""
    return profiled(outcome, _found(outcome, needs, data_directory))


def profiled(outcome: Outcome, profile: protocol.Profiled) -> Outcome:
    """The outcome with a profile."""
    return replace(
        outcome,
        samples=(*outcome.samples, *profile.samples),
        unmeasured=profile.unmeasured,
        stacks=profile.stacks,
    )


def _found(outcome: Outcome, needs: WorkerNeeds, data_directory: DataDirectory | None) -> protocol.Profiled:
    trial, limits = outcome.trial, needs.confinement
    command = [registry.interpreter(trial.case.variant), "-m", _MODULE]
    command += ["--trial", msgspec.json.encode(trial).decode(), "--memory-mb", str(limits.memory_mb)]
    command += ["--cpus", ",".join(map(str, limits.cpus))]
    if data_directory is not None:
        command += ["--workloads", str(data_directory.workloads), "--files", str(data_directory.files)]
        command += ["--data-sets", str(data_directory.data_sets)]
    try:
        ended = executed(command, Limits(needs.timeout_s, limits.memory_mb))
        return msgspec.json.decode(ended.output, type=protocol.Profiled)
    except (TimeoutError, MemoryError) as error:
        reason = str(error)
    except msgspec.MsgspecError:
        lines = ended.errors.strip().splitlines()
        reason = f"the process ended with exit code {ended.code}: {lines[-1] if lines else 'no output'}"
    return protocol.Profiled(unmeasured=dict.fromkeys(trial.budget.probes, reason))
