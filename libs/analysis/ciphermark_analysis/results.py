"""Results of a group of trials: per place and number of repetitions, statistics of the samples that count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from ciphermark_analysis import METHOD, correction
from ciphermark_analysis.estimates import Estimates, Segments
from ciphermark_analysis.samples import NO_REPETITIONS, Booleans, Floats, Group, Integers, Place, Samples


@dataclass(frozen=True, slots=True)
class Result:
    """Statistics of the samples of one place and number of repetitions; a row of the table ``result``.

    Values are in the unit of the metric. Bounds are ``None`` where there are too few samples, or disturbed ones only.
    ``median``, ``ci_low``, ``ci_high``, ``mad`` (median absolute deviation, unscaled), ``min`` and ``max`` are of the
    ``n`` samples that count, corrected for host interference; names with ``uncorrected_`` are of all samples as
    measured, without warm-ups. ``undisturbed_share`` is ``None`` where the host was not observed. ``slowdown``
    (geometric mean) is also ``None`` for metrics other than time and without undisturbed samples.
    """

    group: int
    stage: str
    party: str | None
    step: str | None
    metric: str
    repetitions: int | None
    n: int
    median: float
    ci_low: float | None
    ci_high: float | None
    mad: float
    min: float
    max: float
    uncorrected_n: int
    uncorrected_median: float
    uncorrected_ci_low: float | None
    uncorrected_ci_high: float | None
    undisturbed_share: float | None
    slowdown: float | None
    method: int


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Facts of the trials of a group, combined into one row per group.

    ``reference_kernel_s`` is the median over the trials that executed the current reference kernel. ``steal_share`` is
    the stolen time divided by the duration of the trials that report it. ``memory_kernel_s`` is the median of the
    memory kernel's times over trials. Each is ``None`` without such trials.
    """

    group: int
    is_composite: bool
    is_watched: bool
    executed_ciphertexts: int | None
    reference_kernel_s: float | None
    reference_kernel_spread: float | None
    steal_share: float | None
    memory_kernel_s: float | None
    error: str | None


def results(groups: Sequence[Group]) -> list[Result]:
    """The results of groups, ordered by group, place and repetitions, without groups whose samples may not be shown.

    One call for many groups is far faster than one call per group.
    """
    counted = [group for group in groups if group.is_counted and not group.samples.is_warmup.all()]
    if not counted:
        return []
    columns = [_columns(number, group.samples) for number, group in enumerate(counted)]
    of_group, place, repetitions, value, slowdown, is_disturbed = (
        np.concatenate(parts) for parts in zip(*columns, strict=True)
    )
    most = max(len(group.samples.places) for group in counted)
    keys, segment = distinct(of_group * most + place, repetitions)
    members = [counted[code // most] for code, _ in keys]
    is_sequential = np.array([group.is_sequential for group in members])
    corrected, statistics = _statistics(value, slowdown, is_disturbed, segment, is_sequential)
    uncorrected, _ = _statistics(value, *correction.ignored(value), segment, is_sequential)
    shares = correction.undisturbed_shares(slowdown, is_disturbed, segment)
    slowdowns = correction.mean_slowdowns(slowdown, is_disturbed, segment)
    rows: Iterable[tuple[Any, ...]] = zip(
        members,
        keys,
        *_listed(corrected),
        *(values.tolist() for values in (statistics.deviations, statistics.least, statistics.largest)),
        *_listed(uncorrected),
        optional(shares),
        optional(slowdowns),
        strict=True,
    )
    return [
        _result(group, group.samples.places[code % most], number, values)
        for group, (code, number), *values in rows
    ]


def _columns(number: int, samples: Samples) -> tuple[npt.NDArray[Any], ...]:
    """Columns of samples except warm-ups: group, place, repetitions, value, slowdown, whether it is disturbed."""
    is_kept = ~samples.is_warmup
    columns = (samples.place, samples.repetitions, samples.value, samples.slowdown, samples.is_disturbed)
    own = [column[is_kept] for column in columns]
    return np.full(len(own[0]), number), *own


def _result(group: Group, place: Place, repetitions: int, values: Sequence[Any]) -> Result:
    *statistics, share, slowdown = values
    times = None if repetitions == NO_REPETITIONS else repetitions
    row: tuple[Any, ...] = (
        group.id,
        place.stage,
        place.party,
        place.step,
        place.metric,
        times,
        *statistics,
        share if group.is_watched else None,
        slowdown if group.is_watched and place.unit == "s" else None,
        METHOD,
    )
    return Result(*row)


def _statistics(
    value: Floats, slowdown: Floats, is_disturbed: Booleans, segment: Integers, is_sequential: Booleans
) -> tuple[Estimates, Segments]:
    """The estimates of each segment, and the underlying values."""
    counted = Segments.of(*correction.corrected(value, slowdown, is_disturbed, segment))
    slowdowns = correction.mean_slowdowns(slowdown, is_disturbed, segment)
    estimates = correction.widened(counted.estimates(is_sequential), correction.widening(slowdowns))
    return correction.without_intervals(estimates, correction.are_lost(is_disturbed, segment)), counted


def facts(group: Group) -> GroupFacts:
    """The combined facts of the trials."""
    trials = group.trials
    reference_kernels = _known(
        trial.facts.get("reference_kernel_s") for trial in trials if "reference_kernel_version" in trial.facts
    )
    steals = [trial for trial in trials if "steal_s" in trial.facts]
    duration_s = sum(trial.duration_s for trial in steals)
    executed = _known(trial.facts.get("executed_ciphertexts") for trial in trials)
    memory = _known(trial.facts.get("memory_kernel_s") for trial in trials)
    return GroupFacts(
        group=group.id,
        is_composite=group.is_composite,
        is_watched=group.is_watched,
        executed_ciphertexts=int(min(executed)) if executed else None,
        reference_kernel_s=median(reference_kernels) if reference_kernels else None,
        reference_kernel_spread=max(
            _known(trial.facts.get("reference_kernel_spread") for trial in trials), default=None
        ),
        steal_share=sum(_known(trial.facts["steal_s"] for trial in steals)) / duration_s
        if duration_s
        else None,
        memory_kernel_s=median(memory) if memory else None,
        error="\n".join(sorted({trial.error for trial in trials if trial.error is not None})) or None,
    )


def distinct(place: Integers, repetitions: Integers) -> tuple[list[tuple[int, int]], Integers]:
    """The pairs of place and repetitions that occur, in ascending order, and the index of each row's pair."""
    width = int(repetitions.max(initial=0)) + 2
    codes, index = np.unique(place * width + repetitions + 1, return_inverse=True)
    return [(code // width, code % width - 1) for code in codes.tolist()], index


def optional(values: Floats) -> list[float | None]:
    """Values as a list, ``None`` for NaN."""
    return [None if math.isnan(value) else value for value in values.tolist()]


def _listed(estimates: Estimates) -> tuple[list[Any], ...]:
    low, high = optional(estimates.low), optional(estimates.high)
    return estimates.n.tolist(), estimates.median.tolist(), low, high


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
