"""Formats of values for people. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_SECONDS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_BINARY = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}  # for readers who choose these units
TIME_UNITS = (*_SECONDS, "us")
BYTE_UNITS = (*_BYTES, *_BINARY)
_YEARS = range(2000, 2200)
OUT_OF_RANGE = "date out of range"
NOTHING = "–"
DISTURBED = "!"  # before a time with disturbed samples only
_ELSEWHERE = ("repetitions", "data_set", "level", "residency")  # dimensions with a column of their own


@dataclass(frozen=True, slots=True)
class Notation:
    """A reader's choice of number format: one unit for all times and one for all bytes, by default fitting ones;
    exponents.
    """

    time_unit: str | None = None
    byte_unit: str | None = None
    is_scientific: bool = False


_USUAL = Notation()
_notation: ContextVar[Notation] = ContextVar("notation", default=_USUAL)


@contextmanager
def written(notation: Notation) -> Iterator[None]:
    """A context in which numbers have this notation."""
    token = _notation.set(notation)
    try:
        yield
    finally:
        _notation.reset(token)


def count(number: int) -> str:
    """A count of items: ``8192``, ``65,536``."""
    return f"{number:,}" if number >= 10_000 else str(number)


def values(count: int) -> str:
    """A number of values: ``1 value``, ``4,096 values``."""
    return f"{count:,} value{'' if count == 1 else 's'}"


def digits(value: float | None) -> str:
    """Three significant digits, never an exponent."""
    if value is None:
        return NOTHING
    return _exponent(value) or (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}")


def _exponent(value: float) -> str:
    """The number with its exponent, where the reader wants exponents; else empty."""
    return f"{value:.2e}" if _notation.get().is_scientific else ""


def small(value: float | None) -> str:
    """Three significant digits, with an exponent where the value is tiny."""
    return NOTHING if value is None else f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A time with a fitting unit."""
    if value is None:
        return NOTHING
    unit = _time_unit(value)
    return f"{measured(value * _SECONDS[unit])} {unit}"


def _time_unit(seconds: float) -> str:
    """The unit that the reader chose, else a fitting one."""
    chosen = _notation.get().time_unit
    if chosen is not None:
        return "µs" if chosen == "us" else chosen
    numbers = ((unit, seconds * factor) for unit, factor in reversed(_SECONDS.items()))
    return _smallest_that_fits(numbers) or "s"


def _smallest_that_fits(numbers: Iterable[tuple[str, float]]) -> str | None:
    """The first unit whose number has at most three digits before the point as written: a number that rounds up to 1000
    becomes 1 of the next unit.
    """
    return next((unit for unit, number in numbers if float(f"{number:.3g}") < 1000), None)


def size(value: float | None) -> str:
    """Bytes with a fitting unit."""
    if value is None:
        return NOTHING
    number, unit = bytes_with_unit(value)
    return f"{digits(number) if unit == 'B' else measured(number)} {unit}"


def tick_seconds(value: float) -> str:
    """A time at the tick of an axis: it is round, so that zeros would add nothing."""
    unit = _time_unit(value)
    return f"{digits(value * _SECONDS[unit])} {unit}"


def tick_size(value: float) -> str:
    """Bytes at the tick of an axis."""
    number, unit = bytes_with_unit(value)
    return f"{digits(number)} {unit}"


def interval_of(time_s: float, low_s: float, high_s: float) -> str:
    """The interval of a time, in the time's unit as :func:`seconds` writes it."""
    factor = _SECONDS[_time_unit(time_s)]
    return f"[{measured(low_s * factor)}, {measured(high_s * factor)}]"


def measured(value: float) -> str:
    """As :func:`digits`, with trailing zeros: they are as measured as the other digits. Zero is 0."""
    return three_digits(value) if 0 < abs(value) < 100 else digits(value)


def bytes_with_unit(value: float) -> tuple[float, str]:
    """Bytes in the unit that the reader chose, else in a fitting decimal one."""
    chosen = _notation.get().byte_unit
    numbers = ((unit, value / factor) for unit, factor in _BYTES.items())
    unit = chosen or _smallest_that_fits(numbers) or "GB"
    return value / {**_BYTES, **_BINARY}[unit], unit


def quantity(value: float | None, unit: str | None) -> str:
    """A result in one of the registry's units."""
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
    return NOTHING if value is None else f"{value * 100:.1f}%"


def chain(value: Sequence[int] | None) -> str:
    """Sizes of a chain's primes."""
    return NOTHING if value is None else ", ".join(map(str, value))


def scale(value: float | None) -> str:
    """A scale as a power of 2, to a tenth of a bit."""
    return NOTHING if value is None else f"2^{bits(math.log2(value))}"


def level(value: int | None) -> str:
    """A security level; 0 stands for a level below the minimum of the table."""
    if value is None:
        return NOTHING
    return f"{value} bits" if value else "below 128 bits"


def asked(value: int | None) -> str:
    """The requested minimum security; 0 stands for none."""
    return NOTHING if value is None else f"{value} bits" if value else "none"


def moment(value: datetime | None, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time of day, in UTC."""
    if value is None:
        return NOTHING
    return value.strftime(form) if value.year in _YEARS else OUT_OF_RANGE


def minute(value: datetime) -> str:
    """A time of day without its seconds, in UTC."""
    return moment(value, "%Y-%m-%d %H:%M")


def day(value: datetime) -> str:
    """A day, in UTC."""
    return moment(value, "%Y-%m-%d")


def text(value: Any) -> str:
    """Any other value."""
    return NOTHING if value is None else str(value)


def options(values: Mapping[str, Any] | None) -> str:
    """The options of one experiment or family, without those that have a column of their own everywhere."""
    own = [f"{name} {value}" for name, value in sorted((values or {}).items()) if name not in _ELSEWHERE]
    return ", ".join(own) or NOTHING


def yes(value: bool | None) -> str:
    """A flag."""
    return NOTHING if value is None else ("yes" if value else "no")


# For little room: no thousands separators, and bytes in kB, MB and GB as in papers.


def brief_digits(value: float | None) -> str:
    """Three significant digits, never an exponent; empty for a missing result."""
    if value is None:
        return ""
    return _exponent(value) or (f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}")


def duration(seconds: float) -> tuple[str, str]:
    """A time as a number with three significant digits and a fitting unit."""
    unit = _time_unit(seconds)
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
    """A result in one of the registry's units: seconds and bytes with a fitting unit, shares as percentages, other
    values as they are.
    """
    if value is None:
        return NOTHING
    if unit == "s":
        return " ".join(duration(value))
    if unit == "bytes":
        number, bytes_unit = bytes_with_unit(value)
        return f"{brief_digits(number)} {bytes_unit}"
    if unit == "share":
        return share(value)
    return brief_digits(value) if unit in ("flag", "ratio") else f"{brief_digits(value)} {unit}"


def brief_seconds(value: float | None) -> str:
    """As :func:`brief_quantity`."""
    return brief_quantity(value, "s")


def brief_size(value: float | None) -> str:
    """As :func:`brief_quantity`."""
    return brief_quantity(value, "bytes")


def percent(value: float | None) -> str:
    """A share of 1 as a whole percentage."""
    return NOTHING if value is None else f"{value:.0%}"


def brief_share(value: float | None) -> str:
    """A share of 1 as a percentage, to a tenth."""
    return NOTHING if value is None else f"{value:.1%}"


def three_digits(value: float) -> str:
    """Three significant digits, zeros included, and never an exponent unless the reader wants exponents."""
    return _exponent(value) or (f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}".removesuffix("."))


def ratio(value: float | None) -> str:
    """A multiple, such as ``2.60×``; empty for a missing one."""
    return "" if value is None else f"{three_digits(value)}×"


def ratio_interval(low: float | None, high: float | None) -> str:
    """The bounds of a multiple."""
    if low is None or high is None:
        return "too few samples"
    return f"[{three_digits(low)}, {three_digits(high)}]"


def capitalized(text: str) -> str:
    """A text with a capital first letter."""
    return text[:1].upper() + text[1:]


def times(value: float | None) -> str:
    """As :func:`ratio`, in a table."""
    return ratio(value) or NOTHING


def relative(value: float | None) -> str:
    """A relative error of any size: an exact result has 0."""
    if value is None:
        return NOTHING
    return f"{value:.1e}" if value else "0"


def rounded(value: float | None) -> str:
    """A whole number."""
    return NOTHING if value is None else f"{value:.0f}"


def security(value: int | None) -> str:
    """As :func:`level`, for a heading that names the value."""
    if value is None:
        return "unknown"
    return f"{value}-bit" if value else "below 128-bit"
