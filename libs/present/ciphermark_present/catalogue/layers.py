"""Figures of layers: the distribution of a server's time within a circuit, and each part's distance from the plaintext
result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, headings, parameters, sentences, stacks
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    BUILD,
    OPTIONS,
    SCHEME,
    SECURITY_2018,
    THREADS,
    WORKLOAD,
    N,
)
from ciphermark_present.charting import Chart
from ciphermark_present.figure import Column, Figure, Layout
from ciphermark_present.formats import seconds, share
from ciphermark_present.printed import Cells, Head, Wanted, grouped, of
from ciphermark_present.query import Row, is_disturbed

_PLACE = ("operation", "options", "scheme", "threads", "security_shown")


def tell_longest(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The layer with the longest time, for the variant whose layers together take the shortest time."""
    cases: dict[str, list[Row]] = {}
    for row in every:
        cases.setdefault(row["case_key"], []).append(row)
    least: dict[tuple[object, ...], list[Row]] = {}
    for rows in cases.values():
        if any(is_disturbed(row, "layer_time") for row in rows):
            continue
        place = tuple(rows[0][name] for name in _PLACE)
        if place not in least or _together(rows) < _together(least[place]):
            least[place] = rows
    for rows in least.values():
        most = max(rows, key=lambda row: row["layer_time"])
        options = f", {most['options']}" if most["options"] else ""
        threads = "" if most["threads"] == 1 else f", {most['threads']} threads"
        yield (
            f"{most['operation']}{options} in {most['scheme'].upper()} at {sentences.level_and_table(most)}{threads}, "
            f"{most['variant']}: most of its time is that of “{most['layer']}”, {share(most['layer_share'])} of "
            f"{seconds(_together(rows))}."
        )


def _together(rows: Sequence[Row]) -> float:
    return float(sum(row["layer_time"] for row in rows))


def draw_layers(rows: Sequence[Row]) -> Chart | None:
    """Shares of layers: a bar for each variant, one small chart for each workload with its options, scheme, level and
    number of threads.
    """
    return stacks.bars(_parts(rows))


def find_longest(rows: Sequence[Row]) -> str:
    """The layer that takes most of the time, over all bars."""
    part, share = next(iter(stacks.shares(_parts(rows)).items()), ("", 0.0))
    return f"“{part}” takes {share:.0%} of the server's time" if part else ""


def _parts(rows: Sequence[Row]) -> list[Row]:
    """The parts of bars."""
    layers = [row for row in rows if row["layer_time"]]
    timed = [{**row, "panel": panel} for row, panel in zip(layers, _charts(layers), strict=True)]
    apart = parameters.apart(timed, lambda row: row["panel"])
    return [
        {
            **charting.as_seconds(row, "layer_time"),
            "bar": stacks.bar_name(row["variant"], label),
            "part": row["layer"],
            "place": row["position"],
        }
        for row, label in zip(timed, apart, strict=True)
    ]


def _charts(rows: Sequence[Row]) -> list[str]:
    """The small chart of each row: its computation, and in a line below it the options in which rows differ."""
    names = sorted({name for row in rows for name in row["dimensions"]})
    varied = [name for name in names if len({row["dimensions"].get(name) for row in rows}) > 1]
    return [
        "\n".join(filter(None, (_computed(row), ", ".join(_options(row["dimensions"], varied)))))
        for row in rows
    ]


def _options(dimensions: Mapping[str, Any], varied: Sequence[str]) -> list[str]:
    return [f"{name} {dimensions[name]}" for name in varied if name in dimensions]


def _computed(row: Row) -> str:
    level = sentences.stated_level(row)
    return charting.joined(row["operation"], row["scheme"], level, sentences.threads(row))


def _counts(operations: Mapping[str, int] | None) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted((operations or {}).items())) or formats.NOTHING


COLUMNS = (
    WORKLOAD,
    replace(OPTIONS, detail=4),
    SCHEME,
    *columns.opened(THREADS),
    BUILD,
    *columns.opened(N, SECURITY_2018),
    Column("layer", "Layer"),
    *columns.opened(
        Column("level", "From level", formats.text, is_number=True),
        Column("end_level", "To level", formats.text, is_number=True),
        Column("end_scale_bits", "Scale, bits", formats.bits, is_number=True),
        Column("operations", "Operations", _counts),
        columns.size("operand_bytes", "Takes"),
        columns.size("result_bytes", "Gives"),
    ),
    columns.seconds("layer_time", "Time"),
    columns.interval(lambda row, *bounds: formats.interval_of(row["layer_time"], *bounds)),
    columns.share("layer_share", "Share"),
    *columns.opened(
        columns.count("layer_largest", "Largest value"),
        Column("layer_error", "Largest error", formats.small, is_number=True),
    ),
)
OF_VALUES = ("end_scale_bits", "layer_largest", "layer_error")  # only circuits over floating point have these


def _cases(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
    """One row for the layers of each case, with their times by name, and the words that distinguish it from other cases
    of its workload.
    """
    cases: list[Row] = []
    for rows in grouped(answers[0], lambda row: (row["case_key"], row["parameter_set_id"])):
        first = rows[0]
        workload = charting.joined(first["operation"], first["options"] or "", sentences.threads(first))
        cases.append(
            {
                **first,
                "workload": workload,
                "times": {row["layer"]: row["layer_time"] for row in rows},
                "disturbed_times": [name for row in rows for name in row.get("disturbed_times") or ()],
            }
        )
    labels = parameters.apart(cases, lambda row: (row["scheme"], sentences.shown_level(row), row["workload"]))
    return [
        {**row, "workload": charting.joined(row["workload"], label)}
        for row, label in zip(cases, labels, strict=True)
    ]


def _whole(row: Row) -> float:
    return float(sum(row["times"].values()))


def _shares(row: Row) -> str:
    return ", ".join(f"{name} {seconds / _whole(row):.0%}" for name, seconds in row["times"].items())


def _listed(rows: Sequence[Row], _: Wanted) -> Iterator[Cells]:
    yield Head("workload"), lambda row: str(row["workload"])
    yield of(BUILD)
    yield from headings.cells(rows)
    yield (
        Head("together", is_number=True),
        lambda row: columns.disturbance(bool(row["disturbed_times"])) + formats.brief_seconds(_whole(row)),
    )
    yield Head("layers", is_prose=True), _shares


# The layout of a family's layers, where its figure keeps this name: a row for each case.
LAYOUT = Layout(
    title="Layers",
    rows=_cases,
    order=lambda row: (row["workload"], bool(row["disturbed_times"]), _whole(row)),
    about=lambda rows, _: (
        "Median times of layers executed one by one. Operations, bytes and errors: ciphermark figure layers"
    ),
    columns=_listed,
    place=80,
)
LAYERS = Figure(  # families replace its name, texts and subject
    name="layers",
    title="Layers",
    lead="Share of each part of the network in the server's median time, which is at the end of its bar.",
    reading=(
        "Each part runs separately on one input; in the timed passes the network stays whole. Scale is the "
        "scale at the end of a layer. Input and output are bytes in memory, 8 per coefficient and prime. In "
        "CKKS the client decrypts the output of each layer and compares every slot with the unencrypted "
        "operations."
    ),
    view="layers",
    order="operation, options, scheme, threads, ring_dimension, variant, comparison_group, position",
    tell=tell_longest,
    finding=find_longest,
    chart=draw_layers,
    printed=(),
    columns=COLUMNS,
)
