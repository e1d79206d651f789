"""Limits on the fields of the central types: ranges of the columns that store them, and texts that can be shown.

Every decoded value is checked against them: see :mod:`ciphermark_core.wire`.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ciphermark_core import names

LARGEST_32, LARGEST_64 = (1 << 31) - 1, (1 << 63) - 1
LONGEST_S = 1e10
# C0 and C1 controls, line and paragraph separators, and what changes the direction of text.
CONTROLS = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"

Int32 = Annotated[int, Meta(ge=0, le=LARGEST_32)]
Positive32 = Annotated[int, Meta(ge=1, le=LARGEST_32)]
Int64 = Annotated[int, Meta(ge=0, le=LARGEST_64)]
Positive64 = Annotated[int, Meta(ge=1, le=LARGEST_64)]
# Up to 2^64 − 1: msgspec decodes no larger number for a type with a bound.
Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]

Seconds = Annotated[float, Meta(ge=0, le=LONGEST_S)]
Fact = Annotated[float, Meta(ge=-1e15, le=1e15)]
Factor = Annotated[float, Meta(ge=1e-6, le=1e10)]

_WORD = rf"^[^{CONTROLS}]*\Z"
_RUN_NAME = rf"^(?!{names.LATEST}\Z)(?:{names.PATTERN})\Z"
_MOMENT = (
    r"^2[01]\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[T ]"
    r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)\Z"
)

# A name or a short text on one line.
Word = Annotated[str, Meta(max_length=1000, pattern=_WORD)]
# A user's name for a run; `last` is reserved for the latest run.
RunName = Annotated[str, Meta(pattern=_RUN_NAME)]
# A time with its offset from UTC, in the years 2000 to 2199.
Moment = Annotated[str, Meta(pattern=_MOMENT)]

# The name of each form in an error message.
_FORMS = {
    _WORD: "one line of text without control characters, such as `quick`",
    _RUN_NAME: f"a run's name other than `{names.LATEST}`, such as `before-update`",
    _MOMENT: "a date and time of the years 2000 to 2199 with its offset from UTC, such as `2026-01-31T12:00:00+00:00`",
}


def in_words(refusal: str) -> str:
    """A sentence of msgspec that refuses a text, with an example of the expected form in place of its pattern."""
    for pattern, form in _FORMS.items():
        refusal = refusal.replace(f"`str` matching regex {pattern!r}", form)
    return refusal
