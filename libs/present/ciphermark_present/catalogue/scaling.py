"""The figure of the growth of times with N, next to that of N log N."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ciphermark_present import charting, formats, labels, plots, sentences, subject, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import BUILD, RANKED
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import FILTERS, Column, Figure
from ciphermark_present.plots import Places, Value
from ciphermark_present.printed import grouped
from ciphermark_present.query import Answer, Row

_LEAST_RINGS = 3  # of a line: two points fit any
_ADDED = (
    *("rings", "times_s", "lows_s", "highs_s", "cases"),
    *("points", "exponent", "exponent_low", "exponent_high", "n_log_n_exponent"),
)
_WIDTH = 480
_MOST_ROOM = 0.5  # of the width, for names
_N_LOG_N = "N log N"
_OF_POINTS = ("rings", "times_s", "lows_s", "highs_s", "cases")
_WRITTEN = dict.fromkeys(("median", "from", "to"), formats.seconds)


def with_exponents(answer: Answer, _: Row) -> Answer:
    """A row for each series of cases that differ in N alone, with its times by N and their exponent. Of several cases
    at one N, it takes the fullest vector of one ciphertext and the longest modulus chain.
    """
    from ciphermark_analysis import growth  # loads numpy

    names = (*answer.columns, *_ADDED)
    rows = []
    for series in _series(answer.mappings):
        rings = [row["ring_dimension"] for row in series]
        found = growth.exponent(rings, [row["median"] for row in series])
        reference = growth.exponent(rings, [growth.n_log_n(ring) for ring in rings])
        row = series[-1] | {
            "rings": rings,
            "times_s": [each["median"] for each in series],
            "lows_s": [each["ci_low"] for each in series],
            "highs_s": [each["ci_high"] for each in series],
            "cases": [each["comparison_group"] for each in series],
            "points": found.n,
            "exponent": found.value,
            "exponent_low": found.low,
            "exponent_high": found.high,
            "n_log_n_exponent": reference.value,
        }
        rows.append(tuple(row[name] for name in names))
    return Answer(names, rows)


def _series(rows: Sequence[Row]) -> list[list[dict[str, Any]]]:
    """The cases of each series in the order of N."""
    found = []
    for series in grouped(rows, _alike):
        longest: dict[int, Row] = {}
        for row in charting.fullest(sentences.undisturbed(series, "median")):
            ring = row["ring_dimension"]
            longest[ring] = max(longest.get(ring, row), row, key=_chain)
        if len(longest) >= _LEAST_RINGS:
            found.append([dict(longest[ring]) for ring in sorted(longest)])
    return found


def _alike(row: Row) -> str:
    names = ("label", "variant", "phase", "tuning", "data_pattern", "threads", "dimensions", "repetitions")
    return json.dumps([row[name] for name in names], sort_keys=True, default=str)


def _chain(row: Row) -> tuple[int, str]:
    return sum(row["modulus_bits"] or ()), row["comparison_group"]


def finding(rows: Sequence[Row]) -> str:
    """The operations with the slowest and the fastest growth, by their exponents."""
    if not rows:
        return ""
    least, most = (choose(rows, key=lambda row: row["exponent"]) for choose in (min, max))
    exponents = [f"N^{formats.three_digits(row['exponent'])}" for row in (least, most)]
    names = [f" ({row['label']})" for row in (least, most)]
    growth = [f"{power}{name}" for power, name in zip(exponents, names, strict=True)]
    if names[0] == names[1]:
        growth = [*exponents[:-1], growth[-1]]
    rate = growth[-1] if exponents[0] == exponents[1] else " to ".join(growth)
    return f"Times grow as {rate}; N log N would be N^{formats.three_digits(least['n_log_n_exponent'])}"


def draw_growth(rows: Sequence[Row]) -> Chart | None:
    """Time against N, both logarithmic, one small chart for each operation and tuning. A line joins the cases of a
    variant and ends with their exponent; N log N starts at the shortest time of the smallest N.
    """
    panels = grouped(_paneled(rows), lambda row: row["panel"])
    points = [point for panel in panels for point in _points(panel)]
    if not points:
        return None
    axis = charting.seconds(
        point[name] for point in points for name in ("median", "from", "to", "reference_s")
    )
    columns = ("growth", "reference_s", "reference", "end_short")
    value = Value("median", None, axis, _told(), columns, _WRITTEN, has_ends=True)
    x = _x(points)
    places = Places("ring_dimension", x, str, behind=_reference(alt.Chart().encode(x=x)), width=_WIDTH)
    return plots.lines(points, value, places)


def _reference(base: alt.Chart) -> tuple[alt.Chart, ...]:
    """The line of N log N, and its name."""
    y = alt.Y("reference_s:Q")
    text = base.mark_text(align="left", dx=10, dy=14, style=theme.TEXT)
    return (
        base.mark_line(style=theme.UNITY, strokeWidth=1.5).encode(y=y),
        text.encode(y=y, text=alt.Text("reference:N")),
    )


def _told() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("ring_dimension:Q", title="N"),
        charting.text_tip("median", "Median"),
        charting.text_tip("from", "95% from"),
        charting.text_tip("to", "to"),
        alt.Tooltip("growth:N", title="Growth"),
    ]


def _paneled(rows: Sequence[Row]) -> list[Row]:
    """The rows, each with the name of its small chart: the operation, and what else differs."""
    names = ("tuning", "data_pattern", "threads")
    varied = [name for name in names if len({row[name] for row in rows}) > 1]
    words = {"tuning": "{} tuning", "data_pattern": "{} data", "threads": "{} threads"}
    return [
        {
            **row,
            "panel": charting.joined(row["label"], *(words[name].format(row[name]) for name in varied)),
        }
        for row in rows
    ]


def _points(panel: Sequence[Row]) -> list[dict[str, Any]]:
    """A point for each case of a small chart, with the time that N log N would take there."""
    from ciphermark_analysis import growth

    ring, least_s = min(place for row in panel for place in zip(row["rings"], row["times_s"], strict=True))
    per_unit = least_s / growth.n_log_n(ring)
    largest = max(row["rings"][-1] for row in panel)
    points = [
        {
            "variant": row["variant"],
            "series": row["comparison_group"] + row["variant"],
            "name": f"{_end(row)} ±{row['exponent_high'] - row['exponent']:#.2g}",
            "end_short": _end(row),
            "panel": row["panel"],
            "ring_dimension": ring,
            "median": median,
            "from": median if low is None else low,
            "to": median if high is None else high,
            "reference_s": per_unit * growth.n_log_n(ring),
            "reference": "",
            "growth": _growth(row),
            theme.ADDRESS: row.get(theme.ADDRESS, "").replace(row["comparison_group"], case),
        }
        for row in panel
        for ring, median, low, high, case in zip(*(row[name] for name in _OF_POINTS), strict=True)
    ]
    next(point for point in points if point["ring_dimension"] == largest)["reference"] = _N_LOG_N
    return points


def _growth(row: Row) -> str:
    interval = formats.ratio_interval(row["exponent_low"], row["exponent_high"])
    return f"N^{formats.three_digits(row['exponent'])} {interval}, {row['points']} points"


def _end(row: Row) -> str:
    return f"{row['variant']} {formats.three_digits(row['exponent'])}"


def _x(points: Sequence[Row]) -> alt.X:
    """An axis of N with room for the texts on its right."""
    rings = [row["ring_dimension"] for row in points]
    low, high = min(rings), max(rings)
    share = min(_MOST_ROOM, (max(len(row["name"]) for row in points) + 1) * labels.CHARACTER / _WIDTH)
    end = high * (high / low) ** (share / (1 - share))
    axis = charting.powers_of_two(rings, "N", "ring_dimension")
    return axis.scale(type="log", base=2, nice=False, padding=12, domain=[low, end])


SCALING = Figure(
    name="scaling",
    title="Growth with N",
    lead="Median time by N, with the fitted exponent of each variant; dashed: growth as N log N.",
    reading=(
        "The exponent b of time = a N^b is fitted by least squares to the logarithms of at least three medians. ± is "
        "the half-width of its 95% interval. It assumes that they scatter around a straight line. A transform "
        "of length N takes time in proportion to N log N. Default modulus chains lengthen with N: then all operations "
        "grow faster."
    ),
    view="latency",
    subject=subject.OPERATION,
    narrowed_by=(*FILTERS, "phase"),
    order="label, tuning, variant, ring_dimension",
    derive=with_exponents,
    finding=finding,
    chart=draw_growth,
    printed=(),
    columns=(
        RANKED,
        BUILD,
        Column("rings", "Every N", formats.chain),
        columns.count("points", "Points"),
        columns.count("exponent", "Exponent"),
        columns.interval(lambda _, *ends: formats.ratio_interval(*ends), "exponent_low", "exponent_high"),
        columns.count("n_log_n_exponent", "N log N"),
    ),
    empty="This run has no operation at three N or more under these filters: the suite pir-report has.",
)
