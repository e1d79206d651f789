"""Figures of one-time costs: the first execution in a process, the first touch of operands, key generation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present import formats, headings, subject
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import CHAIN, DATA, RANKED, SIZE, THREADS, VARIANT, N
from ciphermark_present.figure import Figure, Layout
from ciphermark_present.printed import Cells, Head, Wanted, of
from ciphermark_present.query import Row


def _cold_columns(rows: Sequence[Row], _: Wanted) -> Iterator[Cells]:
    yield of(RANKED)
    yield of(VARIANT)
    yield Head("cold", True), lambda row: formats.brief_seconds(row["cold_s"])
    yield Head("n", True), lambda row: str(row["cold_n"])
    yield Head("first touch", True, drop=1), lambda row: formats.brief_seconds(row["first_touch_s"])
    yield Head("warm", True), lambda row: formats.brief_seconds(row["warm_s"])
    yield Head("cold / warm", True), lambda row: formats.ratio(row["cold_ratio"])


LAYOUT = Layout(
    rows=lambda answers, _: [row for row in answers[0] if row["cold_s"] is not None],
    table=("ring_dimension", "log_qp", "scheme", "tuning", "vector_length", "data_pattern", "threads"),
    varied=lambda row: row["label"],
    order=lambda row: (row["label"], row["comparison_group"], row["variant"]),
    title="",
    about=lambda rows, _: (
        "Cold: first execution in a process. First touch: of operands never touched. Warm: median. "
        + headings.vector(rows)
    ),
    columns=_cold_columns,
    place=95,
    is_main=True,
    needs_details=True,
)
FIRST_EXECUTIONS = Figure(
    name="first-executions",
    title="Cold and warm executions",
    lead=("Time of the first execution in a process, of the first on new operands, and of warm executions."),
    reading=(
        "Cold: the first execution of an operation in a process that has only made keys and operands. Each "
        "process yields one value, unless it ran the operation before. First touch: one execution on operands"
        " that were never used, after the operation is warm. Neither is part of the warm samples."
    ),
    view="first_executions",
    subject=subject.OPERATION,
    order="label, ring_dimension, vector_length, data_pattern, threads, comparison_group, variant",
    page="/operations",
    printed=(LAYOUT,),
    columns=(
        RANKED,
        N,
        *columns.opened(CHAIN),
        SIZE,
        *columns.opened(DATA, THREADS),
        VARIANT,
        columns.seconds("cold_s", "Cold"),
        columns.seconds("first_touch_s", "First touch"),
        columns.seconds("warm_s", "Warm"),
        columns.ratio("cold_ratio", "Cold / warm"),
        *columns.opened(
            columns.count("cold_n", "Processes"),
            columns.count("n", "Touched"),
            columns.ratio("first_touch_ratio", "First touch / warm"),
        ),
    ),
)
