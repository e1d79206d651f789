"""Rules for user-given names: of runs, builds and labels of variants."""

from __future__ import annotations

import re

from ciphermark_core.errors import UserError

RULE = "a name has 1 to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or digit"
PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
LATEST = "last"  # where a run is named: the latest one
_NAME = re.compile(PATTERN)


def required(text: str, what: str) -> str:
    """Return the text if it is a valid name, else raise ``UserError``. ``what`` states what the text would name."""
    if not _NAME.fullmatch(text):
        shown = ascii(text if len(text) <= 80 else text[:80] + "…")
        raise UserError(f"{shown} cannot be {what}: {RULE}")
    return text
