"""The schema: migrations, each applied once and in order; then views, the registries' tables and published values.

All of it is one transaction: an interrupted migration leaves the database unchanged. Each file ``views/NNN_name.sql``
creates the view or function ``name`` with its comment, in numeric order. A column name has one meaning and unit in all
views, defined by the descriptor of a case (:mod:`ciphermark_core.descriptor`) or by ``columns.csv``. If any text
changes, all views are dropped and recreated. The schema ``uncorrected`` has a second set, from the same texts over
results, ratios and samples without correction (``sql/uncorrected.sql``).
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import psycopg

from ciphermark_core import descriptor
from ciphermark_core.descriptor import DIMENSIONS
from ciphermark_core.errors import UserError
from ciphermark_core.experiments import EXPERIMENTS
from ciphermark_core.metrics import METRICS
from ciphermark_db import recording
from ciphermark_db.sql import blocks, filled

# as libpq writes versions: 15.0
OLDEST_SERVER = 150_000
# Tables whose columns get the comments of the views' columns, since users read them, too.
STATISTICS = ("case_info", "case_facts", "result", "ratio", "host_state")
_MADE = re.compile(rb"^create (view|function) (\w+)", re.MULTILINE)

# Units of published.csv → the measured unit, and the factor to it
_UNITS = {
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "MB": ("bytes", 1e6),
    "share": ("share", 1.0),
    "ratio": ("ratio", 1.0),
    "J": ("J", 1.0),
}
_BARE = ("share", "ratio")  # written without a unit in papers
_CASE = (
    *("variant", "experiment", "operation", "phase", "ring_dimension", "repetitions", "data_set"),
    *("threads", "level", "security", "provenance"),
)

Connection = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. A changed ``checksum`` reveals that its text changed after it was applied."""

    version: int
    name: str
    text: bytes

    @property
    def checksum(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text).hexdigest()


@dataclass(frozen=True, slots=True)
class ViewFile:
    """One file of ``views``. ``kind`` is ``view`` or ``function``."""

    position: int
    name: str
    kind: str
    text: bytes

    @property
    def row(self) -> tuple[int, str, str, str]:
        """Its row in the table ``view_file``; the checksum covers the meanings of columns."""
        text = self.text + repr(meanings()).encode() + blocks("uncorrected")["make"]
        return self.position, self.name, self.kind, hashlib.sha256(text).hexdigest()


def migrate(connection: Connection) -> None:
    """Apply pending migrations, create the views, fill the registries' tables and load published values.

    Concurrent migrations of the same database wait. Raises ``UserError`` for a server or a database that this program
    cannot use.
    """
    if connection.info.server_version < OLDEST_SERVER:
        raise UserError(
            f"PostgreSQL {connection.info.server_version // 10_000} is too old: "
            f"use {OLDEST_SERVER // 10_000} or later, or unset CIPHERMARK_DATABASE_URL"
        )
    with _alone(connection), connection.transaction():
        connection.execute(blocks("migrate")["create_schema_migration"])
        views = view_files()
        if (steps := _steps(connection)) or not _are_made(connection, views):
            _drop_views(connection)
            for step in steps:
                connection.execute(step)
            _make_views(connection, views)
        _fill_registries(connection)
        load_published(connection)


def is_current(connection: Connection) -> bool:
    """Whether the database has the views of this program."""
    is_there = connection.execute(blocks("views")["is_there"]).fetchone() == (True,)
    return is_there and _are_made(connection, view_files())


def migrations() -> list[Migration]:
    """All migrations of this program, oldest first."""
    texts = (file for file in (files("ciphermark_db") / "migrations").iterdir() if file.name.endswith(".sql"))
    split = ((file.name.removesuffix(".sql").split("_", 1), file.read_bytes()) for file in texts)
    return sorted((Migration(int(v), name, text) for (v, name), text in split), key=lambda m: m.version)


def pending(known: list[Migration], applied: Mapping[int, str]) -> list[Migration]:
    """The pending migrations, given the checksums of the applied ones by version.

    Raises ``UserError`` if the database has a migration that this program lacks or has with another text.
    """
    by_version = {migration.version: migration for migration in known}
    for version, checksum in applied.items():
        if version not in by_version:
            raise UserError(
                f"the database has migration {version}, but this version ends at {max(by_version)}: "
                "update Ciphermark, or use another database"
            )
        if by_version[version].checksum != checksum:
            raise UserError(
                f"migration {version} ({by_version[version].name}) differs from the text that was applied: "
                "use the Ciphermark version that created this database, or another database"
            )
    return [migration for migration in known if migration.version not in applied]


def _steps(connection: Connection) -> list[bytes]:
    """The statements that update the schema to this program's version, in order."""
    applied = dict(connection.execute(blocks("migrate")["applied"]).fetchall())
    steps = pending(migrations(), applied)
    return [text for step in steps for text in (step.text, _recorded(step))]


def _recorded(step: Migration) -> bytes:
    return filled(
        blocks("migrate")["record_migration"],
        version=str(step.version),
        name=step.name,
        checksum=step.checksum,
    )


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    connection.execute(blocks("migrate")["lock"])
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute(blocks("migrate")["unlock"])


# Columns of ``case_info`` that are no dimensions.
_KEYS = ("case_info_id", "run_id", "case_key", "comparison_group", "build_id", "parameter_set_id", "status")


def view_files() -> list[ViewFile]:
    """All views of this program, in order. Raises ``ValueError`` for a file that creates an object of another name.

    ``{{parameters}}`` stands for the dimensions that a library resolves, ``{{case_but_level}}`` for the columns of
    ``case_info`` except the level, ``{{but_operation}}`` for all dimensions except the operation and the level.
    """
    texts = (file for file in (files("ciphermark_db") / "views").iterdir() if file.name.endswith(".sql"))
    return sorted((_view(file.name, file.read_bytes()) for file in texts), key=lambda item: item.position)


def _view(file_name: str, text: bytes) -> ViewFile:
    position, name = file_name.removesuffix(".sql").split("_", 1)
    objects = [(kind.decode(), what.decode()) for kind, what in _MADE.findall(text)]
    if [what for _, what in objects] != [name]:
        raise ValueError(f"views/{file_name} must make {name} alone")
    columns = {
        "parameters": [
            item.name for item in descriptor.columns() if item.sources[0].startswith("parameters.")
        ],
        "case_but_level": [
            *_KEYS,
            *(item.name for item in descriptor.columns() if item.name != "level"),
        ],
        "but_operation": [
            item.name for item in descriptor.columns() if item.name not in ("operation", "level")
        ],
    }
    lists = {key: ", ".join(f"i.{each}" for each in names) for key, names in columns.items()}
    return ViewFile(int(position), name, objects[0][0], filled(text, **lists))


@cache
def meanings() -> dict[str, str]:
    """The meanings of columns by name, with the unit of numbers in brackets."""
    text = (files("ciphermark_db") / "columns.csv").read_text(encoding="utf-8")
    rows = [(row["column"], row["unit"], row["meaning"]) for row in csv.DictReader(text.splitlines())]
    rows += [(item.name, item.unit, item.sentence) for item in descriptor.columns()]
    return {name: f"{meaning} [{unit}]" if unit else meaning for name, unit, meaning in rows}


def _are_made(connection: Connection, views: list[ViewFile]) -> bool:
    """Whether the database's views come from these files."""
    return connection.execute(blocks("views")["made"]).fetchall() == [item.row for item in views]


def _drop_views(connection: Connection) -> None:
    """Drop all views and functions, the last first."""
    if connection.execute(blocks("views")["is_there"]).fetchone() == (True,):
        connection.execute(blocks("uncorrected")["drop"])
        connection.execute(blocks("views")["drop"])


def _make_views(connection: Connection, views: list[ViewFile]) -> None:
    """Create the views and comment on their columns. Requires that none of them exists."""
    uncorrected = blocks("uncorrected")
    for item in views:
        connection.execute(item.text)
    connection.execute(uncorrected["make"])
    connection.execute(uncorrected["begin"])
    for item in views:
        connection.execute(item.text)
    connection.execute(uncorrected["end"])
    described = {
        "views": [*(item.name for item in views), *STATISTICS],
        "names": [*meanings()],
        "meanings": [*meanings().values()],
    }
    for (comment,) in connection.execute(blocks("views")["comments"], described).fetchall():
        connection.execute(comment)
    with connection.cursor() as cursor:
        cursor.executemany(blocks("views")["record"], [item.row for item in views])


def _fill_registries(connection: Connection) -> None:
    """Write the rows of all registered metrics, dimensions and experiments; other rows stay."""
    sql = blocks("registries")
    registered = {
        "metric": [recording.metric_row(name) for name in METRICS],
        "dimension": [
            recording.dimension_row(name) for name, item in DIMENSIONS.items() if item.is_of_family
        ],
        "experiment": [asdict(row) for row in EXPERIMENTS.values()],
    }
    for table, rows in registered.items():
        stored = connection.execute(sql[f"{table}s"]).fetchall()
        with connection.cursor() as cursor:
            cursor.executemany(
                sql[f"fill_{table}"],
                [row for row in rows if tuple(row[name] for name in _COLUMNS[table]) not in stored],
            )


_COLUMNS: Mapping[str, Sequence[str]] = {
    "metric": (
        "name",
        "unit",
        "direction",
        "threshold",
        "threshold_kind",
        "label",
        "sentence",
        "adds_up",
        "probe",
    ),
    "dimension": ("name", "kind", "sentence"),
    "experiment": ("name", "determines", "is_until_exhausted"),
}


def load_published(connection: Connection, content: bytes | None = None) -> None:
    """Replace the content of the table ``published`` with the file's; does nothing if it is up to date.

    The file's last columns name the Ciphermark case that a result is about, and are empty if there is none. ``content``
    replaces the program's own file.
    """
    content = (files("ciphermark_db") / "published.csv").read_bytes() if content is None else content
    checksum = hashlib.sha256(content).hexdigest()
    sql = blocks("migrate")
    if connection.execute(sql["published_checksums"]).fetchall() == [(checksum,)]:
        return
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(sql["forget_published"])
        cursor.executemany(
            sql["record_published"], [row | {"checksum": checksum} for row in published_rows(content)]
        )


def published_rows(content: bytes) -> list[dict[str, Any]]:
    """The results of a file in Ciphermark's units, in file order; an empty field is ``None``. Pure."""
    lines = csv.DictReader(io.StringIO(content.decode(), newline=""))
    return [_published_row(number, line) for number, line in enumerate(lines, start=1)]


def _published_row(number: int, line: dict[str, str]) -> dict[str, Any]:
    unit, factor = _UNITS[line["unit"]]
    return {
        "id": number,
        "source": line["source"],
        "year": int(line["year"]),
        "system": line["system"],
        "host": line["host"],
        "scheme": line["scheme"],
        "result": line["case"],
        "metric": line["metric"].replace(" ", "_"),
        "unit": unit,
        "value": float(line["value"]) * factor,
        "stated": line["value"] if line["unit"] in _BARE else f"{line['value']} {line['unit']}",
        "note": line["note"] or None,
    } | {name: line[name] or None for name in _CASE}
