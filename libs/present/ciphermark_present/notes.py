"""Measurement notes: once per library, beside the figures that they are about. Pure."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from ciphermark_present.query import Answer, Row

# What a note's subjects are: operations by their names without arguments, metrics, or objects that are not written.
About = Literal["operation", "metric", "object"]


@dataclass(frozen=True, slots=True)
class Note:
    """One text about variants of a library; ``subjects`` are as they are told, ``names`` what rows are known by."""

    about: About
    variants: tuple[str, ...]
    subjects: tuple[str, ...]
    names: frozenset[str]
    text: str

    def __str__(self) -> str:
        return f"{', '.join(self.variants)} · {', '.join(self.subjects)}: {self.text}"

    def is_needed(self, column: str, rows: Iterable[Row]) -> bool:
        """Whether a figure needs it whose rows name in ``column`` what notes are about: of an object that is not
        written there is no row, so that the variant decides.
        """
        of_variants = [row for row in rows if row["variant"] in self.variants]
        if self.about == "object":
            return bool(of_variants)
        return any(str(row[column]).partition("(")[0] in self.names for row in of_variants)


@cache
def _texts() -> dict[tuple[str, str], str]:
    """By library and metric, of a file that is made of the adapters' declarations: nobody here may know those."""
    text = (files("ciphermark_present") / "additions.csv").read_text(encoding="utf-8")
    return {(row["library"], row["metric"]): row["text"] for row in csv.DictReader(text.splitlines())}


def addition(row: Row) -> str:
    """What the library of a row adds that the row's result pays for; empty where it adds nothing."""
    return _texts().get((row["library"], row["meaning"]), "")


def with_additions(answer: Answer, _: Row) -> Answer:
    """The rows with an ``addition`` each. Pure."""
    rows = [(*row, addition(named)) for row, named in zip(answer.rows, answer.mappings, strict=True)]
    return Answer((*answer.columns, "addition"), rows)
