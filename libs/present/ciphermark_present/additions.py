"""What libraries add on purpose, beside the figure that pays for it."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from ciphermark_present.answer import Answer, Row


@cache
def _texts() -> dict[tuple[str, str], str]:
    """By library and metric, of a file that is made of the adapters' declarations: nobody here may know those."""
    text = (files("ciphermark_present") / "additions.csv").read_text(encoding="utf-8")
    return {(row["library"], row["metric"]): row["text"] for row in csv.DictReader(text.splitlines())}


def addition(row: Row) -> str:
    """What the library of a row adds that the row's figure pays for; empty where it adds nothing."""
    return _texts().get((row["library"], row["meaning"]), "")


def with_additions(answer: Answer, _: Row) -> Answer:
    """The rows with an ``addition`` each. Pure."""
    told = [(*row, addition(named)) for row, named in zip(answer.rows, answer.mappings, strict=True)]
    return Answer((*answer.columns, "addition"), told)
