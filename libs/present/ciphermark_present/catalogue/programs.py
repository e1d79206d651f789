"""Figures of the programs that a run's workloads executed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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


_MAX_PROGRAMS = 24
_MAX_LEVELS = 16  # side by side: more of them leave no room for numbers
_SHOWN_DIGITS = 6  # of a digest, in a heading
_SHADES = 9  # from light to dark; on the darker half white is easier to read


def draw_counts(rows: Sequence[Row]) -> Chart | None:
    """The number of times each operation occurs at each level, the highest first; a small chart for each program."""
    variants: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        variants.setdefault((_place(row), row["program"]), {})[row["variant"]] = None
    if not rows:
        return None
    shown = dict(list(variants.items())[:_MAX_PROGRAMS])
    cells = {
        (_place(row), row["program"], row["counted"], row["level"]): {
            **row,
            "place": f"{_place(row)}\n{', '.join(shown[_place(row), row['program']])}",
        }
        for row in rows
        if (_place(row), row["program"]) in shown
    }
    title = f"{_MAX_PROGRAMS} of {len(variants)} programs are drawn; filters show others"
    chart = _drawn(list(cells.values()))
    return chart.properties(title=title) if len(variants) > len(shown) else chart


def _place(row: Row) -> str:
    """The name of a small chart, in lines, without the variants that executed the program."""
    given = row["options"] or f"{row['vector_length']:,}"
    digest = row["program"][:_SHOWN_DIGITS]
    return f"{row['operation']}, {row['stage']}\n{given}, {row['scheme']} · {digest}"


def _drawn(rows: Sequence[dict[str, Any]]) -> alt.FacetChart:
    darkest = math.log(max(10, *(row["n"] for row in rows)))
    for row in rows:
        row["shade"] = round((_SHADES - 1) * math.log(max(1, row["n"])) / darkest)
    base = alt.Chart().encode(
        x=alt.X("level:O", title="Level", scale=alt.Scale(reverse=True), axis=alt.Axis(labelAngle=0)),
        y=alt.Y("counted:N", title=None),
        tooltip=charting.tips("place:N", "counted:N", "level:O", alt.Tooltip("n:Q", format=",")),
    )
    # Shades, not numbers: filters on numbers would separate the layers, which then no longer share their axes.
    scale = alt.Scale(scheme="blues", domain=list(range(_SHADES)))
    squares = base.mark_rect().encode(color=alt.Color("shade:O", scale=scale, legend=None))
    is_light = f"datum.shade < {_SHADES // 2}"
    numbers = base.mark_text(style=theme.TEXT).encode(
        text=alt.Text("n:N"), color=alt.condition(is_light, alt.value("#000000"), alt.value("#ffffff"))
    )
    layers = [squares, numbers] if len({row["level"] for row in rows}) <= _MAX_LEVELS else [squares]
    header = alt.Header(labelExpr="split(datum.value, '\\n')")
    order = list(dict.fromkeys(row["place"] for row in rows))
    chart = alt.layer(*layers, data=charting.data(rows, "place", "counted", "level", "n", "shade"))
    return charting.small_charts(chart, "place", order, height=alt.Step(20), scales=("x",), header=header)


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
        OPTIONS,
        SIZE,
        THREADS,
        VARIANT,
        PROGRAM,
        Column("is_equal_program", "Same for all", formats.yes),
        columns.count("nodes", "Nodes"),
        columns.count("program_depth", "Multiplicative depth"),
        columns.count("constants", "Constants"),
        columns.count("live_ciphertexts", "Live ciphertexts"),
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
    chart=draw_counts,
    printed=(),
    columns=(
        WORKLOAD,
        STAGE,
        SCHEME,
        OPTIONS,
        SIZE,
        VARIANT,
        PROGRAM,
        Column("level", "Level", formats.text, is_number=True),
        Column("counted", "Operation"),
        columns.count("n", "Times"),
    ),
    empty="This run has no program under these filters: only workloads have programs.",
)
