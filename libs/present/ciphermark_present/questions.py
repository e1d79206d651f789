"""Computations in a reader's words: operations here, workloads in the folders of their families."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ciphermark_present import families

_FILE = "questions.csv"


@dataclass(frozen=True, slots=True)
class Words:
    """A computation in a question (“which library is best to …”), and its name in a list."""

    question: str
    short: str
    place: int


def words(operation: str) -> Words:
    """The words of an operation or workload; its own name where there are none."""
    known = _words()
    return known.get(operation) or Words(f"run {operation}", operation, len(known))


@cache
def _words() -> dict[str, Words]:
    folders = sorted(files(families.PACKAGE).iterdir(), key=lambda folder: folder.name)
    texts = [
        file.read_text("utf-8")
        for file in (files(__package__) / _FILE, *(f / _FILE for f in folders))
        if file.is_file()
    ]
    rows = [row for text in texts for row in csv.DictReader(text.splitlines())]
    return {
        row["operation"]: Words(row["question"], row["short"] or row["question"], place)
        for place, row in enumerate(rows)
    }
