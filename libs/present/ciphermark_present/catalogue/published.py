"""Values that others published, next to ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import formats, parameters, subject
from ciphermark_present.catalogue.columns import SCHEME, opened
from ciphermark_present.figure import Column, Figure
from ciphermark_present.printed import Head, Printed, grouped, told_once
from ciphermark_present.query import Answer, Row

_TOGETHER = (
    *("source", "year", "published_host", "system", "scheme", "result", "metric", "unit"),
    *("note", "provenance", "published_security"),
)
_LISTS = ("thread_counts", "published_values")
_ADDED = (*_LISTS, "speedup")


def with_threads(answer: Answer, _: Row) -> Answer:
    """The rows, those that differ in their threads alone and have none of ours as one, with the ``thread_counts`` and
    the ``published_values`` of all. Pure.
    """
    names = (*answer.columns, *_ADDED)
    rows = []
    for group in grouped(answer.mappings, _together):
        values = [row["published_value"] for row in group]
        own = {
            "thread_counts": [row["published_threads"] for row in group if row["published_threads"]],
            "published_values": values,
            "speedup": values[0] / min(values) if len(values) > 1 and group[0]["unit"] == "s" else None,
        }
        rows.append(tuple((group[0] | own)[name] for name in names))
    return Answer(names, rows)


def _together(row: Row) -> tuple[Any, ...]:
    is_single = row["median"] is not None or row["published_threads"] is None
    return tuple(row[name] for name in _TOGETHER) + ((row["id"], row["case_key"]) if is_single else ())


def _values(row: Row) -> str:
    """The published values of a row; they share a unit where it is the same."""
    texts = [formats.brief_quantity(value, row["unit"]) for value in row["published_values"]]
    units = {text.rpartition(" ")[2] for text in texts}
    if len(texts) > 1 and len(units) == 1:
        return f"{', '.join(text.rpartition(' ')[0] for text in texts)} {units.pop()}"
    return ", ".join(texts)


def _thread_counts(row: Row) -> str:
    return ", ".join(map(str, row["thread_counts"]))


def _speedup(row: Row) -> str:
    """The largest speedup over one thread, with its number of threads."""
    if row["speedup"] is None:
        return ""
    if row["speedup"] == 1:
        return "none"
    least = min(row["published_values"])
    return f"{formats.ratio(row['speedup'])} at {row['thread_counts'][row['published_values'].index(least)]}"


def _ends(row: Row) -> Row:
    """The row with its first and last number of threads alone, for little room."""
    return {**row, **{name: list(dict.fromkeys((*row[name][:1], *row[name][-1:]))) for name in _LISTS}}


PUBLISHED = Figure(
    name="published",
    title="Published results next to this run",
    lead="Results from papers, each with its host. They are never ranked.",
    reading=("Hosts differ, and parameters may differ: published results do not compare libraries."),
    view="published",
    narrowed_by=(),
    order="id, operation, ring_dimension, ring_dimension_is_minimum, median",
    derive=with_threads,
    printed=(),
    columns=(
        Column("result", "Result", is_prose=True),
        replace(SCHEME, write=str.upper),
        Column("system", "System"),
        Column("thread_counts", "Threads", text=_thread_counts),
        Column("published_value", "Published", is_number=True, text=_values),
        Column("speedup", "Speedup by threads", is_number=True, text=_speedup, detail=3),
        Column("median", "Ours", is_number=True, unit="unit"),
        Column("variant", "Our variant", formats.text),
        Column("operation", "Our case", formats.text),
        *opened(
            Column("published_security", "Security (2024)", formats.level, is_warning=lambda bits: bits == 0),
            Column("ring_dimension", "Our N", formats.text, is_number=True),
            Column("source", "Source", is_prose=True),
            Column("year", "Year", formats.text, is_number=True),
            Column("published_host", "Measured on", is_prose=True),
            Column("note", "Note", formats.text, is_prose=True),
            Column("provenance", "Origin", formats.text, is_prose=True),
        ),
    ),
)


def about(name: str, *experiments: str, **own: Any) -> Figure:
    """The figure, with the values about some experiments. It has rows for every run."""
    return replace(PUBLISHED, name=name, where={"experiment": [*experiments]}, **own)


OPERATIONS = about(
    "published-operations",
    *(*subject.OPERATION.experiments, *subject.REPETITION.experiments),
    title="Published costs",
    lead="From papers, each with host and security. They are never ranked.",
    reading=(
        "Values of one result by threads share a row; a row with ours has one number of threads. Ours have the same "
        "operation, N, level, threads and security. CryptOracle (2026) times OpenFHE without HEXL at the top level of "
        "11 primes, from fresh processes, and decrypts no result. Spread is the range of its three runs divided by "
        "their median. docs/explanation/published-primitives.md states what differs."
    ),
)
ABOUT = "Hosts differ, and parameters may differ: do not compare libraries by these values."
_UNSTATED = "unstated"
_HEADS = (
    Head("system"),
    Head("scheme"),
    Head("result", is_prose=True, min_width=24),
    Head("threads", drop=1),
    Head("published", True),
    Head("security", drop=2),
    Head("note", is_prose=True, drop=3),
    Head("ours", True),
    Head("95% interval", True, drop=1),
    Head("our case", is_prose=True, min_width=24),
)
_NAMES = 3  # columns that name the published value
_STATED = 7  # columns of the published value, printed once for all of ours


def tables(rows: Sequence[Row]) -> Iterator[Printed]:
    """A table per source and host of the rows of the figure ``published``."""
    for same in grouped(
        told_apart(_with_threads(rows)), lambda row: (row["source"], row["year"], row["published_host"])
    ):
        source, year, host = same[0]["source"], same[0]["year"], same[0]["published_host"]
        place = "on an unstated host" if host == _UNSTATED else f"on {host}"
        texts = [(*_published(row), *_ours(row)) for row in same]
        filled = [index for index, cells in enumerate(zip(*texts, strict=True)) if any(cells)]
        rows_shown = tuple(tuple(row[index] for index in filled) for row in told_once(texts, _STATED))
        heads = tuple(_HEADS[index] for index in filled)
        yield Printed(f"{source}, {year}, measured {place}", "", heads, rows_shown, keys=_NAMES)


def _with_threads(rows: Sequence[Row]) -> Sequence[Row]:
    answer = Answer(tuple(rows[0]), [tuple(row.values()) for row in rows]) if rows else Answer((), [])
    return with_threads(answer, {}).mappings


def told_apart(rows: Sequence[Row]) -> list[Row]:
    """The rows. A row with a case of ours has the words that distinguish it from others next to the same published
    value.
    """
    measured = [row for row in rows if row["median"] is not None]
    labels = parameters.apart(measured, lambda row: (row["id"], row["variant"], row["operation"]))
    of_case = {(row["id"], row["case_key"]): label for row, label in zip(measured, labels, strict=True)}
    return [{**row, "apart": of_case.get((row["id"], row["case_key"]), "")} for row in rows]


def _published(row: Row) -> tuple[str, ...]:
    bits = row["published_security"]
    security = "" if bits is None else formats.security(bits)
    note = "; ".join(filter(None, (row["note"], row["provenance"])))
    ends = _ends(row)
    return (
        row["system"],
        row["scheme"].upper(),
        row["result"],
        _thread_counts(ends).replace(", ", " to "),
        _values(ends).replace(", ", " to "),
        security,
        note,
    )


def _ours(row: Row) -> tuple[str, str, str]:
    """Our result, its interval, and its parameters."""
    if row["median"] is None:
        return formats.NOTHING, "", ""
    place = case(row)
    if row["unit"] == "s":
        return (*formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"]), place)
    bounds = "" if row["ci_low"] is None else formats.interval(row["ci_low"], row["ci_high"], 1e-6)
    return formats.brief_quantity(row["median"], row["unit"]), bounds, place


def case(row: Row) -> str:
    """Our case in words: variant, operation and parameters."""
    ring = f"N {row['ring_dimension']}{' (smallest)' if row['ring_dimension_is_minimum'] else ''}"
    level = f"{formats.security(row['security_2018'])} (2018)"
    own = parameters.told(row, (*parameters.MESSAGE, *parameters.TUNING))
    parts = (f"{row['variant']} {row['operation']}", ring, level, own, row["apart"])
    return ", ".join(dict.fromkeys(part for text in parts for part in text.split(", ") if part))
