"""The figure of operations in a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present import charting, formats, parameters, sentences, subject
from ciphermark_present.catalogue.columns import (
    INTERVAL,
    LOG_QP,
    PEAK,
    PLACE,
    RANKED,
    REASON,
    SECURITY_2018,
    SIZE,
    STATUS,
    VARIANT,
    VECTOR,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.formats import seconds
from ciphermark_present.query import Row


def draw_repetitions(rows: Sequence[Row]) -> Chart | None:
    """Total time of so many operations on a full vector, one small chart per scheme, operation and division."""
    timed = [row for row in rows if row["median"] is not None]
    if not timed:
        return None
    timed = [
        row
        for label in dict.fromkeys(row["label"] for row in timed)
        for row in charting.fullest([row for row in timed if row["label"] == label])
    ]
    known = _named(timed)
    names = charting.variants_of(known)
    columns = ("variant", "what", "choice", "repetitions", "median", "ring_dimension")
    timings = alt.Chart().encode(
        x=alt.X("repetitions:Q", title="Operations in a row", axis=charting.whole_axis()),
        y=alt.Y("median:Q", title=None, scale=charting.log_scale(), axis=charting.seconds_axis()),
        color=charting.colour(names),
        tooltip=charting.tips(
            "variant:N", "repetitions:Q", alt.Tooltip("median:Q", format=".3s"), "ring_dimension:O"
        ),
    )
    lines = timings.mark_line(strokeWidth=1.5).encode(
        strokeDash=alt.StrokeDash("choice:N", title="Ring dimension")
    )
    points = timings.mark_point(filled=True, size=40, opacity=1).encode(shape=charting.shape(names))
    return charting.dressed(
        alt.layer(lines, points, data=charting.data(known, *columns))
        .properties(width=charting.WIDTH, height=charting.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )


def _named(rows: Sequence[Row]) -> list[Row]:
    """The rows with the chart that each stands in (``what``), and how its ring was chosen (``choice``)."""
    choose = _by_ring if _is_ring_varied(rows) else _by_rule
    labels = parameters.apart(rows, lambda row: (*_place(row), row["repetitions"], choose(row)))
    is_divided = len({row["division"] for row in rows}) > 1
    return [
        {
            **row,
            "what": charting.joined(
                row["label"], row["scheme"], f"division {row['division']}" if is_divided else "", label
            ),
            "choice": choose(row),
        }
        for row, label in zip(rows, labels, strict=True)
    ]


def _place(row: Row) -> tuple[str, str, str]:
    return row["label"], row["scheme"], row["division"]


def _is_ring_varied(rows: Sequence[Row]) -> bool:
    """Whether the suite gave some variant several ring dimensions for one and the same number of operations."""
    given = {
        (*_place(row), row["repetitions"], row["variant"], row["ring_dimension"])
        for row in rows
        if not row["ring_dimension_is_minimum"]
    }
    return len({place[:-1] for place in given}) < len(given)


def _by_ring(row: Row) -> str:
    return "smallest secure N" if row["ring_dimension_is_minimum"] else f"N = {row['ring_dimension']}"


def _by_rule(row: Row) -> str:
    return "smallest secure N" if row["ring_dimension_is_minimum"] else "given N"


def tell_repetitions(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The longest chain of each operation that was executed, and who has the least median time for it."""
    timed = [row for row in every if row["median"] is not None]
    told = []
    for rows in sentences.by(timed, "operation"):
        longest = max(row["repetitions"] for row in rows)
        best = min(
            (row for row in rows if row["repetitions"] == longest), key=lambda row: float(row["median"])
        )
        where = f"{best['variant']}, N = {best['ring_dimension']}"
        told.append(f"{longest:,} {best['operation']} in {seconds(best['median'])} ({where})")
    if told:
        yield f"In a row, {sentences.place(parameters)}: the most, with the least median time: {'; '.join(told)}."


REPETITIONS = Figure(
    name="repetitions",
    title="Operations in a row",
    lead=(
        "Median total time of so many operations in a row, at the smallest N that is secure for the chain and, where "
        "the suite names one, at a given N. The time axis is logarithmic."
    ),
    view="repetitions",
    subject=subject.REPETITION,
    narrowed_by=(*PLACE, *VECTOR),
    may_lack=("security_compared",),
    order="label, repetitions, size, ring_dimension_is_minimum desc, median nulls last, variant",
    tell=tell_repetitions,
    chart=draw_repetitions,
    columns=(
        RANKED,
        Column("repetitions", "In a row", formats.digits, is_number=True),
        VARIANT,
        N,
        SIZE,
        Column("ring_dimension_is_minimum", "Smallest secure N", formats.yes),
        STATUS,
        Column("median", "Total time", formats.seconds, is_number=True),
        *INTERVAL,
        PEAK,
        Column("bits_left", "Bits left", formats.bits, is_number=True),
        LOG_QP,
        SECURITY_2018,
        REASON,
    ),
)
