"""Figures from papers, to stand beside ours: ``published.csv`` → the table ``published``.

The last columns of the file say which case of ours a figure is about; they are empty where we have none. See the view
``published_match`` for the rule.
"""

from __future__ import annotations

import csv
import hashlib
import io
from importlib.resources import files
from typing import Any

import psycopg

from ciphermark_db.sql import blocks

Row = dict[str, Any]

# unit of the file → the unit that we measure in, and how many of it
_UNITS = {
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "MB": ("bytes", 1e6),
    "share": ("share", 1.0),
    "ratio": ("ratio", 1.0),
}
_BARE = ("share", "ratio")  # papers write these figures alone
_CASE = ("variant", "experiment", "operation", "phase", "ring_dimension", "repetitions", "data_set")


def load(connection: psycopg.Connection[Any], content: bytes | None = None) -> None:
    """Make the table what the file says, in one transaction; does nothing where it is that already.

    ``content`` stands for this program's own file.
    """
    content = (files("ciphermark_db") / "published.csv").read_bytes() if content is None else content
    checksum = hashlib.sha256(content).hexdigest()
    sql = blocks("migrate")
    if connection.execute(sql["published_checksums"]).fetchall() == [(checksum,)]:
        return
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(sql["forget_published"])
        cursor.executemany(sql["record_published"], [row | {"checksum": checksum} for row in rows(content)])


def rows(content: bytes) -> list[Row]:
    """The figures of a file, in units of ours, in its order; an empty field is ``None``. Pure."""
    lines = csv.DictReader(io.StringIO(content.decode(), newline=""))
    return [_row(number, line) for number, line in enumerate(lines, start=1)]


def _row(number: int, line: dict[str, str]) -> Row:
    unit, factor = _UNITS[line["unit"]]
    return {
        "id": number,
        "source": line["source"],
        "year": int(line["year"]),
        "system": line["system"],
        "host": line["host"],
        "scheme": line["scheme"],
        "figure": line["case"],
        "metric": line["metric"].replace(" ", "_"),
        "unit": unit,
        "value": float(line["value"]) * factor,
        "stated": line["value"] if line["unit"] in _BARE else f"{line['value']} {line['unit']}",
        "note": line["note"] or None,
    } | {name: line[name] or None for name in _CASE}
