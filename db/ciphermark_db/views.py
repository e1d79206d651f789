"""Views as files: ``views/NNN_name.sql`` makes the view or function ``name``, in the order of the numbers.

A file has the comment of its view, too; ``columns.csv`` says what a column of a name means, the same in all views, and
in which unit its numbers are. All of them are dropped and made again whenever their texts are not those that made what
the database has; tables, which views read, come by migrations alone.
"""

from __future__ import annotations

import csv
import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psycopg

from ciphermark_db.sql import blocks

_MADE = re.compile(rb"^create (view|function) (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ViewFile:
    """One file. ``kind`` is what it makes: a view or a function."""

    position: int
    name: str
    kind: str
    text: bytes

    @property
    def row(self) -> tuple[int, str, str, str]:
        """Its row in the table ``view_file``, whose checksum covers what columns mean."""
        text = self.text + _meanings()
        return self.position, self.name, self.kind, hashlib.sha256(text).hexdigest()


def view_files() -> list[ViewFile]:
    """All files of this program, in order. Raises ``ValueError`` for one that makes something else than its name."""
    found = (file for file in (files("ciphermark_db") / "views").iterdir() if file.name.endswith(".sql"))
    return sorted((_file(file.name, file.read_bytes()) for file in found), key=lambda item: item.position)


def _meanings() -> bytes:
    return (files("ciphermark_db") / "columns.csv").read_bytes()


def _comments() -> dict[str, list[str]]:
    """The comments on columns by their names: the meaning, and in brackets the unit of what is a number."""
    rows = [*csv.DictReader(_meanings().decode().splitlines())]
    told = [f"{row['meaning']} [{row['unit']}]" if row["unit"] else row["meaning"] for row in rows]
    return {"names": [row["column"] for row in rows], "meanings": told}


def _file(file_name: str, text: bytes) -> ViewFile:
    position, name = file_name.removesuffix(".sql").split("_", 1)
    made = [(kind.decode(), what.decode()) for kind, what in _MADE.findall(text)]
    if [what for _, what in made] != [name]:
        raise ValueError(f"views/{file_name} must make {name} alone")
    return ViewFile(int(position), name, made[0][0], text)


def are_made(connection: psycopg.Connection[Any], known: list[ViewFile]) -> bool:
    """Whether what the database has was made by these files."""
    is_there = connection.execute(blocks("views")["is_there"]).fetchone()
    if is_there == (False,):
        return False
    return connection.execute(blocks("views")["made"]).fetchall() == [item.row for item in known]


def drop(connection: psycopg.Connection[Any]) -> None:
    """Drop all that files made, the last first."""
    if connection.execute(blocks("views")["is_there"]).fetchone() == (True,):
        connection.execute(blocks("views")["drop"])


def make(connection: psycopg.Connection[Any], known: list[ViewFile]) -> None:
    """Make what the files say, and comment their columns; nothing of it may be there."""
    for item in known:
        connection.execute(item.text)
    described = {"views": [item.name for item in known], **_comments()}
    for (comment,) in connection.execute(blocks("views")["comments"], described).fetchall():
        connection.execute(comment)
    with connection.cursor() as cursor:
        cursor.executemany(blocks("views")["record"], [item.row for item in known])
