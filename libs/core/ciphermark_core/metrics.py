"""The registry of metrics: name, unit and better direction of every recorded value.

Each metric is registered once, by the family of workloads or the probe that measures it. Storage, tables, pages,
reports and comparisons read it here or in the database's table ``metric``, which is filled from here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ciphermark_core import registry
from ciphermark_core.limits import LARGEST_32, LARGEST_64, LONGEST_S

Direction = Literal["lower", "higher"]
ThresholdKind = Literal["factor", "difference"]
Change = Literal["better", "worse", "unchanged", "changed"]

# Two processes of one and the same binary differ by up to this factor here (code and page placement); `make bench`
# measures it with an A/A run. A smaller difference of times is no verdict.
SIGNIFICANCE_THRESHOLD = 1.05
# Minimum precision of a correct ckks result of a deep computation.
MIN_PRECISION_BITS = 10.0


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. ``direction`` states which results are better; ``None`` where neither direction is.

    Results within ``threshold`` of each other are unchanged. By ``threshold_kind`` it is a factor, or a difference in
    units of the metric, which suits logarithms. ``label`` heads a column, ``sentence`` explains it. With ``adds_up``,
    the parts of a whole are added; otherwise, as for a high-water mark, the largest part counts.
    ``is_once``: each process yields one sample, whatever number a suite requests. ``probe`` is the name by which suites
    ask for it; ``None`` for a metric of every run.
    """

    name: str
    unit: str
    direction: Direction | None
    threshold: float
    label: str
    sentence: str
    threshold_kind: ThresholdKind = "factor"
    adds_up: bool = True
    is_once: bool = False
    probe: str | None = None

    def together(self, a: float, b: float) -> float:
        """Return the value of a whole from the values of its two parts."""
        return a + b if self.adds_up else max(a, b)

    def change(self, a: float, b: float) -> Change:
        """Return the verdict on result ``b`` against ``a``; ``changed`` where the metric has no better direction."""
        if a == b:
            return "unchanged"
        if self.direction is None:
            return "changed"
        if self._is_within_threshold(a, b):
            return "unchanged"
        return "better" if (b > a) == (self.direction == "higher") else "worse"

    def _is_within_threshold(self, a: float, b: float) -> bool:
        if self.threshold_kind == "difference":
            return abs(a - b) <= self.threshold
        return 0 < max(a, b) <= self.threshold * min(a, b)

    @property
    def bounds(self) -> tuple[float, float]:
        """The minimum and maximum possible value by the unit; any number for other units."""
        return _BOUNDS.get(self.unit, (-sys.float_info.max, sys.float_info.max))


# A relative or absolute error has no bound: for an entirely incorrect result it is the largest number.
_BOUNDS: Mapping[str, tuple[float, float]] = {
    "s": (0.0, LONGEST_S),
    "bytes": (0.0, float(LARGEST_64)),
    "bytes/s": (0.0, float(LARGEST_64)),
    "bits": (-1e5, 1e5),
    **dict.fromkeys(("operations", "count", "elements"), (0.0, float(LARGEST_32))),
    **dict.fromkeys(("share", "flag"), (0.0, 1.0)),
}

_registered: dict[str, Metric] = {}
METRICS: Mapping[str, Metric] = MappingProxyType(_registered)


def reason_against(name: str, value: float) -> str | None:
    """Return why a sample of a metric is impossible; ``None`` for a possible one and for unregistered metrics."""
    metric = METRICS.get(name)
    if metric is None:
        return None
    low, high = metric.bounds
    if low <= value <= high:
        return None
    return f"{name} is {value:g} {metric.unit}; it must be from {low:g} to {high:g}"


def register(metric: Metric) -> Metric:
    """Register a metric, and return it. Raises ``ValueError`` where its name already has another meaning."""
    return registry.add(_registered, metric)


# Noise is random: its largest value of thousands moves by a factor from run to run.
MAX_ERROR = register(
    Metric(
        "max_error",
        "absolute",
        "lower",
        2.0,
        "largest error",
        "Largest difference of a value from what it is in the clear, approximation and noise together.",
    )
)

# Peak memory is reproducible within 4% on one machine, but not from one machine to another: docs/explanation/memory.md.
# Compressed sizes differ by the random numbers in them: the threshold of times.
# Noise is random: a budget or a precision moves by about a bit, the remaining error by a factor.
for _metric in (
    Metric("time", "s", "lower", SIGNIFICANCE_THRESHOLD, "time", "Wall time of one execution."),
    Metric(
        "cold_time",
        "s",
        "lower",
        2.0,
        "cold time",
        "Wall time of the first execution of an operation in a fresh process, on operands that it never touched.",
        is_once=True,
    ),
    Metric(
        "first_touch_time",
        "s",
        "lower",
        1.25,
        "first-touch time",
        "Wall time of one execution on operands never touched before, by an operation executed often.",
        is_once=True,
    ),
    Metric(
        "cpu_time",
        "s",
        "lower",
        SIGNIFICANCE_THRESHOLD,
        "CPU time",
        "What all threads of the process worked meanwhile.",
    ),
    Metric(
        "peak_memory",
        "bytes",
        "lower",
        1.15,
        "peak memory",
        "High-water mark of the resident set of the process while the phase is executed once.",
        adds_up=False,
    ),
    Metric("size", "bytes", "lower", SIGNIFICANCE_THRESHOLD, "size", "Exact size of what is written."),
    Metric(
        "plaintext_size",
        "bytes",
        None,
        1.0,
        "plaintext size",
        "Size of the rows before encryption, 8 bytes a number.",
    ),
    Metric(
        "expansion",
        "ratio",
        "lower",
        SIGNIFICANCE_THRESHOLD,
        "expansion",
        "How many times larger the data became by encryption.",
    ),
    Metric(
        "noise_budget",
        "bits",
        "higher",
        4.0,  # keys and errors are random: identical runs differ by up to 3
        "noise budget",
        "Bits of noise budget left (bfv, bgv); at 0 a result is lost.",
        "difference",
    ),
    Metric(
        "precision",
        "bits",
        "higher",
        2.0,
        "precision",
        "Correct bits of the result (CKKS), relative to the largest expected value or 1.",
        "difference",
    ),
    Metric(
        "depth", "operations", "higher", 1.0, "depth", "Maximum number of repetitions that decrypt correctly."
    ),
    Metric(
        "is_at_max_repetitions",
        "flag",
        None,
        1.0,
        "at the maximum",
        "1 where the search for the depth ended at max_repetitions.",
    ),
    Metric(
        "accuracy", "share", "higher", 1.0, "accuracy", "Share of rows whose predicted class is the label."
    ),
    Metric(
        "agreement",
        "share",
        "higher",
        1.0,
        "agreement",
        "Share of rows with the class that the same algorithm gives in the clear.",
    ),
    Metric(
        "mse",
        "ratio",
        "lower",
        SIGNIFICANCE_THRESHOLD,
        "MSE",
        "Mean squared difference between predicted class and label.",
    ),
    Metric(
        "noise_error",
        "ratio",
        "lower",
        4.0,
        "noise error",
        "Largest difference of scores from what the circuit computes without noise, relative to its largest score.",
    ),
    Metric(
        "rounding_error",
        "ratio",
        "lower",
        1.0,
        "rounding error",
        "Largest error of scores due to fixed-point encoding, relative to the largest score.",
    ),
    Metric(
        "layer_time",
        "s",
        "lower",
        SIGNIFICANCE_THRESHOLD,
        "time of a layer",
        "Wall time of a part of a stage's circuit, executed separately from the passes.",
    ),
    Metric(
        "layer_error",
        "absolute",
        "lower",
        4.0,
        "error of a layer",
        "Largest difference of any slot that a layer ends with from the same operations on plain vectors.",
    ),
    Metric(
        "layer_largest",
        "absolute",
        None,
        1.0,
        "largest value of a layer",
        "Largest value of any slot that a layer ends with, in the clear.",
    ),
):
    register(_metric)
