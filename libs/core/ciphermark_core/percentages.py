"""Percentages as people write them, on command lines, in requests and on pages."""

from __future__ import annotations

import re

from ciphermark_core.errors import UserError

_LARGEST = 1000
_PERCENTAGE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")


def factor(name: str, text: str | None) -> float | None:
    """Return the factor of a percentage: 1.05 for ``5%``, ``None`` without a text.

    Raises ``UserError``, about ``name``, for a text that is no percentage above 0.
    """
    if text is None:
        return None
    percentage = _PERCENTAGE.fullmatch(text.strip())
    if percentage is None or not 0 < float(percentage[1]) <= _LARGEST:
        raise UserError(f"{name} {text}: must be a percentage above 0% and at most 1000%, such as 5%")
    return 1 + float(percentage[1]) / 100
