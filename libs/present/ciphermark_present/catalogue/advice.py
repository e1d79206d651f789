"""Advice in words: the recommended points with the reason for each, and the reason against every other candidate. Pure.

An ``answer`` is what :func:`ciphermark_benchmark.advising.answered` returns, and what the route of advice sends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, plots
from ciphermark_present.catalogue import columns
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.printed import Cells, Head, Printed, of, printed
from ciphermark_present.query import Row

_EXACT = 1.01  # a measured value within so much of a prediction without an interval counts as inside
_NEAR = 1.005  # a smaller ratio is written as equal
_SHOWN = 12  # left-out candidates that a short table has
_PANELS = {
    "Memory of the party that needs more": "memory_bytes",
    "Bytes of a pass, both ways": "traffic_bytes",
}
_ORDER = ("dominated", "limit", "uncovered", "unsupported")  # of reasons against candidates
_WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "s": formats.seconds,
    "bytes": formats.size,
    "1/s": lambda value: f"{formats.three_digits(value)} per s",
    "bits": lambda value: f"{formats.digits(value)} bits",
    "price": formats.small,
}
LIMITS = {
    "latency": "time",
    "throughput": "throughput",
    "client_memory": "client memory",
    "server_memory": "server memory",
    "upload": "upload",
    "download": "download",
    "keys": "keys",
    "price": "price",
    "error": "largest error",
    "exact": "exact results",
    "libraries": "library",
    "security": "security",
    "threads": "threads",
    "noise_budget": "noise budget",
}
_CHECKED = "Predictions, not measurements: check the best with --verify 3."


def name(candidate: Row) -> str:
    """A candidate in a few words: variant, scheme, N, and threads."""
    threads = candidate["threads"]
    return (
        f"{candidate['variant']}, {candidate['request']['scheme'].upper()}, N = {candidate['ring_dimension']}, "
        f"{threads} thread{'s' if threads > 1 else ''}"
    )


# --- Points -----------------------------------------------------------------------------------------------------------


def point_rows(answer: Row) -> list[Row]:
    """The recommended points as rows of a table, the best first."""
    several = [answer["candidates"][point["index"]] for point in answer["points"]]
    rows = [_row(candidate) for candidate in several]
    return [
        {
            **row,
            "place": place,
            "is_tie": point["rank"] != place,
            "why": _why(place, point, row, rows),
            "price": _value(candidate["costs"]["price"]),
            **{f"{name}_s": point["machine_s"].get(name) for name in answer.get("machines", ())},
        }
        for place, (point, row, candidate) in enumerate(zip(answer["points"], rows, several, strict=True), 1)
    ]


def _row(candidate: Row) -> Row:
    costs, request = candidate["costs"], candidate["request"]
    parties = [costs["client_memory_bytes"], costs["server_memory_bytes"]]
    error = costs["error"]
    return {
        "variant": candidate["variant"],
        "scheme": request["scheme"],
        "ring_dimension": candidate["ring_dimension"],
        "modulus_bits": candidate["modulus_bits"],
        "scale": None if request["scale_bits"] is None else 2.0 ** request["scale_bits"],
        "plain_modulus": request["plain_modulus"],
        "tuning": request["tuning"],
        "threads": candidate["threads"],
        "options": formats.options(candidate["options"]),
        "median": costs["latency_s"]["value"],
        "ci_low": costs["latency_s"]["low"],
        "ci_high": costs["latency_s"]["high"],
        "evaluation_s": costs["evaluation_s"]["value"],
        "memory_bytes": None if None in parties else max(parties),
        "client_memory_bytes": parties[0],
        "server_memory_bytes": parties[1],
        "traffic_bytes": costs["upload_bytes"] + costs["download_bytes"],
        "upload_bytes": costs["upload_bytes"],
        "download_bytes": costs["download_bytes"],
        "key_bytes": costs["key_bytes"],
        "error": 0.0 if request["scheme"] != "ckks" else _value(error),
        "error_high": None if error is None else error["high"],
        "log_qp": costs["log_qp"],
        "security_2018": costs["security_2018"],
        "security_2024": costs["security_2024"],
    }


def _value(quantity: Row | None) -> float | None:
    return None if quantity is None else quantity["value"]


def _why(place: int, point: Row, row: Row, rows: Sequence[Row]) -> str:
    """The reason for a point: what it is best at, how it compares with the next one, and uncertain limits."""
    best = [
        words
        for words, column in (
            ("fastest", "median"),
            ("least memory", "memory_bytes"),
            ("fewest bytes", "traffic_bytes"),
        )
        if len(rows) > 1
        and row[column] is not None
        and all(
            row[column] < other[column] for other in rows if other is not row and other[column] is not None
        )
    ]
    texts = [", ".join(best)] * bool(best)
    if point["next"] is not None:
        texts.append(_against(point["next"], str(place + 1)))
    if point["uncertain"]:
        limits = ", ".join(LIMITS[limit] for limit in point["uncertain"])
        texts.append(f"uncertain: the interval exceeds the limit of {limits}")
    text = "; ".join(
        texts or ["tie with the point above" if place > 1 else "no other candidate is better in anything"]
    )
    return formats.capitalized(text)


def _against(comparison: Row, other: str) -> str:
    """A point against another one, in its favor or not; ``comparison`` has ratios of the other's costs to its own."""
    ratio = comparison["time"]
    if comparison["is_tie"]:
        time = f"tie in time with {other} (intervals overlap)"
    elif ratio >= 1:
        time = f"{formats.ratio(ratio)} as fast as {other}"
    else:
        time = f"{formats.ratio(1 / ratio)} the time of {other}"
    rest = [
        _share(comparison[axis], axis_words)
        for axis, axis_words in (("memory", "memory"), ("traffic", "bytes"))
    ]
    text = f"{time}, {', '.join(rest)}"
    if comparison["operation"] and not comparison["is_tie"] and ratio > 1:
        text += f"; {comparison['operation']} takes {formats.seconds(comparison['difference_s'])} less"
    return text


def _share(ratio: float | None, words: str) -> str:
    """Own costs as a multiple of the other's, from the inverse ratio; ``None`` is infinite."""
    if ratio is None:
        return f"{words} of the other unknown"
    own = 1 / ratio if ratio else float("inf")
    return f"equal {words}" if 1 / _NEAR < own < _NEAR else f"{formats.ratio(own)} its {words}"


# --- Candidates that are left out -------------------------------------------------------------------------------------


def reason(item: Row, answer: Row) -> str:
    """The reason against a candidate that is left out."""
    if item["against"] == "limit":
        return "; ".join(map(miss, item["misses"]))
    if item["against"] == "uncovered":
        first, *others = item["reason"].split("; ")
        more = f", and {len(others)} more" if others else ""
        return f"not covered by the cost table: {first}{more}"
    if item["against"] == "unsupported":
        return str(item["reason"])
    places = [point["index"] for point in answer["points"]]
    by, comparison = item["by"], item["comparison"]
    other = str(places.index(by) + 1) if by in places else f"({name(answer['candidates'][by])})"
    time = (
        f"no faster than {other}"
        if comparison["is_tie"]
        else f"{formats.ratio(comparison['time'])} the time of {other}"
    )
    rest = [
        _multiple(comparison[axis], words) for axis, words in (("memory", "memory"), ("traffic", "bytes"))
    ]
    return f"{time}, {', '.join(rest)}"


def _multiple(ratio: float | None, words: str) -> str:
    """The costs of a dominated candidate as a multiple of the other's; ``None`` is infinite."""
    if ratio is None:
        return f"{words} unknown"
    return f"equal {words}" if ratio < _NEAR else f"{formats.ratio(ratio)} its {words}"


def miss(item: Row) -> str:
    """A missed limit, and by how much."""
    write = _WRITTEN.get(item["unit"], formats.small)
    limit, value, allowed = LIMITS[item["limit"]], item["value"], item["allowed"]
    if item["limit"] == "security":
        return f"security {formats.level(value)}, limit {allowed} bits"
    if value is None:
        return f"{limit} not predicted, limit {write(allowed)}"
    if isinstance(value, str):
        return f"{limit} {value}, limit {allowed}"
    factor = f" ({formats.ratio(item['factor'])})" if item["factor"] is not None else ""
    return f"{limit} {write(value)}, limit {write(allowed)}{factor}"


def nearest_rows(answer: Row) -> list[Row]:
    """The candidates nearest to the limits, as rows, with what would have to give."""
    several = [(answer["candidates"][item["index"]], item) for item in answer["nearest"]]
    return [
        {"variant": candidate["variant"], "candidate": _parameters(candidate), "text": reason(item, answer)}
        for candidate, item in several
    ]


def left_out_rows(answer: Row) -> list[Row]:
    """The candidates that the answer leaves out, as rows: those without a prediction last. Of these, the candidates of
    a variant that lack costs are one row, and so are those with one reason.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    ordered = sorted(answer["left_out"], key=lambda item: _ORDER.index(item["against"]))
    for item in ordered:
        candidate, text = answer["candidates"][item["index"]], reason(item, answer)
        own = {"uncovered": candidate["request"]["scheme"], "unsupported": text}.get(
            item["against"], str(item["index"])
        )
        groups.setdefault((candidate["variant"], item["against"], own), []).append(
            {**candidate, "why_not": text}
        )
    return [
        {"variant": several[0]["variant"], "candidate": _several(several), "why_not": several[0]["why_not"]}
        for several in groups.values()
    ]


def _several(candidates: Sequence[Row]) -> str:
    if len(candidates) == 1:
        return _parameters(candidates[0])
    schemes = ", ".join(sorted({each["request"]["scheme"].upper() for each in candidates}))
    rings = sorted({each["ring_dimension"] for each in candidates})
    return f"{schemes}, N = {', '.join(map(str, rings))}: {len(candidates)} candidates"


def _parameters(candidate: Row) -> str:
    _, _, text = name(candidate).partition(", ")
    chain = candidate["modulus_bits"]
    options = formats.options(candidate["options"])
    parts = (
        text,
        f"{formats.chain(chain)} bits" if chain else "",
        options if options != formats.NOTHING else "",
    )
    return ", ".join(filter(None, parts))


# --- Tables, sentences, chart -----------------------------------------------------------------------------------------


def finding(answer: Row) -> str:
    """The answer in one sentence."""
    if not answer["candidates"]:
        return f"No candidate for {answer['workload']}"
    if not answer["points"]:
        is_limited = bool(answer["nearest"])
        return (
            f"No candidate meets all limits for {answer['workload']}"
            if is_limited
            else _without_points(answer)
        )
    first = answer["candidates"][answer["points"][0]["index"]]
    ties = sum(point["rank"] == 1 for point in answer["points"]) - 1
    tie = f", tied with {ties} other{'s' if ties > 1 else ''}" if ties else ""
    return f"Take {name(first)}: {_time(first)}{tie}"


def _without_points(answer: Row) -> str:
    kinds = Counter(item["against"] for item in answer["left_out"])
    lack = "no library has measured costs for it" if kinds["uncovered"] else "no library supports it"
    return f"No prediction for {answer['workload']}: {lack}"


def _time(candidate: Row) -> str:
    time = candidate["costs"]["latency_s"]
    return f"{formats.seconds(time['value'])} {formats.interval_of(time['value'], time['low'], time['high'])}"


def about(answer: Row) -> str:
    """The conditions of the answer: link, limits, and the cost table."""
    link = answer["link"]
    sent = (
        "without transfer"
        if link["bandwidth"] is None
        else f"with transfer at {formats.digits(link['bandwidth'] / 1e6)} Mbit/s"
    )
    priced = (candidate for candidate in answer["candidates"] if candidate["costs"])
    missing = sorted({step for candidate in priced for step in candidate["missing_steps"]})
    without = f"; not in the cost table, and missing: {', '.join(missing)}" if missing else ""
    notes = [f"Time of all steps of both parties, {sent}{without}", *_not_compared(answer), *answer["notes"]]
    return ". ".join(note.rstrip(".") for note in notes)


def _not_compared(answer: Row) -> list[str]:
    """The variants that lack costs and have no prediction: a faster one may be among them."""
    candidates = answer["candidates"]
    uncovered = (item["index"] for item in answer["left_out"] if item["against"] == "uncovered")
    lacking = {candidates[index]["variant"] for index in uncovered}
    names = sorted(lacking - {candidate["variant"] for candidate in candidates if candidate["costs"]})
    return [f"Not compared, for lack of costs: {', '.join(names)}"] if names else []


def tables(answer: Row, *, is_whole: bool = False) -> Iterator[Printed]:
    """The points, the nearest misses where there is none, and the candidates that are left out, all if ``is_whole``."""
    if answer["points"]:
        cells = [of(column, drop) for column, drop in _PRINTED]
        rows = point_rows(answer)
        shown = [cell for cell in cells if any(cell[1](row) not in ("", formats.NOTHING) for row in rows)]
        shown[-1:-1] = [_on_machine(name) for name in answer.get("machines", ())]
        marks = ("≈ tie with the point above",) * any(row["is_tie"] for row in rows)
        marks += tuple(answer.get("machine_reasons", ()))
        yield replace(
            printed(finding(answer), about(answer), shown, rows, 0),
            legend=marks,
            explained=_CHECKED,
            name="advice",
        )
    else:
        title = ". ".join([finding(answer), *["Nearest misses"] * bool(answer["nearest"])])
        yield replace(
            _listed(title, "what would have to give", nearest_rows(answer), "text", "nearest"),
            about=about(answer),
        )
    left_out = left_out_rows(answer)
    if left_out:
        most = len(left_out) if is_whole else _SHOWN
        title = f"Left out: {len(answer['left_out'])} of {len(answer['candidates'])} candidates"
        table = _listed(title, "reason", left_out[:most], "why_not", "left-out")
        yield replace(table, hidden_rows=len(left_out) - len(left_out[:most]))


def _on_machine(name: str) -> Cells:
    """The column of the evaluation's time on an accelerator."""
    return Head(f"on {name}", is_number=True, drop=1), lambda row: formats.seconds(row[f"{name}_s"])


def _listed(title: str, head: str, rows: Sequence[Row], column: str, label: str) -> Printed:
    heads = (Head("library"), Head("parameters", is_prose=True), Head(head, is_prose=True, min_width=24))
    texts = tuple((str(row["variant"]), str(row["candidate"]), str(row[column])) for row in rows)
    return Printed(title, "", heads, texts, 2, name=label)


def verified(rows: Sequence[Row]) -> Printed:
    """Predictions against measurements: a row for each point and measured cost."""
    heads = (
        Head("#", is_number=True),
        Head("library"),
        Head("cost"),
        *(Head(text, is_number=True) for text in ("predicted", "80% interval", "measured", "difference")),
        Head("inside"),
    )
    texts = tuple(tuple(_verified_cells(row)) for row in rows)
    marks = (columns.DISTURBED,) * any(row["is_disturbed"] for row in rows)
    return Printed("Predicted and measured", "", heads, texts, 3, legend=marks, name="verified")


def _verified_cells(row: Row) -> Iterator[str]:
    write = _WRITTEN.get(row["unit"], formats.small)
    measured, predicted = row["measured"], row["predicted"]
    yield str(row["place"])
    yield str(row["variant"])
    yield str(row["cost"])
    yield write(predicted)
    yield f"[{write(row['low'])}, {write(row['high'])}]" if row["low"] < row["high"] else "–"
    mark = columns.disturbance(row["is_disturbed"])
    yield str(row["status"]) if measured is None else mark + write(measured)
    yield f"{predicted / measured - 1:+.1%}" if measured else formats.NOTHING
    low, high = min(row["low"], predicted / _EXACT), max(row["high"], predicted * _EXACT)
    yield formats.NOTHING if measured is None else formats.yes(low <= measured <= high)


def draw(rows: Sequence[Row]) -> Chart | None:
    """Time against memory, and against bytes, with the 80% interval of time; dominated candidates are hollow."""
    drawn = [
        {**row, "panel": panel, "value": row[column], "from": row["ci_low"], "to": row["ci_high"]}
        for panel, column in _PANELS.items()
        for row in rows
        if row[column]
    ]
    if len(rows) < 2 or not drawn:
        return None
    names = charting.variants_of(drawn)
    x = alt.X(
        "median:Q",
        title="Time",
        **charting.seconds(row[end] for row in drawn for end in ("median", "from", "to")),
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(zero=False, padding=12),
        axis=alt.Axis(labelExpr=charting.IN_BYTES, tickCount=5),
    )
    base = alt.Chart().encode(y=y, color=charting.colour(names))
    tips = charting.tips(
        "variant:N", charting.text_tip("median", "Time"), charting.text_tip("value", "Bytes")
    )
    marks = plots.points(drawn, base.encode(x=x), shape=charting.shape(names), tooltip=tips)
    shown = ("variant", "panel", "median", "value", "from", "to", "is_hollow")
    data = charting.data(drawn, *shown, median=formats.seconds, value=formats.size)
    layers = alt.layer(*charting.intervals(base, "x"), *reversed(marks), data=data)
    return charting.small_charts(layers, "panel", [*_PANELS], scales=("y",), axes=("x", "y"))


def chart_rows(answer: Row) -> list[Row]:
    """The candidates that meet all limits, as rows of the chart: those that are dominated are hollow."""
    dominated = [item["index"] for item in answer["left_out"] if item["against"] == "dominated"]
    points = [point["index"] for point in answer["points"]]
    return [
        {**_row(answer["candidates"][index]), "is_hollow": is_hollow}
        for is_hollow, several in ((False, points), (True, dominated))
        for index in several
    ]


def _time_cell(row: Row) -> str:
    return "≈ " * row["is_tie"] + formats.seconds(row["median"])


_PLACE = Column("place", "#", is_number=True)
_TIME = Column("median", "Time", is_number=True, text=_time_cell)
_INTERVAL = replace(columns.INTERVAL, label="80% interval", short="80% interval")
_MEMORY = columns.size("memory_bytes", "Memory")
_TRAFFIC = columns.size("traffic_bytes", "Bytes")
_ERROR = columns.error("error", "Largest error", "error")
_PRICE = Column("price", "Price", formats.small, is_number=True)
_WHY = Column("why", "Why", is_prose=True)
_OPTIONS = Column("options", "Options")
_PRINTED = (
    (_PLACE, 0),
    (columns.VARIANT, 0),
    (columns.SCHEME, 6),
    (columns.N, 0),
    (columns.CHAIN, 8),
    (_OPTIONS, 5),
    (columns.THREADS, 4),
    (_TIME, 0),
    (_INTERVAL, 3),
    (_MEMORY, 1),
    (_TRAFFIC, 1),
    (_ERROR, 2),
    (_PRICE, 2),
    (_WHY, 0),
)
POINTS = Figure(
    name="advice",
    title="Recommended points",
    lead="No other candidate needs less time, memory and traffic. Intervals contain the measured time with 80%.",
    view="",
    columns=(
        _PLACE,
        columns.VARIANT,
        columns.N,
        _TIME,
        _INTERVAL,
        _MEMORY,
        _TRAFFIC,
        _WHY,
        *columns.opened(
            columns.SCHEME,
            columns.CHAIN,
            columns.LOG_QP,
            columns.SECURITY_2018,
            columns.SECURITY_2024,
            columns.THREADS,
            _OPTIONS,
            _ERROR,
            _PRICE,
            columns.seconds("evaluation_s", "Evaluation"),
            columns.size("client_memory_bytes", "Client memory"),
            columns.size("server_memory_bytes", "Server memory"),
            columns.size("upload_bytes", "Upload"),
            columns.size("download_bytes", "Download"),
            columns.size("key_bytes", "Keys"),
        ),
    ),
    chart=draw,
    printed=(),
    is_table_open=True,
    reading=(
        "Time is that of all steps of both parties for one pass, predicted from the cost table of this host. Memory is "
        "that of the party that needs more, keys included. Bytes are those of a pass, both ways, without keys. A tie "
        "means that intervals overlap. A hollow mark is dominated by another candidate. Predictions hold for an "
        "undisturbed host with the build and clock of the cost table."
    ),
)
