"""How values are written for people. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

_SECONDS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_MEGABYTE = 1e6
NOTHING = "–"


def digits(value: float | None) -> str:
    """Three significant digits, never an exponent."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def small(value: float | None) -> str:
    """Three significant digits, with an exponent where the value is tiny."""
    return NOTHING if value is None else f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A time with the unit that fits it."""
    if value is None:
        return NOTHING
    unit = next((unit for unit, factor in _SECONDS.items() if value * factor >= 1), "ns")
    return f"{digits(value * _SECONDS[unit])} {unit}"


def size(value: float | None) -> str:
    """Bytes with the unit that fits them."""
    if value is None:
        return NOTHING
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
    return NOTHING if value is None else f"{value:.1f}".removesuffix(".0")


def share(value: float | None) -> str:
    """A share of 1 as a percentage."""
    return NOTHING if value is None else f"{value * 100:.1f} %"


def chain(value: Sequence[int] | None) -> str:
    """Sizes of primes."""
    return NOTHING if value is None else ", ".join(map(str, value))


def scale(value: float | None) -> str:
    """A scale as a power of 2, to a tenth of a bit."""
    return NOTHING if value is None else f"2^{bits(math.log2(value))}"


def level(value: int | None) -> str:
    """A security level; 0 is what lies under the smallest level of the table."""
    if value is None:
        return NOTHING
    return f"{value} bits" if value else "under 128 bits"


def asked(value: int | None) -> str:
    """The least security that was asked for; 0 is none."""
    return NOTHING if value is None else f"{value} bits" if value else "none"


def moment(value: datetime | None) -> str:
    """A time of day, in UTC."""
    return NOTHING if value is None else f"{value:%Y-%m-%d %H:%M:%S}"


def text(value: Any) -> str:
    """Anything else."""
    return NOTHING if value is None else str(value)


def yes(value: bool | None) -> str:
    """A flag."""
    return NOTHING if value is None else ("yes" if value else "no")


# Where there is little room: no thousands separated, bytes in megabytes as papers have them.


def brief_digits(value: float | None) -> str:
    """Three significant digits, never an exponent; nothing for a figure that there is not."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def duration(seconds: float) -> tuple[str, str]:
    """A time as a number with three significant digits and the unit that fits it."""
    unit = next((unit for unit, factor in _SECONDS.items() if seconds * factor >= 1), "ns")
    return brief_digits(seconds * _SECONDS[unit]), unit


def time_with_interval(seconds: float, low_s: float | None, high_s: float | None) -> tuple[str, str]:
    """A time with its unit, and its interval in the same unit."""
    number, unit = duration(seconds)
    return f"{number} {unit}", interval(low_s, high_s, _SECONDS[unit])


def interval(low: float | None, high: float | None, factor: float = 1.0) -> str:
    """Both bounds, each times ``factor``."""
    if low is None or high is None:
        return "too few samples"
    return f"[{brief_digits(low * factor)}, {brief_digits(high * factor)}]"


def brief_quantity(value: float | None, unit: str) -> str:
    """A figure in a unit of ours: seconds as :func:`duration` has them, bytes as megabytes, shares as percentages, the
    rest as it is.
    """
    if value is None:
        return NOTHING
    if unit == "s":
        return " ".join(duration(value))
    if unit == "bytes":
        return f"{brief_digits(value / _MEGABYTE)} MB"
    if unit == "share":
        return share(value)
    return brief_digits(value) if unit in ("flag", "ratio") else f"{brief_digits(value)} {unit}"


def brief_seconds(value: float | None) -> str:
    """As :func:`brief_quantity`."""
    return brief_quantity(value, "s")


def megabytes(value: float | None) -> str:
    """As :func:`brief_quantity`."""
    return brief_quantity(value, "bytes")


def percent(value: float | None) -> str:
    """A share of 1 as a whole percentage."""
    return NOTHING if value is None else f"{value:.0%}"


def brief_share(value: float | None) -> str:
    """A share of 1 as a percentage, to a tenth."""
    return NOTHING if value is None else f"{value:.1%}"


def times(value: float | None) -> str:
    """A factor."""
    return NOTHING if value is None else f"{brief_digits(value)} ×"


def relative(value: float | None) -> str:
    """A relative error of any size: an exact result has none."""
    if value is None:
        return NOTHING
    return f"{value:.1e}" if value else "0"


def rounded(value: float | None) -> str:
    """A whole number."""
    return NOTHING if value is None else f"{value:.0f}"


def level_or_unknown(value: int | None) -> str:
    """As :func:`level`, in a sentence."""
    return "unknown" if value is None else level(value)
