"""Measurement notes: once per library, next to the figures that they concern. Pure."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from ciphermark_present.query import Answer, Row

# The kind of a note's subjects: operations by their names without arguments, metrics, or objects that are not written.
About = Literal["operation", "metric", "object"]


@dataclass(frozen=True, slots=True)
class Note:
    """One text about variants of a library; ``subjects`` are the printed names of its subjects, ``names`` those in
    rows.
    """

    about: About
    variants: tuple[str, ...]
    subjects: tuple[str, ...]
    names: frozenset[str]
    text: str

    def __str__(self) -> str:
        return f"{', '.join(self.variants)} · {', '.join(self.subjects)}: {self.text}"

    def is_needed(self, column: str, rows: Iterable[Row]) -> bool:
        """Whether a figure needs the note, given its rows, which name subjects in ``column``. An object that is not
        written has no row, so the variant alone decides.
        """
        of_variants = [row for row in rows if row["variant"] in self.variants]
        if self.about == "object":
            return bool(of_variants)
        return any(str(row[column]).partition("(")[0] in self.names for row in of_variants)


@cache
def _texts() -> dict[tuple[str, str], str]:
    """Texts by library and metric, from a file generated from the adapters' declarations: this package may not import
    those.
    """
    text = (files("ciphermark_present") / "additions.csv").read_text(encoding="utf-8")
    return {(row["library"], row["metric"]): row["text"] for row in csv.DictReader(text.splitlines())}


def addition(row: Row) -> str:
    """A library's addition that the result of a row includes; empty where the library adds nothing."""
    return _texts().get((row["library"], row["meaning"]), "")


def with_additions(answer: Answer, _: Row) -> Answer:
    """The rows with an ``addition`` each. Pure."""
    rows = [(*row, addition(named)) for row, named in zip(answer.rows, answer.mappings, strict=True)]
    return Answer((*answer.columns, "addition"), rows)
