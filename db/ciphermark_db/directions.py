"""Which way each metric is better, and how far two figures must be apart to say so. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ciphermark_core.statistics import NOISE_FLOOR


@dataclass(frozen=True, slots=True)
class Direction:
    """Figures within ``factor`` of each other, or ``distance`` apart at most, show no difference."""

    larger_is_better: bool
    factor: float = 1.0
    distance: float = 0.0

    def shows_no_difference(self, a: float, b: float) -> bool:
        """Whether two figures are too close to call one of them better."""
        return abs(a - b) <= self.distance or 0 < max(a, b) <= self.factor * min(a, b)


# Allocators differ by pages from run to run, compressed sizes by the random numbers in them: the floor of times.
# Noise is random: a budget or a precision moves by a bit or so, the error that is left by a factor.
DIRECTIONS: Mapping[str, Direction] = {
    "peak_memory": Direction(larger_is_better=False, factor=NOISE_FLOOR),
    "size": Direction(larger_is_better=False, factor=NOISE_FLOOR),
    "expansion": Direction(larger_is_better=False, factor=NOISE_FLOOR),
    "noise_budget": Direction(larger_is_better=True, distance=2.0),
    "precision": Direction(larger_is_better=True, distance=2.0),
    "noise_error": Direction(larger_is_better=False, factor=4.0),
    "rounding_error": Direction(larger_is_better=False),
    "mse": Direction(larger_is_better=False, factor=NOISE_FLOOR),
    "depth": Direction(larger_is_better=True),
    "accuracy": Direction(larger_is_better=True),
    "agreement": Direction(larger_is_better=True),
}


def verdict_of(metric: str, a: float, b: float) -> str:
    """What figure ``b`` is beside ``a``: ``better``, ``worse``, ``no difference`` or ``unchanged``.

    ``changed`` where a metric is neither better nor worse for being larger.
    """
    if a == b:
        return "unchanged"
    direction = DIRECTIONS.get(metric)
    if direction is None:
        return "changed"
    if direction.shows_no_difference(a, b):
        return "no difference"
    return "better" if (b > a) == direction.larger_is_better else "worse"
