"""The correction of samples for host interference, in one place.

A sample has a ``slowdown``: its time relative to an undisturbed host, measured with it (see
``ciphermark_measure.interference.host_state``). Or it ``is_disturbed``: other processes had the core for most of its
time. The correction has three parts:

- Values are divided by their slowdown.
- Disturbed samples are left out. Without any others, all count as measured, and there is no interval, since they are no
  evidence about an undisturbed host.
- Intervals are widened by the residual error of the division.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ciphermark_analysis.estimates import Estimates
from ciphermark_analysis.samples import Booleans, Floats, Integers
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Sample

# Operations are not slowed equally: where the reference kernel reports a slowdown of a, an operation takes a^e times
# as long. Exponents e differ from 1 by 0.2 (their standard deviation: docs/decisions/0043), so the residual error of a
# correction by a is a^(1 - e), of which two deviations are a^0.4. Times of two libraries have separate errors.
_REMAINDER = 0.4


def divided(value: float, slowdown: float | None) -> float:
    """A value corrected by its slowdown; unchanged for an unknown one."""
    return value / (slowdown or 1.0)


def corrected_value(sample: Sample) -> float:
    """Like :func:`divided`, for a sample."""
    return divided(sample.value, sample.slowdown)


def counted(samples: Sequence[Sample]) -> list[float]:
    """Corrected values of the undisturbed samples; without any, the values of all as measured."""
    undisturbed = [corrected_value(sample) for sample in samples if not sample.is_disturbed]
    return undisturbed or [sample.value for sample in samples]


def counted_by_round(
    rounds: Sequence[int], values: Sequence[float], slowdowns: Sequence[float | None]
) -> dict[int, float]:
    """Like :func:`counted`, by number of the round; a disturbed sample has no slowdown."""
    samples = list(zip(rounds, values, slowdowns, strict=True))
    undisturbed = {number: divided(value, slow) for number, value, slow in samples if slow is not None}
    return undisturbed or dict(zip(rounds, values, strict=True))


def ignored(value: Floats) -> tuple[Floats, Booleans]:
    """Slowdowns and disturbances that leave all values as measured and let all count."""
    return np.ones_like(value), np.zeros(len(value), np.bool_)


def corrected(
    value: Floats, slowdown: Floats, is_disturbed: Booleans, segment: Integers
) -> tuple[Floats, Integers]:
    """Like :func:`counted`, for each segment (0, 1, … without gaps): values, and the segment of each."""
    is_kept = counts(is_disturbed, segment)
    values = np.where(is_disturbed, value, value / slowdown)
    return values[is_kept], segment[is_kept]


def counts(is_disturbed: Booleans, segment: Integers, may_be_disturbed: Booleans | bool = True) -> Booleans:
    """Whether each sample counts: the undisturbed ones of a segment; without any, those that ``may_be_disturbed``."""
    is_lost = np.ones(_segments(segment), np.bool_)
    is_lost[segment[~is_disturbed]] = False
    return ~is_disturbed | (is_lost[segment] & may_be_disturbed)


def are_lost(is_disturbed: Booleans, segment: Integers) -> Booleans:
    """Whether each segment (0, 1, … without gaps) has disturbed samples only."""
    is_lost: Booleans = np.bincount(segment, ~is_disturbed) == 0
    return is_lost


def without_intervals(estimates: Estimates, is_lost: Booleans) -> Estimates:
    """The estimates, without an interval where ``is_lost``."""
    low, high = (np.where(is_lost, np.nan, bounds) for bounds in (estimates.low, estimates.high))
    return replace(estimates, low=low, high=high)


def mean_slowdowns(slowdown: Floats, is_disturbed: Booleans, segment: Integers, segments: int = 0) -> Floats:
    """Geometric means over the undisturbed samples of at least ``segments`` segments; NaN without such samples."""
    own, count = segment[~is_disturbed], _segments(segment, segments)
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = np.bincount(own, np.log(slowdown[~is_disturbed]), count)
        means: Floats = np.exp(sums / np.bincount(own, minlength=count))
    return means


def undisturbed_shares(
    slowdown: Floats, is_disturbed: Booleans, segment: Integers, segments: int = 0
) -> Floats:
    """Per segment, the share of samples whose slowdown is too small for a significant difference; NaN if empty."""
    is_undisturbed = ~is_disturbed & (slowdown <= SIGNIFICANCE_THRESHOLD)
    count = _segments(segment, segments)
    with np.errstate(invalid="ignore"):
        return np.bincount(segment, is_undisturbed, count) / np.bincount(segment, minlength=count)


def widened(estimates: Estimates, factor: Floats) -> Estimates:
    """The estimates, with intervals widened by a factor on both sides."""
    return replace(estimates, low=estimates.low / factor, high=estimates.high * factor)


def widening(slowdown: Floats, base_slowdown: Floats | float = 1.0) -> Floats:
    """The factor that widens an interval for the errors of corrections by these slowdowns; NaN counts as none."""
    logarithms = (np.log(np.nan_to_num(item, nan=1.0)) for item in (slowdown, base_slowdown))
    widths: Floats = np.exp(_REMAINDER * np.sqrt(sum(item * item for item in logarithms)))
    return widths


def _segments(segment: Integers, least: int = 0) -> int:
    return max(int(segment.max(initial=-1)) + 1, least)
