"""Figures of the programs that a run's workloads executed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, subject, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import OPTIONS, SCHEME, SIZE, THREADS, VARIANT, WORKLOAD
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.query import Row

TOLD_DIGITS = 12  # of a digest


def tell_equal(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The stages, of those that several variants executed, in which their programs differ."""
    stages = {
        (row["comparison_group"], row["stage"]): row for row in every if row["is_equal_program"] is not None
    }
    unequal = [row for row in stages.values() if not row["is_equal_program"]]
    if not stages:
        return
    names = dict.fromkeys(f"{row['operation']}, {row['stage']} ({row['scheme'].upper()})" for row in unequal)
    suffix = f"; not in {'; '.join(names)}" if names else ""
    yield (
        f"Programs: in {len(stages) - len(unequal)} of {len(stages)} stages that several variants executed, their "
        f"programs were equal{suffix}."
    )


_MAX_LEVELS = 16  # side by side: more of them leave no room for numbers
_SHOWN_DIGITS = 6  # of a digest, in a heading
_DARKEST = 0.45  # share of the ground's shade, on which a number is still easy to read


def draw_counts(rows: Sequence[Row]) -> Chart | None:
    """The number of times each operation occurs at each level, the highest first; a small chart for each program."""
    variants: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        variants.setdefault((_place(row), row["program"]), {})[row["variant"]] = None
    if not rows:
        return None
    cells = {
        (_place(row), row["program"], row["counted"], row["level"]): {
            **row,
            "panel": f"{_place(row)}\n{', '.join(variants[_place(row), row['program']])}",
        }
        for row in rows
    }
    drawn, _ = charting.enough(list(cells.values()), "panel", least=1)
    rest = len(variants) - len({row["panel"] for row in drawn})
    chart = _drawn(drawn)
    return (
        chart.properties(**charting.noted([f"In the table only: {rest} other programs"])) if rest else chart
    )


def find_counts(rows: Sequence[Row]) -> str:
    """The operation that programs execute most often."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in {(row["program"], row["counted"], row["level"]): row for row in rows}.values():
        counts[row["program"], row["counted"]] += row["n"]
    (program, counted), most = counts.most_common(1)[0]
    operation = next(row["operation"] for row in rows if row["program"] == program)
    return f"{operation} executes {counted} most often: {most:,} times"


def _place(row: Row) -> str:
    """The name of a small chart, in lines, without the variants that executed the program."""
    given = row["options"] or formats.values(row["vector_length"])
    digest = row["program"][:_SHOWN_DIGITS]
    return f"{row['operation']}, {row['stage']}\n{given}\n{row['scheme']} · {digest}"


def _drawn(rows: Sequence[dict[str, Any]]) -> alt.FacetChart:
    darkest = math.log(max(10, *(row["n"] for row in rows)))
    for row in rows:
        row["shade"] = round(_DARKEST * math.log(max(1, row["n"])) / darkest, 2)
    base = alt.Chart().encode(
        x=alt.X(
            "level:O",
            title="Level",
            scale=alt.Scale(reverse=True),
            axis=alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=4),
        ),
        y=alt.Y("counted:N", title=None),
    )
    # Shades as names: filters on numbers would separate the layers, which then no longer share their axes.
    shades = sorted({row["shade"] for row in rows})
    shade = alt.Opacity("shade:O", legend=None, scale=alt.Scale(type="ordinal", domain=shades, range=shades))
    tips = charting.tips("panel:N", "counted:N", "level:O", alt.Tooltip("n:Q", format=","))
    cells = base.mark_rect(style=theme.COUNT).encode(opacity=shade, tooltip=tips)
    numbers = base.mark_text(style=theme.TEXT).encode(text=alt.Text("n:N"))
    layers = [cells, numbers] if len({row["level"] for row in rows}) <= _MAX_LEVELS else [cells]
    header = alt.Header(labelExpr="split(datum.value, '\\n')")
    order = list(dict.fromkeys(row["panel"] for row in rows))
    chart = alt.layer(*layers, data=charting.data(rows, "panel", "counted", "level", "n", "shade"))
    return charting.small_charts(chart, "panel", order, height=alt.Step(20), axes=("x",), header=header)


_NOTHING = "This run executed no program under these filters: workloads do."


def _digest(value: str) -> str:
    """Enough of a digest to distinguish programs; files have the whole."""
    return value[:TOLD_DIGITS]


STAGE = Column("stage", "Stage")
PROGRAM = Column("program", "Program", _digest)
PROGRAMS = Figure(
    name="programs",
    title="Programs by stage",
    lead="Program that each variant executed in each stage.",
    reading=(
        "A program's name is the hash of its operations, modulus chain and constants: equal names are equal "
        "computations. Times of unequal programs also reflect their differences. The command “ciphermark "
        "program draw RUN” draws their graphs."
    ),
    view="programs",
    subject=subject.WORKLOAD,
    order="operation, scheme, options, vector_length, threads, stage, program, variant",
    tell=tell_equal,
    printed=(),
    columns=(
        WORKLOAD,
        STAGE,
        SCHEME,
        replace(OPTIONS, detail=3),
        *columns.opened(SIZE, THREADS),
        VARIANT,
        PROGRAM,
        Column("is_equal_program", "Same for all", formats.yes),
        columns.count("nodes", "Nodes"),
        *columns.opened(
            columns.count("program_depth", "Multiplicative depth"),
            columns.count("constants", "Constants"),
            columns.count("live_ciphertexts", "Live ciphertexts"),
        ),
    ),
    empty="This run has no program under these filters: only workloads have programs.",
)
COUNTS = Figure(
    name="program-counts",
    title="Operations by level",
    lead="Number of executions of each operation in a program, by level.",
    reading=(
        "The level is that of the first operand: the number of remaining rescalings or modulus switches. Each"
        " chart is one program, with the variants that executed it."
    ),
    view="program_counts",
    subject=subject.WORKLOAD,
    order="operation, scheme, options, vector_length, stage, program, variant, level desc, counted",
    finding=find_counts,
    chart=draw_counts,
    printed=(),
    columns=(
        WORKLOAD,
        STAGE,
        SCHEME,
        replace(OPTIONS, detail=3),
        *columns.opened(SIZE),
        VARIANT,
        *columns.opened(PROGRAM),
        Column("level", "Level", formats.text, is_number=True),
        Column("counted", "Operation"),
        columns.count("n", "Times"),
    ),
    empty="This run has no program under these filters: only workloads have programs.",
)
