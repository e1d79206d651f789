"""A result with its target: judgement, printed line and JSON; ratios of interleaved times. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from ciphermark_analysis.estimates import Estimate, estimate

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Target:
    """Bounds that a result should keep, in the result's unit; ``None`` where there is no bound."""

    least: float | None = None
    most: float | None = None

    def is_met(self, value: float) -> bool:
        """Whether the value keeps both bounds."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def text(self, unit: str) -> str:
        """The bounds in words."""
        if self.least is not None and self.most is not None:
            return f"{number(self.least)}–{number(self.most)}{_with(unit)}"
        if self.most is not None:
            return f"≤ {number(self.most)}{_with(unit)}"
        return f"≥ {number(self.least or 0.0)}{_with(unit)}"


@dataclass(frozen=True, slots=True)
class BenchResult:
    """One measured result. Without a target it explains another; ``facts`` go into the JSON."""

    name: str
    value: float
    unit: str = ""
    target: Target | None = None
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; ``None`` without one."""
        return None if self.target is None else self.target.is_met(self.value)

    def line(self) -> str:
        """One line for people: name, value, target, met or missed."""
        text = f"{self.name:<44} {number(self.value) + _with(self.unit):>14}"
        if self.target is not None:
            text += f"   target {self.target.text(self.unit):<14} {'met' if self.is_met else 'MISSED':<6}"
        return f"{text}   {self.note}".rstrip()

    def as_dict(self) -> dict[str, Any]:
        """The same as data."""
        return asdict(self) | {"is_met": self.is_met}


Section = Callable[[Progress], Iterator[BenchResult]]

# Bounds of a ratio of our time to that of a plain program.
_LOW, _HIGH = 0.97, 1.03
ALIKE = Target(_LOW, _HIGH)


def number(value: float) -> str:
    """Three or four significant digits, thousands separated."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.1 else f"{value:.3g}"


def _with(unit: str) -> str:
    return f" {unit}" if unit else ""


def paired(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Median of the ratios a/b of samples that were taken in the same turn, with its interval."""
    return estimate([x / y for x, y in zip(a, b, strict=False)])


def interval(ratio: Estimate) -> str:
    """The interval of a ratio, in brackets; empty where there are too few samples for one."""
    return "" if ratio.low is None or ratio.high is None else f"[{ratio.low:.3f}, {ratio.high:.3f}]"


def beside_plain(
    name: str, ours_s: Sequence[float], plain_s: Sequence[float], min_s: float = 0.0, note: str = ""
) -> BenchResult:
    """The ratio of our times to a plain program's; operations shorter than ``min_s`` have no target."""
    ratio, typical_s = paired(ours_s, plain_s), median(plain_s)
    note = f"{interval(ratio)} {note}   {typical_s * 1e6:,.1f} µs"
    facts = {"low": ratio.low, "high": ratio.high, "plain_s": typical_s}
    return BenchResult(name, ratio.median, "", ALIKE if typical_s >= min_s else None, note, facts)


def summary(ratios: Sequence[BenchResult]) -> Iterator[BenchResult]:
    """The mean of the ratios with a target, and the number that miss it."""
    judged = [item for item in ratios if item.target is not None]
    if not judged:
        return
    mean = math.exp(sum(math.log(item.value) for item in judged) / len(judged))
    yield BenchResult("geometric mean of all ratios", mean, "", ALIKE)
    outside = [item for item in judged if not item.is_met]
    note = f"{sum(map(_is_surely_outside, outside))} of them for certain: with the whole interval"
    yield BenchResult(f"ratios outside 0.97–1.03, of {len(judged)}", len(outside), "", Target(most=0), note)


def _is_surely_outside(ratio: BenchResult) -> bool:
    low, high = ratio.facts["low"], ratio.facts["high"]
    return low is not None and high is not None and (low > _HIGH or high < _LOW)
