"""Runs that Ciphermark ships: pages show them where nothing else answers."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path

from ciphermark_benchmark import archive
from ciphermark_benchmark.runner.journal import Header
from ciphermark_core import wire
from ciphermark_db.database import Database

FOLDER = Path(__file__).with_name("reference")
# By suite; pages prefer the last one that has something for them.
ORDER = ("deep-lattigo", "deep", "bootstrapping", "pir-report", "seal-vs-openfhe", "quick", "tenseal-ml")
BY_HAND = ("primitives",)  # half a minute of importing: no new database begins with it


def add(database: Database) -> list[str]:
    """Record the shipped runs, and return the labels of the new ones: ``reference-SUITE``.

    Each is recorded once in the life of a database: a deleted one stays deleted, and one that a user has imported stays
    the user's.
    """
    labels = []
    for name in ORDER:
        path = FOLDER / f"{name}.jsonl.xz"
        if database.has_had_reference(run_id(path)):
            continue
        header, outcomes = archive.read(path)
        label = f"reference-{name}"
        database.add_reference(replace(header.run, label=label), outcomes)
        labels.append(label)
    return labels


def run_id(path: Path) -> str:
    """The id of an archive's run, from its first line."""
    with lzma.open(path) as file:
        return wire.from_line(file.readline(), Header).run.id
