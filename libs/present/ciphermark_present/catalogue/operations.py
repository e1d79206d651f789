"""The figure that explains operations."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import OPERATION
from ciphermark_present.figure import Column, Figure
from ciphermark_present.query import Answer, Row


@cache
def _summaries() -> dict[str, str]:
    """The summary of each operation, from a file generated from the operation table: this package may not import the
    table.
    """
    text = (files("ciphermark_present") / "operations.csv").read_text(encoding="utf-8")
    return {row["operation"]: row["summary"] for row in csv.DictReader(text.splitlines())}


def explained(answer: Answer, _: Row) -> Answer:
    """The rows with a ``summary`` each; a run of another version may have unknown operations. Pure."""
    place = answer.columns.index(OPERATION.name)
    rows = [(*row, _summaries().get(row[place].partition("(")[0])) for row in answer.rows]
    return Answer((*answer.columns, "summary"), rows)


OPERATIONS = Figure(
    name="operations",
    title="Operations and their support",
    lead="Definition of each operation in this run, and the variants that tried it.",
    reading=(
        "Composite: the adapter combines several library calls. Unsupported: the library or the parameters of"
        " this run do not allow the operation."
    ),
    view="operations",
    subject=subject.OPERATION,
    narrowed_by=("scheme", "operation"),
    order="operation, experiment",
    derive=explained,
    page="/operations",
    printed=(),
    columns=(
        OPERATION,
        Column("summary", "What it is", formats.text, is_prose=True),
        Column("tried_by", "Tried by", formats.chain),
        Column("composite_in", "composite in", formats.chain),
        Column("unsupported_by", "Unsupported", formats.chain),
    ),
)
