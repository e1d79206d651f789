"""Reads SQL from the package's ``.sql`` files, so that no Python string holds SQL."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(rb"^-- name: (\w+)\n", re.MULTILINE)


@cache
def blocks(file: str, package: str = "ciphermark_db") -> dict[str, bytes]:
    """The blocks of ``sql/<file>.sql`` of a package by name; a block starts at a line ``-- name: <name>``."""
    _, *parts = _NAME.split((files(package) / "sql" / f"{file}.sql").read_bytes())
    names, texts = parts[::2], parts[1::2]
    return {name.decode(): text.strip() for name, text in zip(names, texts, strict=True)}


def filled(text: bytes, **lists: str) -> bytes:
    """A text with its marks ``{{name}}`` replaced by lists of names. The names are the program's
    own, never a user's.
    """
    for name, names in lists.items():
        text = text.replace(b"{{%s}}" % name.encode(), names.encode())
    return text
