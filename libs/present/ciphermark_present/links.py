"""The speeds of the link between both parties, in words. Pure."""

from __future__ import annotations

import re

from ciphermark_core.errors import UserError
from ciphermark_present import formats

BANDWIDTH = "bandwidth"  # the parameter of queries and addresses
CHOICES = ("10 Mbit/s", "100 Mbit/s", "1 Gbit/s")  # of pages; the command line takes any
USUAL = "100 Mbit/s"
_UNITS = {"kbit/s": 1e3, "mbit/s": 1e6, "gbit/s": 1e9}  # in any case
_TEXT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([kmg]bit/s)")


def bits_per_second(text: str) -> float:
    """The speed that a text states, such as ``100 Mbit/s``. Raises ``UserError`` for another text."""
    match = _TEXT.fullmatch(text.strip().lower())
    speed = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not speed:
        raise UserError(f"bandwidth {text}: write a number with its unit, such as {USUAL}")
    return speed


def rate(bits_per_second: float) -> str:
    """A link's speed with three significant digits."""
    unit, factor = ("Gbit/s", 1e9) if bits_per_second >= 999.5e6 else ("Mbit/s", 1e6)
    return f"{formats.three_digits(bits_per_second / factor)} {unit}"
