"""Charts of retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ciphermark_present import formats, parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, style
from ciphermark_present.charts.style import Chart


def against_size(rows: Sequence[Row]) -> Chart | None:
    """Time of an answer by the size of the database, one small chart per protocol, scheme and length of what is got.

    Levels, threads and several queries in a pass stand apart: their times are not to be compared.
    """
    timed = [row for row in rows if row["answer_s"]]
    if not timed:
        return None
    labels = parameters.apart(timed, lambda row: (_protocol(row), row["database_size"]))
    known = [
        {**row, "what": places.joined(_protocol(row), label)}
        for row, label in zip(timed, labels, strict=True)
    ]
    names = style.variants_of(known)
    sizes = [row["database_size"] for row in known]
    columns = ("variant", "what", "database_size", "answer_s", "ring_dimension")
    times = alt.Chart().encode(
        x=alt.X("database_size:Q", title="Database", scale=style.log_scale(), axis=style.sizes_axis(sizes)),
        y=alt.Y("answer_s:Q", title=None, scale=style.log_scale(), axis=style.seconds_axis()),
        color=style.colour(names),
        tooltip=style.tips(
            "variant:N",
            alt.Tooltip("database_size:Q", format=".3s"),
            alt.Tooltip("answer_s:Q", format=".3s"),
            "ring_dimension:O",
        ),
    )
    lines = times.mark_line(strokeWidth=1.5)
    points = times.mark_point(filled=True, size=40, opacity=1).encode(shape=style.shape(names))
    return style.dressed(
        alt.layer(lines, points, data=style.data(known, *columns))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(y="independent")
    )


def moved(rows: Sequence[Row]) -> Chart | None:
    """Bytes of query and answer against the answer's time, both for each element that is got: a mark for each protocol
    and variant, one small chart for each database and length of an element. A line joins those that no other beats in
    both, the Pareto front.
    """
    known = _with_front(rows)
    if not known:
        return None
    names = style.variants_of(known)
    columns = ("variant", "what", "operation", "moved", "element_s", "answers", "inputs", "is_unbeaten")
    places_of = alt.Chart().encode(
        x=alt.X(
            "moved:Q",
            title="Query and answer, an element",
            scale=style.log_scale(),
            axis=style.bytes_axis((row["moved"] for row in known), 4),
        ),
        y=alt.Y("element_s:Q", title=None, scale=style.log_scale(), axis=style.seconds_axis()),
    )
    front = places_of.mark_line(color=style.GREY, strokeWidth=1, strokeDash=[4, 3]).transform_filter(
        alt.datum.is_unbeaten
    )
    points = places_of.mark_point(filled=True, size=70, opacity=1).encode(
        color=style.colour(names),
        shape=alt.Shape("operation:N", title="Protocol"),
        tooltip=style.tips(
            "operation:N",
            "variant:N",
            alt.Tooltip("moved:Q", format=".3s"),
            alt.Tooltip("element_s:Q", format=".3s"),
            "answers:Q",
            "inputs:Q",
        ),
    )
    return style.dressed(
        alt.layer(front, points, data=style.data(known, *columns))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )


def at_once(rows: Sequence[Row]) -> Chart | None:
    """Time of an element by how many a pass brings, one small chart for each database and length of an element. A line
    joins cases that differ in the number of queries alone.
    """
    known = [{**row, "what": _database(row), "alike": _alike(row)} for row in rows if row["element_s"]]
    if not known:
        return None
    names = style.variants_of(known)
    columns = ("variant", "what", "operation", "alike", "got", "element_s", "inputs", "answers")
    times = alt.Chart().encode(
        x=alt.X("got:Q", title="Elements of a pass", scale=style.log_scale(), axis=_counts(known)),
        y=alt.Y("element_s:Q", title=None, scale=style.log_scale(), axis=style.seconds_axis()),
        color=style.colour(names),
        tooltip=style.tips(
            "operation:N", "variant:N", "inputs:Q", "answers:Q", alt.Tooltip("element_s:Q", format=".3s")
        ),
    )
    lines = times.mark_line(strokeWidth=1.5).encode(detail="alike:N")
    points = times.mark_point(filled=True, size=70, opacity=1).encode(
        shape=alt.Shape("operation:N", title="Protocol")
    )
    return style.dressed(
        alt.layer(lines, points, data=style.data(known, *columns))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(y="independent")
    )


def _alike(row: Row) -> str:
    """What cases that differ in the number of queries alone have in common."""
    options = {name: value for name, value in row["dimensions"].items() if name != "batch"}
    return f"{row['operation']} {row['variant']} {row['parameter_set_id']} {sorted(options.items())}"


def _counts(rows: Sequence[Row]) -> alt.Axis:
    return alt.Axis(format=",", values=sorted({row["got"] for row in rows}), labelOverlap="parity")


def _with_front(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows whose bytes and time are known, each with the small chart that it is in, and whether none beats it."""
    known = [
        {
            **row,
            "moved": (row["upload"] + row["download"]) / (row["inputs"] * row["answers"]),
            "what": _database(row),
        }
        for row in rows
        if row["element_s"] and row["upload"] and row["download"]
    ]
    return [{**row, "is_unbeaten": not any(_beats(other, row) for other in known)} for row in known]


def _beats(one: Row, other: Row) -> bool:
    """Whether it is better in one and worse in none, in the same small chart."""
    mine, its = ((row["moved"], row["element_s"]) for row in (one, other))
    return one["what"] == other["what"] and mine != its and mine[0] <= its[0] and mine[1] <= its[1]


def _protocol(row: Row) -> str:
    return places.joined(row["operation"], row["scheme"], _got(row), formats.level(row["security_2018"]))


def _database(row: Row) -> str:
    element = f"{formats.size(row['answered_size'] / row['answers'])} an element"
    database = f"{formats.size(row['database_size'])}, {element}"
    return places.joined(database, row["scheme"], _threads(row), formats.level(row["security_2018"]))


def _got(row: Row) -> str:
    """How much a query brings; how many there are in a pass, where not one."""
    queries = f"{row['inputs']} queries" if row["inputs"] > 1 else ""
    return places.joined(f"{formats.size(row['answered_size'])} got", queries, _threads(row))


def _threads(row: Row) -> str:
    return f"{row['threads']} threads" if row["threads"] > 1 else ""
