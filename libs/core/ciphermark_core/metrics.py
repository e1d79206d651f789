"""The registry of metrics: name, unit and better direction of every recorded value.

Each metric is registered once, by the family of workloads or the probe that measures it. Storage, tables, pages,
reports and comparisons read it here or in the database's table ``metric``, which is filled from here.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

import msgspec

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


def _of_every_run() -> Iterator[Metric]:
    """The metrics that no family or probe registers. An empty threshold is that of times; another empty cell of
    ``metrics.csv`` stands for the field's default.

    Peak memory is reproducible within 4% on one machine, but not from one machine to another:
    docs/explanation/memory.md. Noise is random: its largest value of thousands moves by a factor from run to run, and
    keys and errors move a budget by up to 3 bits.
    """
    text = (files("ciphermark_core") / "metrics.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        given = {name: cell for name, cell in line.items() if cell}
        others = {"direction": None, "threshold": SIGNIFICANCE_THRESHOLD}
        yield msgspec.convert(others | given, Metric, strict=False)


for _metric in _of_every_run():
    register(_metric)
MAX_ERROR = METRICS["max_error"]
