"""The correction of samples for what others on the host did to them: the only place that knows of it.

A sample says how many times as long as on an undisturbed host it took (``slowdown``: measured beside it, see
``ciphermark_measure.interference.host_state``), or that others had the core for most of its time (``is_disturbed``).
Three things follow. Values are divided by their slowdown. Disturbed samples are left out, unless there are no others:
then all count as they are, and there is no interval, since they say nothing of an undisturbed host. And intervals are
widened by what the division leaves of its own error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ciphermark_analysis.estimates import Estimates
from ciphermark_analysis.samples import Booleans, Floats, Integers
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Sample

# Operations are not all slowed alike: where the reference kernel reports a slowdown of a, an operation takes a^e times
# as long. Exponents e differ from 1 by 0.2 (their standard deviation: docs/decisions/0043), so what a correction by a
# leaves is a^(1 - e), of which two deviations are a^0.4. Times of two libraries have errors of their own each.
_REMAINDER = 0.4


def divided(value: float, slowdown: float | None) -> float:
    """A value as it would have been on an undisturbed host, as far as that is known."""
    return value / (slowdown or 1.0)


def corrected_value(sample: Sample) -> float:
    """As :func:`divided`, of a sample."""
    return divided(sample.value, sample.slowdown)


def counted(samples: Sequence[Sample]) -> list[float]:
    """Corrected values of the samples that count; of all as they are where none does."""
    undisturbed = [corrected_value(sample) for sample in samples if not sample.is_disturbed]
    return undisturbed or [sample.value for sample in samples]


def counted_by_round(
    rounds: Sequence[int], values: Sequence[float], slowdowns: Sequence[float | None]
) -> dict[int, float]:
    """As :func:`counted`, by the number of the round; a disturbed sample has no slowdown."""
    samples = list(zip(rounds, values, slowdowns, strict=True))
    undisturbed = {number: divided(value, slow) for number, value, slow in samples if slow is not None}
    return undisturbed or dict(zip(rounds, values, strict=True))


def ignored(value: Floats) -> tuple[Floats, Booleans]:
    """Slowdowns and disturbances of values by which they stay as the clock gave them, and all count."""
    return np.ones_like(value), np.zeros(len(value), np.bool_)


def corrected(
    value: Floats, slowdown: Floats, is_disturbed: Booleans, segment: Integers
) -> tuple[Floats, Integers]:
    """As :func:`counted`, for each segment (0, 1, … without gaps): values, and the segment of each."""
    is_kept = counts(is_disturbed, segment)
    values = np.where(is_disturbed, value, value / slowdown)
    return values[is_kept], segment[is_kept]


def counts(is_disturbed: Booleans, segment: Integers, may_be_disturbed: Booleans | bool = True) -> Booleans:
    """Which samples count: the undisturbed ones of each segment. Where there are none, those of the segment that
    ``may_be_disturbed``.
    """
    is_lost = np.ones(_segments(segment), np.bool_)
    is_lost[segment[~is_disturbed]] = False
    return ~is_disturbed | (is_lost[segment] & may_be_disturbed)


def are_lost(is_disturbed: Booleans, segment: Integers) -> Booleans:
    """Which segments (0, 1, … without gaps) have disturbed samples only."""
    is_lost: Booleans = np.bincount(segment, ~is_disturbed) == 0
    return is_lost


def without_intervals(estimates: Estimates, is_lost: Booleans) -> Estimates:
    """Estimates, without an interval where one is lost."""
    low, high = (np.where(is_lost, np.nan, bounds) for bounds in (estimates.low, estimates.high))
    return replace(estimates, low=low, high=high)


def mean_slowdowns(slowdown: Floats, is_disturbed: Booleans, segment: Integers, segments: int = 0) -> Floats:
    """Geometric mean over the undisturbed samples of each of at least ``segments`` segments; NaN without any."""
    own, count = segment[~is_disturbed], _segments(segment, segments)
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = np.bincount(own, np.log(slowdown[~is_disturbed]), count)
        means: Floats = np.exp(sums / np.bincount(own, minlength=count))
    return means


def undisturbed_shares(
    slowdown: Floats, is_disturbed: Booleans, segment: Integers, segments: int = 0
) -> Floats:
    """Of each segment, the share of samples that were slowed by so little that it shows no difference either; NaN of
    an empty one.
    """
    is_undisturbed = ~is_disturbed & (slowdown <= SIGNIFICANCE_THRESHOLD)
    count = _segments(segment, segments)
    with np.errstate(invalid="ignore"):
        return np.bincount(segment, is_undisturbed, count) / np.bincount(segment, minlength=count)


def widened(estimates: Estimates, factor: Floats) -> Estimates:
    """Estimates with intervals that are wider by a factor on both sides."""
    return replace(estimates, low=estimates.low / factor, high=estimates.high * factor)


def widening(slowdown: Floats, base_slowdown: Floats | float = 1.0) -> Floats:
    """By what factor an interval is wider for the errors of corrections by these slowdowns; NaN counts as none."""
    logarithms = (np.log(np.nan_to_num(item, nan=1.0)) for item in (slowdown, base_slowdown))
    widths: Floats = np.exp(_REMAINDER * np.sqrt(sum(item * item for item in logarithms)))
    return widths


def _segments(segment: Integers, least: int = 0) -> int:
    return max(int(segment.max(initial=-1)) + 1, least)
