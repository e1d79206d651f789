"""Figures as people read them: three significant digits, and the unit that fits. Pure."""

from __future__ import annotations

_FACTORS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
_MEGABYTE = 1e6
NOTHING = "–"


def duration(seconds: float) -> tuple[str, str]:
    """A time as a number with three significant digits and the unit that fits it."""
    unit = next((unit for unit, factor in _FACTORS.items() if seconds * factor >= 1), "ns")
    return digits(seconds * _FACTORS[unit]), unit


def time_with_interval(seconds: float, low_s: float | None, high_s: float | None) -> tuple[str, str]:
    """A time with its unit, and its interval in the same unit."""
    number, unit = duration(seconds)
    return f"{number} {unit}", interval(low_s, high_s, _FACTORS[unit])


def interval(low: float | None, high: float | None, factor: float = 1.0) -> str:
    """Both bounds, each times ``factor``."""
    if low is None or high is None:
        return "too few samples"
    return f"[{digits(low * factor)}, {digits(high * factor)}]"


def digits(value: float | None) -> str:
    """Three significant digits, never an exponent; nothing for a figure that there is not."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def quantity(value: float | None, unit: str) -> str:
    """A figure in a unit of ours: seconds as :func:`duration` has them, bytes as megabytes, shares as percentages, the
    rest as it is.
    """
    if value is None:
        return NOTHING
    if unit == "s":
        return " ".join(duration(value))
    if unit == "bytes":
        return f"{digits(value / _MEGABYTE)} MB"
    if unit == "share":
        return f"{100 * value:.1f} %"
    return digits(value) if unit in ("flag", "ratio") else f"{digits(value)} {unit}"


def level(bits: int | None) -> str:
    """A security level as the tables of parameters have them; 0 stands for less than the lowest."""
    if bits is None:
        return "unknown"
    return f"{bits} bits" if bits else "under 128 bits"
