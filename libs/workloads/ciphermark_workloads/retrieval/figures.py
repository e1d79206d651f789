"""Charts of the family retrieval: cost, transfer and result size of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, headings, page, parameters, plots, sentences, theme
from ciphermark_present.catalogue import columns, layers, passes
from ciphermark_present.catalogue.columns import (
    BUILD,
    OPTIONS,
    SCHEME,
    SECURITY_2018,
    SECURITY_2024,
    THREADS,
    VARIANT,
    WORKLOAD,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure, Layout
from ciphermark_present.formats import seconds, size
from ciphermark_present.page import Page
from ciphermark_present.plots import Measure, Places, Value, lines
from ciphermark_present.printed import Cells, Head, Prices, Printed, Wanted, of, printed
from ciphermark_present.query import Row, is_disturbed
from ciphermark_present.subject import Subject

SUBJECT = Subject(("retrieval",))
_ASKED_FOR = (
    *("operation", "scheme", "database_size", "answered_size"),
    *("inputs", "threads", "security_shown"),
)


def tell_answers(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The fastest variant of each protocol, for each database, length of the retrieved data, scheme and level."""
    for row in sentences.fastest(every, _ASKED_FOR, "answer_s"):
        yield (
            f"{row['operation']} in {row['scheme'].upper()} over {size(row['database_size'])} at "
            f"{sentences.level_and_table(row)}: fastest median response time {seconds(row['answer_s'])} "
            f"({row['variant']}), {size(row['throughput'])}/s."
        )


def draw_answers(rows: Sequence[Row]) -> Chart | None:
    """Time of an answer by the size of the database, one small chart per protocol, scheme and length of the retrieved
    data.

    Levels, threads and several queries in a pass are separate: their times are not comparable.
    """
    timed = [row for row in rows if row["answer_s"]]
    labels = parameters.apart(timed, lambda row: (_protocol(row), row["database_size"]))
    cases = [
        {**row, "panel": charting.joined(_protocol(row), label)}
        for row, label in zip(timed, labels, strict=True)
    ]
    if not cases:
        return None
    ended = charting.with_ends(cases, "answer_s")
    value = Value(
        "answer_s",
        None,
        charting.seconds(row[name] for row in ended for name in ("answer_s", "from", "to")),
        [
            charting.text_tip("database_size", "Database"),
            charting.text_tip("answer_s", "Answer"),
            "ring_dimension:O",
        ],
        columns=("database_size", "ring_dimension"),
        written={"database_size": formats.size, "answer_s": formats.seconds},
        has_ends=True,
    )
    x = alt.X("database_size:Q", title="Database", **charting.sizes(row["database_size"] for row in cases))
    return lines(ended, value, Places("database_size", x, formats.size))


def find_answer(rows: Sequence[Row]) -> str:
    """The largest throughput, with its protocol and variant."""
    timed = sentences.undisturbed(rows, "throughput")
    if not timed:
        return ""
    best = max(timed, key=lambda row: float(row["throughput"]))
    return (
        f"{best['operation']} with {best['variant']} reads {size(best['throughput'])}/s, the highest throughput, from "
        f"{size(best['database_size'])}"
    )


_MARKS = (
    *("variant", "panel", "operation", "moved", "element_s"),
    *("answers", "inputs", "encryption", "is_unbeaten", "from", "to", *plots.LABEL),
)


def draw_moved(rows: Sequence[Row]) -> Chart | None:
    """Bytes of query and answer against the answer's time, both for each retrieved element: a mark for each protocol
    and variant, with the protocol's name. There is one small chart for each database and length of an element. A line
    joins the Pareto front, one for each kind of encryption.
    """
    cases, notes = charting.enough(charting.with_ends(_with_front(rows), "element_s"), "panel")
    if not cases:
        return None
    x = Measure("moved", "Query and answer, an element", charting.sizes(row["moved"] for row in cases))
    times = charting.seconds(row[name] for row in cases for name in ("element_s", "from", "to"))
    y = Measure("element_s", None, times)
    names = charting.variants_of(cases)
    place = alt.Chart().encode(
        x=alt.X("moved:Q", title=x.title, **x.axis), y=alt.Y("element_s:Q", title=None, **y.axis)
    )
    line = place.mark_line(style=theme.UNITY, strokeWidth=1)
    front = line.transform_filter(alt.datum.is_unbeaten).encode(detail="encryption:N")
    coloured = place.encode(color=charting.colour(names))
    points = coloured.mark_point(filled=True, size=70, opacity=1).encode(
        shape=charting.shape(names),
        tooltip=charting.tips(
            "operation:N",
            "variant:N",
            charting.text_tip("moved", "Query and answer"),
            charting.text_tip("element_s", "Time of an element"),
            "answers:Q",
            "inputs:Q",
        ),
    )
    drawn = plots.labelled(cases, x, y, "operation")
    data = charting.data(drawn, *_MARKS, moved=formats.size, element_s=formats.seconds)
    layers = [front, *charting.intervals(coloured, "y"), points, plots.label_layer(place)]
    chart = alt.layer(*layers, data=data)
    return charting.small_charts(chart, "panel").properties(**charting.noted(notes))


def find_unbeaten(rows: Sequence[Row]) -> str:
    """The number of cases on the Pareto front."""
    cases = _with_front(rows)
    unbeaten = sum(row["is_unbeaten"] for row in cases)
    return f"{unbeaten} of {len(cases)} cases are beaten by none in both bytes and time" if cases else ""


def draw_at_once(rows: Sequence[Row]) -> Chart | None:
    """Time per element by the number of elements in a pass, one small chart for each database and length of an element.
    A line joins cases that differ only in the number of queries.
    """
    timed = [
        {
            **_by_element(row),
            "panel": _database(row),
            "series": _alike(row),
            "name": f"{row['operation']}, {row['variant']}",
        }
        for row in rows
        if row["element_s"]
    ]
    if not timed:
        return None
    cases = charting.with_ends(timed, "element_s")
    value = Value(
        "element_s",
        None,
        charting.seconds(row[name] for row in cases for name in ("element_s", "from", "to")),
        ["operation:N", "inputs:Q", "answers:Q", charting.text_tip("element_s", "Time of an element")],
        columns=("operation", "inputs", "answers"),
        written={"element_s": formats.seconds},
        has_ends=True,
    )
    x = charting.powers_of_two((row["got"] for row in cases), "Elements of a pass", "got")
    return lines(cases, value, Places("got", x, lambda count: f"{count:,} elements"))


def find_saving(rows: Sequence[Row]) -> str:
    """The most that several elements in a pass save."""
    several = sentences.undisturbed(rows, "alone_share")
    if not several:
        return ""
    best = min(several, key=lambda row: float(row["alone_share"]))
    return (
        f"A pass of {best['inputs']:,} queries takes {formats.share(best['alone_share'])} of the time of single ones, "
        f"per query ({best['operation']}, {best['variant']})"
    )


def _alike(row: Row) -> str:
    """The common text of cases that differ only in the number of queries."""
    options = {name: value for name, value in row["dimensions"].items() if name != "inputs_per_pass"}
    return f"{row['operation']} {row['variant']} {row['parameter_set_id']} {sorted(options.items())}"


def _with_front(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows with known bytes and time, each with its small chart, and whether it is on the front."""
    cases = [
        {
            **_by_element(row),
            "moved": (row["upload"] + row["download"]) / (row["inputs"] * row["answers"]),
            "panel": _database(row),
        }
        for row in rows
        if row["element_s"] and row["upload"] and row["download"]
    ]
    return [
        {
            **row,
            "is_unbeaten": not is_disturbed(row, "element_s")
            and not any(_beats(other, row) for other in cases),
        }
        for row in cases
    ]


def _by_element(row: Row) -> Row:
    """The row, with the interval of an answer divided by the retrieved elements."""
    elements = row["inputs"] * row["answers"]
    return {**row, **{name: row[name] and row[name] / elements for name in ("ci_low", "ci_high")}}


def _beats(one: Row, other: Row) -> bool:
    """Whether a row is better in one criterion and worse in none, in the same small chart and with the same
    encryption.
    """
    mine, its = ((row["moved"], row["element_s"]) for row in (one, other))
    alike = [(row["panel"], row["encryption"]) for row in (one, other)]
    is_better = mine != its and mine[0] <= its[0] and mine[1] <= its[1]
    return alike[0] == alike[1] and is_better and not is_disturbed(one, "element_s")


def _protocol(row: Row) -> str:
    return charting.joined(row["operation"], row["scheme"], _got(row), sentences.stated_level(row))


def _database(row: Row) -> str:
    element = f"{formats.size(row['answered_size'] / row['answers'])} an element"
    database = f"{formats.size(row['database_size'])}, {element}"
    return charting.joined(database, row["scheme"], sentences.threads(row), sentences.stated_level(row))


def _got(row: Row) -> str:
    """The size of a query's result, and the number of queries in a pass, if not one."""
    queries = f"{row['inputs']} queries" if row["inputs"] > 1 else ""
    return charting.joined(f"{formats.size(row['answered_size'])} retrieved", queries, sentences.threads(row))


def _percentage(value: float | None) -> str:
    """Format shares that may be far below a thousandth."""
    return formats.NOTHING if value is None else f"{formats.digits(100 * value)}%"


def _speed(name: str, label: str) -> Column:
    def written(size: Callable[[float | None], str]) -> Callable[[float | None], str]:
        return lambda value: formats.NOTHING if value is None else f"{size(value)}/s"

    return Column(name, label, written(formats.size), is_number=True, brief=written(formats.brief_size))


_TIMES = (
    columns.seconds("answer_s", "Answer"),
    _speed("throughput", "Throughput"),
    columns.seconds("element_s", "Answer per element", "per element"),
)
COSTS = (
    *_TIMES,
    columns.encrypted(columns.size("upload", "Upload")),
    columns.size("download", "Download"),
    columns.size("keys_size", "Keys"),
)
STORES = (
    columns.size("store_size", "Store"),
    Column("store_expansion", "Store / database", formats.times, is_number=True, short="store / database"),
    _speed("memory_bandwidth", "Bandwidth"),
    Column("bandwidth_share", "Share of bandwidth", formats.share, is_number=True, short="of bandwidth"),
    Column("rate", "Rate", _percentage, is_number=True),
    columns.encrypted(
        Column(
            "noise_budget_bits",
            "Remaining noise budget, bits",
            formats.bits,
            is_number=True,
            short="noise budget",
        )
    ),
    columns.error("max_error", "Largest error", "max error"),
)
_ASKED = (
    WORKLOAD,
    columns.size("database_size", "Database"),
    *columns.opened(
        columns.count("answers", "Elements per query"),
        columns.size("answered_size", "Bytes of these"),
        OPTIONS,
    ),
    SCHEME,
    *columns.opened(THREADS),
    BUILD,
    *columns.opened(N, SECURITY_2018, SECURITY_2024),
)
_ORDER = (
    "operation, answered_size, scheme, threads, inputs, database_size, 'answer_s' = any(disturbed_times), answer_s, "
    "variant"
)
_ABOUT = "Answer: median server time"
_ABOUT_STORES = (
    "Store: plaintexts that the server computes answers from. Bandwidth: memory read rate with as many threads. Of "
    "bandwidth: time to read the store once, as a share of the answer's time. Rate: retrieved bytes, as a share of "
    "returned bytes. Max error: largest error of a retrieved value; 0 if all are exact"
)


def price_of_element(row: Row, prices: Prices) -> float | None:
    """The price of an answer per retrieved element: the answer's CPU time, and its bytes."""
    cpu_s, download, elements = row["answer_cpu_s"], row["download"], row["inputs"] * (row["answers"] or 0)
    if cpu_s is None or download is None or not elements:
        return None
    return float((cpu_s / 3600 * prices.cpu_hour + download / 1e9 * prices.gb) / elements)


def _asked_for(rows: Sequence[Row]) -> Iterator[Cells]:
    yield Head("protocol"), lambda row: str(row["operation"])
    yield Head("database", True), _listed_database
    yield of(BUILD)
    yield from headings.cells(rows)


def _listed_database(row: Row) -> str:
    """The size of the database, the size of a query's result, and the number of queries and threads, if not one."""
    parts = [
        formats.brief_size(row["database_size"]),
        f"{formats.brief_size(row['answered_size'])} retrieved",
    ]
    parts += [f"{row['inputs']} queries"] * (row["inputs"] > 1)
    return ", ".join(parts + [f"{row['threads']} threads"] * (row["threads"] > 1))


def _listed(rows: Sequence[Row], wanted: Wanted) -> Iterator[Cells]:
    def million(row: Row) -> str:
        price = price_of_element(row, wanted.prices)
        return formats.brief_digits(None if price is None else 1e6 * price)

    yield from _asked_for(rows)
    yield from (of(column, drop) for drop, column in enumerate(_TIMES))
    yield Head("cost", True, drop=1), million


def _stores(rows: Sequence[Row], _: Wanted) -> Iterator[Printed]:
    columns = [*_asked_for(rows), *(of(column, drop) for drop, column in enumerate(STORES))]
    yield printed("", _ABOUT_STORES, columns, rows, once=2)


def _charged(prices: Prices) -> str:
    return (
        f"Cost: per million elements, at {prices.cpu_hour:g} per core hour and {prices.gb:g} per GB returned"
    )


LAYOUT = Layout(
    title="Retrieval",
    about=lambda rows, wanted: f"{_ABOUT}. {_charged(wanted.prices)}",
    columns=_listed,
    once=lambda rows: 2,
    more=_stores,
    place=70,
)
RETRIEVALS = Figure(
    name="retrievals",
    title="Answer time by database size",
    lead="Median time of the server's answer by database size.",
    reading=(
        "The database size is the number of elements times their length. "
        "Throughput is the database size divided by the answer time, per query of a pass. Times exclude the "
        "one-time preparation of the database. Share of bandwidth: the time to read the store once at this "
        "host's memory bandwidth, divided by the answer time. A store that fits a cache is read at the "
        "cache's bandwidth. Published throughputs come from one core of other hosts. Lattice schemes with a "
        "hint at the client are one to two orders of magnitude faster (docs/reference/workloads/retrieval.md)."
    ),
    view="retrievals",
    subject=SUBJECT,
    order=_ORDER,
    tell=tell_answers,
    finding=find_answer,
    chart=draw_answers,
    printed=(LAYOUT,),
    columns=(*_ASKED, COSTS[0], *COSTS[2:5], *columns.opened(COSTS[1], *COSTS[5:], *STORES)),
    empty="This run has no retrieval with correct answers.",
)
MOVED = Figure(
    name="communication",
    title="Communication and computation",
    lead=("Bytes of query and answer against answer time, per retrieved element. Lower left is better."),
    reading=(
        "A line joins the marks that no other mark of the same encryption beats in"
        " both. Several elements per query, and several queries per pass, show their savings. Keys are excluded, "
        "because a client sends them once."
    ),
    view="retrievals",
    subject=SUBJECT,
    order=_ORDER,
    finding=find_unbeaten,
    chart=draw_moved,
    printed=(),
    columns=(*_ASKED, *COSTS[3:5], COSTS[0], *columns.opened(COSTS[5])),
    empty="This run has no retrieval with correct answers.",
)
AT_ONCE = Figure(
    name="retrieval-at-once",
    title="Several retrievals per pass",
    lead=("Median answer time per element, by the number of elements in a pass. Lower is better."),
    reading=(
        "A pass has queries of several clients, or several elements per query. The figure shows databases for"
        " which the run has one element and several. Relative to one: time per "
        "query in a pass of several, divided by the time of a single query."
    ),
    view="retrievals_at_once",
    subject=SUBJECT,
    order="database_size, scheme, threads, operation, answered_size, got, variant",
    finding=find_saving,
    chart=draw_at_once,
    printed=(),
    columns=(
        *_ASKED,
        columns.count("inputs", "Queries"),
        columns.seconds("answer_s", "Answer"),
        *columns.opened(columns.seconds("query_s", "A query")),
        columns.seconds("element_s", "An element"),
        columns.share("alone_share", "Of one alone"),
    ),
    empty="This run has no database with both single and multiple retrievals in a pass.",
)
SCALING = Figure(
    name="retrieval-scaling",
    title="Growth of answer time with the database",
    lead="Slope and straight line fitted to answer times over database sizes.",
    reading=(
        "Cases differ only in the database; three sizes or more are needed. The slope is that of the "
        "logarithms: near 0 where fixed cost dominates, 1 where time is proportional to size. The line gives "
        "the fixed time of an answer, and the bytes per second above it."
    ),
    view="retrieval_scaling",
    subject=SUBJECT,
    order="operation, answered_size, scheme, threads, inputs, ring_dimension, variant",
    printed=(),
    columns=(
        WORKLOAD,
        columns.size("answered_size", "Got"),
        SCHEME,
        VARIANT,
        columns.count("points", "Databases"),
        columns.count("exponent", "Exponent"),
        columns.seconds("constant_s", "Of no data"),
        _speed("marginal_throughput", "From there on"),
        *columns.opened(
            THREADS,
            N,
            columns.size("smallest_database", "From"),
            columns.size("largest_database", "To"),
            columns.share("fit", "Fit"),
        ),
    ),
    empty="This run has no retrieval protocol with three database sizes or more.",
)


ANSWER_LAYERS = replace(
    layers.LAYERS,
    name="answer-layers",
    title="Parts of an answer",
    lead="Share of each part in the median time of the server's answer, which is at the end of its bar.",
    reading=(
        "Each part runs separately on one query; in the timed passes the answer stays whole. Input and output"
        " are bytes in memory, 8 per coefficient and prime. The input includes the database."
    ),
    subject=SUBJECT,
    columns=tuple(column for column in layers.COLUMNS if column.name not in layers.OF_VALUES),
    empty="This run has no retrieval with separately executed parts.",
)
PAGE = Page(
    "/retrieval",
    "Retrieval",
    "Private retrieval: the server does not learn which element is requested.",
    (page.WORKLOAD, page.TABLE, page.VARIANT, page.BANDWIDTH),
    (RETRIEVALS, MOVED, AT_ONCE, SCALING, ANSWER_LAYERS, *passes.of_family("retrieval", SUBJECT)),
    question="How long does it take to {operation}, with levels by the {table}?",
    suite="retrieval",
    place=70,
)
