"""The state of hosts during measurements, from the combined facts of a run's trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from ciphermark_analysis.samples import Trial

_IS_SHORT = ("is_short_of_samples", "is_short_of_undisturbed")


@dataclass(frozen=True, slots=True)
class HostState:
    """A row of the table ``host_state``: over the trials of a run that ended ``ok`` and timed something.

    Shares and times are ``None`` where no trial reports them. ``reference_kernel_gains`` are the distinct powers of the
    reference kernel's slowdown by which trials corrected times, in ascending order; 0 means no correction.
    """

    timed_trials: int
    watched_trials: int
    timed_samples: int
    undisturbed_share: float | None
    short_trials: int
    disturbed_phases: int
    reference_kernel_s: float | None
    reference_kernel_spread: float | None
    reference_kernel_cost: float | None
    run_delay_share: float | None
    steal_share: float | None
    slowdown: float | None
    reference_kernel_gains: list[float] | None
    method: int


def host_state(trials: Sequence[Trial], method: int) -> HostState:
    """The state of the host during trials that ended ``ok`` and timed something; at least one."""
    watched = [trial for trial in trials if "reference_kernel_s" in trial.facts]
    slowed = [trial for trial in trials if trial.facts.get("slowdown") is not None]
    known = [(trial.facts["slowdown"] or 0.0, trial.facts.get("timed_samples") or 0.0) for trial in slowed]
    weights = [(factor, weight) for factor, weight in known if factor > 0 and weight > 0]
    weighted = sum(log(factor) * weight for factor, weight in weights)
    reference_kernels = _values(trials, "reference_kernel_s")
    spreads = _values(trials, "reference_kernel_spread")
    mean = _by(weighted if slowed else None, sum(weight for _, weight in weights))
    timed = _total(trials, "timed_samples")
    return HostState(
        timed_trials=len(trials),
        watched_trials=len(watched),
        timed_samples=round(timed or 0),
        undisturbed_share=_by(_total(trials, "undisturbed_samples"), timed),
        short_trials=sum(any(name in trial.facts for name in _IS_SHORT) for trial in trials),
        disturbed_phases=round(_total(trials, "disturbed_phases") or 0),
        reference_kernel_s=median(reference_kernels) if reference_kernels else None,
        reference_kernel_spread=max(spreads, default=None),
        reference_kernel_cost=_by(_total(trials, "reference_kernel_cost_s"), _total(watched, "sampling_s")),
        run_delay_share=_by(_total(trials, "run_delay_s"), _duration(trials, "run_delay_s")),
        steal_share=_by(_total(trials, "steal_s"), _duration(trials, "steal_s")),
        slowdown=None if mean is None else exp(mean),
        reference_kernel_gains=_gains(watched),
        method=method,
    )


def _gains(watched: Sequence[Trial]) -> list[float] | None:
    """The gains of trials: 1 for those older than the fact ``reference_kernel_gain``, 0 for those without correction.

    A trial with only disturbed samples reports no slowdown either; it is known by its lack of undisturbed samples.
    """
    gains = set()
    for trial in watched:
        has_undisturbed = (trial.facts.get("undisturbed_samples") or 0) > 0
        gain = trial.facts.get("reference_kernel_gain")
        if gain is not None:
            gains.add(gain)
        elif "slowdown" in trial.facts:
            gains.add(1.0)
        elif has_undisturbed:
            gains.add(0.0)
    return [*sorted(gains)] or None


def _values(trials: Sequence[Trial], fact: str) -> list[float]:
    return [value for trial in trials if (value := trial.facts.get(fact)) is not None]


def _total(trials: Sequence[Trial], fact: str) -> float | None:
    values = _values(trials, fact)
    return sum(values) if values else None


def _duration(trials: Sequence[Trial], fact: str) -> float:
    return sum(trial.duration_s for trial in trials if fact in trial.facts)


def _by(value: float | None, whole: float | None) -> float | None:
    return value / whole if value is not None and whole else None
