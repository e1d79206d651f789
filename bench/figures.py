"""A figure beside its target: how it is judged, printed and written down. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Target:
    """Bounds that a figure should keep, in the figure's unit; ``None`` where there is no bound."""

    least: float | None = None
    most: float | None = None

    def is_met(self, value: float) -> bool:
        """Whether the value keeps both bounds."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def text(self, unit: str) -> str:
        """The bounds as one would say them."""
        if self.least is not None and self.most is not None:
            return f"{number(self.least)}–{number(self.most)}{_with(unit)}"
        if self.most is not None:
            return f"≤ {number(self.most)}{_with(unit)}"
        return f"≥ {number(self.least or 0.0)}{_with(unit)}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. Without a target it explains another; ``facts`` go into the JSON."""

    section: str
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
        value = f"{number(self.value)}{_with(self.unit)}"
        text = f"{self.section}: {self.name}".ljust(52) + f" {value:>14}"
        if self.target is not None:
            verdict = "met" if self.is_met else "MISSED"
            text += f"   target {self.target.text(self.unit):<14} {verdict:<6}"
        return f"{text}   {self.note}".rstrip() if self.note else text.rstrip()

    def as_dict(self) -> dict[str, Any]:
        """The same as data."""
        return asdict(self) | {"is_met": self.is_met}


Section = Callable[[Progress], Iterator[Figure]]


def number(value: float) -> str:
    """Three or four significant digits, thousands separated."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.1 else f"{value:.3g}"


def _with(unit: str) -> str:
    return f" {unit}" if unit else ""
