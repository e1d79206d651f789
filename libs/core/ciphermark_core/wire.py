"""JSON for the central types: one line per message, on pipes and in the journal."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ciphermark_core.limits import in_words

T = TypeVar("T")


def to_line(value: object) -> bytes:
    """Encode a value of the central types as one line of JSON, newline included."""
    return msgspec.json.encode(value) + b"\n"


def from_line(line: bytes, kind: type[T]) -> T:
    """Decode one line; raises ``ValueError`` for an invalid ``kind``, with the expected value and its place."""
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(in_words(str(error))) from None
