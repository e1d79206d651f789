"""JSON for the central types: one line per message, on pipes and in the journal."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


def to_line(value: object) -> bytes:
    """Encode a value of the central types as one line of JSON, newline included."""
    return msgspec.json.encode(value) + b"\n"


def from_line(line: bytes, kind: type[T]) -> T:
    """Decode one line; raises ``ValueError`` when it is not a valid ``kind``."""
    return msgspec.json.decode(line, type=kind)
