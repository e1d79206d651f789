"""How values are written for people. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

_SECONDS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_NOTHING = "–"


def digits(value: float | None) -> str:
    """Three significant digits, never an exponent."""
    if value is None:
        return _NOTHING
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def small(value: float | None) -> str:
    """Three significant digits, with an exponent where the value is tiny."""
    return _NOTHING if value is None else f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A time with the unit that fits it."""
    if value is None:
        return _NOTHING
    unit = next((unit for unit, factor in _SECONDS.items() if value * factor >= 1), "ns")
    return f"{digits(value * _SECONDS[unit])} {unit}"


def size(value: float | None) -> str:
    """Bytes with the unit that fits them."""
    if value is None:
        return _NOTHING
    unit = next((unit for unit, factor in reversed(_BYTES.items()) if value >= factor), "B")
    return f"{digits(value / _BYTES[unit])} {unit}"


def quantity(value: float | None, unit: str | None) -> str:
    """A figure in a unit of ours."""
    if unit == "s":
        return seconds(value)
    if unit == "bytes":
        return size(value)
    if unit == "share":
        return share(value)
    return (
        digits(value) if value is None or unit in (None, "", "flag", "ratio") else f"{digits(value)} {unit}"
    )


def bits(value: float | None) -> str:
    """Bits, to a tenth."""
    return _NOTHING if value is None else f"{value:.1f}".removesuffix(".0")


def share(value: float | None) -> str:
    """A share of 1 as a percentage."""
    return _NOTHING if value is None else f"{value * 100:.1f} %"


def chain(value: Sequence[int] | None) -> str:
    """Sizes of primes."""
    return _NOTHING if value is None else ", ".join(map(str, value))


def level(value: int | None) -> str:
    """A security level; 0 is what lies under the smallest level of the table."""
    if value is None:
        return _NOTHING
    return f"{value} bits" if value else "under 128 bits"


def moment(value: datetime | None) -> str:
    """A time of day, in UTC."""
    return _NOTHING if value is None else f"{value:%Y-%m-%d %H:%M:%S}"


def text(value: Any) -> str:
    """Anything else."""
    return _NOTHING if value is None else str(value)


def yes(value: bool | None) -> str:
    """A flag."""
    return _NOTHING if value is None else ("yes" if value else "no")
