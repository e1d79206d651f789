"""Elements that charts share: one colour and one shape per variant, sizes, axes, selection of rows, bars. Pure."""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ciphermark_core.controls import visible
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_present import formats, parameters, theme
from ciphermark_present.query import DISTURBED_TIMES, Row, is_disturbed

# A variant keeps its colour on every page; shapes distinguish variants where colours do not. The folder of its library
# declares both, in Okabe and Ito's colours for every kind of colour vision, except those that vanish on white or black.
# The registry reads declarations and loads no library.
REGISTRY = "ciphermark_adapters.registry"
_OTHERS = (("#767676", "triangle-left"), ("#A3568B", "stroke"), ("#4C8C2B", "arrow"))

WIDTH = 320
HEIGHT = 200
VARIANT = theme.VARIANTS  # channels with the same title share a legend
THIN = "\N{NARROW NO-BREAK SPACE}"  # before a unit
_SECONDS = ((1.0, f"{THIN}s"), (1e-3, f"{THIN}ms"), (1e-6, f"{THIN}µs"), (1e-9, f"{THIN}ns"))
_BYTES = ((1e9, f"{THIN}GB"), (1e6, f"{THIN}MB"), (1e3, f"{THIN}kB"), (1.0, f"{THIN}B"))
_PLAIN = ((1.0, ""),)
# The views' names for uncorrected medians.
_UNCORRECTED = (
    *("uncorrected_median", "uncorrected_median_s", "uncorrected_time_s", "uncorrected_answer_s"),
    *("uncorrected_infer_s", "uncorrected_layer_time"),
)
_OF_MARKS = (theme.ADDRESS, "is_hollow")  # columns of rows that have them
_APART = 10  # pixels between labels
_MARGIN = 12  # pixels between the outermost marks and the frame
CAP_PX = 9  # of the ends of intervals
_ROW_GAP = 0.2  # share of a row, between it and the next one
R = TypeVar("R", bound=Row)

if TYPE_CHECKING:
    import altair

    alt = altair  # a name of this module, which others import
    Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart
else:
    Chart = Any

    class _Altair:
        """Altair, loaded when the first chart is drawn: it takes a second, and most commands draw nothing."""

        def __getattr__(self, name: str) -> Any:
            module = import_module("altair")
            # A test validates every chart; validation of every part, every time, took half of the drawing time.
            import_module("altair.utils.schemapi").disable_debug_mode()
            vars(self).update(vars(module))
            return getattr(module, name)

    alt = _Altair()


def small_charts(  # noqa: PLR0913 - how small charts stand, and what each has of its own
    chart: Any,  # in layers or not
    by: str,
    order: Sequence[str] | None = None,
    *,
    columns: int = 2,
    width: int = WIDTH,
    height: int | alt.Step = HEIGHT,
    scales: Sequence[str] = (),
    axes: Sequence[str] = (),
    **header: Any,
) -> alt.FacetChart:
    """A small chart for each value of the field ``by``, in order; each has ``scales`` and ``axes`` of its own."""
    header |= {} if order is None else {"sort": [*order]}
    charts = chart.properties(width=width, height=height).facet(
        facet=alt.Facet(f"{by}:N", title=None, **header), columns=columns
    )
    if scales:
        charts = charts.resolve_scale(**dict.fromkeys(scales, "independent"))
    if axes:
        charts = charts.resolve_axis(**dict.fromkeys(axes, "independent"))
    return charts


DECADE = 10  # a larger ratio of maximum to minimum makes an axis of times or sizes logarithmic
_MOST_TICKS = 7
_LINEAR_TICKS = 5
_HEADROOM = 1.05  # above the largest mark: a mark on the frame would shift the heading
_LOG_HEADROOM = 1.6  # the same on an axis of factors


def seconds(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis of times in seconds."""
    return _measured(values, _SECONDS)


def seconds_from_zero(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis of times that add up, in seconds: linear, from zero."""
    return _measured(values, _SECONDS, math.inf)


def sizes(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis of sizes in bytes; a logarithmic axis has powers of 10."""
    return _measured(values, _BYTES)


def plain(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis of numbers without a unit."""
    return _measured(values, _PLAIN)


def linear(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis of bits and counts, from zero."""
    return _measured(values, _PLAIN, math.inf, 1.0)


def counts(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis of counts, which may be 0: logarithmic once they span a factor of 10, else as :func:`linear`."""
    numbers = [*map(float, values)]
    high = max(numbers, default=1.0)
    if high < DECADE * max(1.0, min(numbers, default=1.0)):
        return linear(numbers)
    ticks = [0.0, *(10.0**power for power in range(math.floor(math.log10(high)) + 1))]
    # Of symlog with its constant 1, the logarithm of a count + 1.
    scale = alt.Scale(type="symlog", constant=1, nice=False, domain=[0, _LOG_HEADROOM * high])
    return {"scale": scale, "axis": alt.Axis(values=ticks, labelExpr=_in_units(_PLAIN))}


def _measured(
    values: Iterable[float],
    units: Sequence[tuple[float, str]],
    most: float = DECADE,
    least_step: float = 0.0,
) -> dict[str, Any]:
    """A scale and an axis with labels in units, as options of a channel: logarithmic where values span more than
    ``most``, else from zero in steps of at least ``least_step``.
    """
    numbers = [float(value) for value in values if value]
    low, high = min(numbers, default=1.0), max(numbers, default=1.0)
    if high < most * low:
        ticks = _linear_ticks(high, least_step)
        scale = alt.Scale(domain=[0, max(_HEADROOM * high, ticks[-1])], nice=False)
    else:
        ticks = _log_ticks(low, high, units)
        scale = alt.Scale(type="log", nice=False, padding=_MARGIN, domain=[low, high])
    return {
        "scale": scale,
        "axis": alt.Axis(values=ticks, labelExpr=_in_units(units), labelSeparation=_APART),
    }


def _in_units(units: Sequence[tuple[float, str]]) -> str:
    """An expression for labels with three significant digits and a fitting unit."""
    text = "'0'"
    for factor, unit in reversed(units):
        text = f"datum.value >= {factor:g} ? format(datum.value / {factor:g}, ',.3~r') + '{unit}' : {text}"
    return text if len(units) > 1 else "format(datum.value, ',.3~r')"


# Expressions for the labels of an axis.
IN_SECONDS = _in_units(_SECONDS)
IN_BYTES = _in_units(_BYTES)


def _linear_ticks(high: float, least_step: float) -> list[float]:
    """Ticks from 0 in steps of 1, 2 or 5 times a power of 10."""
    power = math.floor(math.log10(high / _LINEAR_TICKS))
    step = next(
        float(f"{base}e{exponent}")
        for base, exponent in ((1, power), (2, power), (5, power), (1, power + 1))
        if high / float(f"{base}e{exponent}") <= _LINEAR_TICKS
    )
    step = max(step, least_step)
    return [float(f"{number * step:.6g}") for number in range(math.floor(high / step) + 1)]


def _log_ticks(low: float, high: float, units: Sequence[tuple[float, str]]) -> list[float]:
    """Ticks at 1, 2 and 5 times powers of 10 within bounds; over many decades, and for bytes, powers of 10 alone."""
    decades = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    for bases in ((1, 2, 5), (1,)) if units is not _BYTES else ((1,), (1, 2, 5)):
        ticks = [float(f"{base}e{power}") for power in decades for base in bases]
        within = [tick for tick in ticks if low <= tick <= high]
        if 1 < len(within) <= _MOST_TICKS:
            return within
    return within[:: math.ceil(len(within) / _MOST_TICKS)]


def powers_of_two(values: Iterable[float], title: str, column: str) -> alt.X:
    """An axis of N or of vector lengths, logarithmic to base 2. Each value has its exact position and a label, or every
    other one where labels would touch.
    """
    places = sorted({float(value) for value in values})
    return alt.X(
        f"{column}:Q",
        title=title,
        scale=alt.Scale(type="log", base=2, nice=False, padding=_MARGIN, domain=[places[0], places[-1]]),
        axis=alt.Axis(
            values=places,
            format="d",
            labelOverlap="parity",
            labelSeparation=_APART,
            grid=False,
            labelFlush=False,
        ),
    )


MIN_MARKS = 3  # of a small chart
MAX_CHARTS = 12  # next to each other
_NOTE_CHARACTERS = 110  # of a line above a chart; pages wrap it further on a phone


def enough(
    rows: Sequence[R], by: str, order: Sequence[str] = (), most: int = MAX_CHARTS, least: int = MIN_MARKS
) -> tuple[list[R], list[str]]:
    """The rows of small charts with ``least`` marks, of the first ``most`` of these in their order, and a note that
    names the others.
    """
    marks = Counter(row[by] for row in rows)
    names = [name for name in order or marks if name in marks]
    shown = [name for name in names if marks[name] >= least][:most]
    few = [" · ".join(name.splitlines()) for name in names if name not in shown]
    notes = [f"In the table only: {'; '.join(few)}"] if few else []
    return [row for row in rows if row[by] in shown], notes


def noted(notes: Sequence[str]) -> dict[str, Any]:
    """Properties of charts with notes above them."""
    lines = [line for note in notes for line in textwrap.wrap(note, _NOTE_CHARACTERS)]
    return {"title": lines} if lines else {}


def from_top(value: float, axis: Mapping[str, Any], height: float = HEIGHT) -> float:
    """The position of a value on the upright axis of a chart, in pixels."""
    return height * (1 - _share(value, axis, height))


def from_left(value: float, axis: Mapping[str, Any], width: float = WIDTH) -> float:
    """The position of a value on the level axis of a chart, in pixels."""
    return width * _share(value, axis, width)


def _share(value: float, axis: Mapping[str, Any], length: float) -> float:
    """The position of a value on an axis, as a share of its length in pixels."""
    scale = axis["scale"].to_dict()
    low, high = scale["domain"]
    margin = scale.get("padding", 0) / length
    if scale.get("type") == "log":
        value, low, high = (math.log(each) for each in (value, low, high))
    if scale.get("type") == "symlog":
        value, low, high = (math.log1p(each) for each in (value, low, high))
    return float(margin + (1 - 2 * margin) * ((value - low) / (high - low) if high > low else 0.5))


def height_of(rows: int, marks_px: float) -> float:
    """The height of rows with marks below each other in each: Vega-Lite fits no width to rows of a given height."""
    return round(rows * marks_px / (1 - _ROW_GAP))


def count_scale() -> alt.Scale:
    """A scale of counts, from zero, in true distances."""
    return alt.Scale(zero=True, nice=False, padding=_MARGIN)


def whole_axis() -> alt.Axis:
    """An axis of counts, with labels at whole numbers only."""
    return alt.Axis(tickCount=5, labelExpr="datum.value % 1 ? '' : format(datum.value, ',')")


def nested(names: Sequence[str], largest: float, least: float) -> alt.Scale:
    """A scale of sizes for marks that overlap where they are equal: the first variant's mark is the largest.

    Legends show the sizes: where a channel is kept out of the legend, Vega-Lite omits the whole legend.
    """
    return alt.Scale(type="ordinal", domain=[*names], range=_steps(names, largest, least))


def nested_widths(names: Sequence[str], largest: float, least: float) -> alt.StrokeWidthValue:
    """The same for lines, without a scale, since the legend's symbols do not show widths."""
    tests = [
        {"test": f"datum.variant === {json.dumps(visible(name))}", "value": width}
        for name, width in zip(names, _steps(names, largest, least), strict=True)
    ]
    return alt.StrokeWidthValue(least, condition=tests)


def _steps(names: Sequence[str], largest: float, least: float) -> list[float]:
    step = (largest - least) / max(1, len(names) - 1)
    return [largest - step * number for number in range(len(names))]


def bands(**labels: Any) -> alt.Axis:
    """An axis of names with a line between adjacent names, for marks side by side at each name."""
    return alt.Axis(grid=True, tickBand="extent", **labels)


def colour(variants: Iterable[str], *, has_legend: bool = True) -> alt.Color:
    """Colour by variant. Without a legend, marks or lines have names."""
    return alt.Color("variant:N", **_looks(variants, 0, has_legend))


def shape(variants: Iterable[str], *, has_legend: bool = True) -> alt.Shape:
    """Shape by variant, as :func:`colour`."""
    return alt.Shape("variant:N", **_looks(variants, 1, has_legend))


def _looks(variants: Iterable[str], part: int, has_legend: bool) -> dict[str, Any]:
    """Title, scale and legend of a channel for variants."""
    names = sorted(set(variants))
    scale = alt.Scale(domain=names, range=[look(name, names)[part] for name in names])
    return {"title": VARIANT, "scale": scale, **({} if has_legend else {"legend": None})}


def tips(*fields: str | alt.Tooltip) -> list[alt.Tooltip]:
    """The tooltip of a mark, its parameters last.

    The fields are channel objects: Altair takes long to infer the type of a text.
    """
    return [
        *(
            field if isinstance(field, alt.Tooltip) else alt.Tooltip(field, title=_titled(field))
            for field in fields
        ),
        alt.Tooltip("told:N", title="Parameters"),
    ]


def _titled(field: str) -> str:
    return field.partition(":")[0].replace("_", " ").capitalize()


def text_tip(column: str, title: str) -> alt.Tooltip:
    """A line of a tooltip: the text of a column that :func:`data` has in words."""
    return alt.Tooltip(f"{column}_text:N", title=title)


_RATIO_TICKS = (1.0, 1.5, 2.0, 3.0, 5.0)
_CLOSE_TICKS = (0.8, 0.9, 1.0, 1.1, 1.2)  # where all ratios are close to 1
_CLOSE = (0.75, 1.3)
_MOST_RATIO_TICKS = 8
MIN_CASES = 6  # an interval of fewer cases does not generalize


def ratio_x(value: str, title: str | list[str] | None, values: Iterable[float]) -> alt.X:
    """A logarithmic axis of ratios, for values and ends of intervals, with 1 and the significance band."""
    there = [*values, 1 / SIGNIFICANCE_THRESHOLD, SIGNIFICANCE_THRESHOLD]
    low, high = min(there), max(there)
    return alt.X(
        f"{value}:Q",
        title=title,
        scale=alt.Scale(type="log", nice=False, padding=_MARGIN, domain=[low, high]),
        axis=alt.Axis(values=_ratio_ticks(low, high), labelExpr="format(datum.value, ',.3~r') + '×'"),
    )


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 1.5, 2, 3 and 5 times powers of 10 within bounds, and at their inverses; over many decades, at 1
    alone.
    """
    if _CLOSE[0] < low and high < _CLOSE[1]:
        return [tick for tick in _CLOSE_TICKS if low <= tick <= high]
    reach = math.ceil(max(abs(math.log10(low)), abs(math.log10(high)))) + 1
    for ticks in (_RATIO_TICKS, (1.0, 2.0, 5.0), (1.0,)):
        above = [float(f"{tick * 10**power:.3g}") for power in range(reach) for tick in ticks]
        every = sorted({*above, *(float(f"{1 / tick:.2g}") for tick in above)})
        within = [tick for tick in every if low <= tick <= high]
        if len(within) <= _MOST_RATIO_TICKS:
            return within
    return within[:: math.ceil(len(within) / _MOST_RATIO_TICKS)]


def intervals(base: alt.Chart, channel: str) -> list[alt.Chart]:
    """Lines ``from`` and ``to`` along a channel (x or y), with ends."""
    seen = {"opacity": alt.condition("datum.from < datum.to", alt.value(1), alt.value(0))}
    line = base.mark_rule(strokeWidth=2)
    if channel == "x":
        tick = base.mark_tick(thickness=2, size=CAP_PX, orient="vertical").encode(**seen)
        ends = [tick.encode(x=alt.X(f"{end}:Q")) for end in ("from", "to")]
        return [line.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")), *ends]
    tick = base.mark_tick(thickness=2, size=CAP_PX, orient="horizontal").encode(**seen)
    ends = [tick.encode(y=alt.Y(f"{end}:Q")) for end in ("from", "to")]
    return [line.encode(y=alt.Y("from:Q"), y2=alt.Y2("to:Q")), *ends]


def ratio_layers(base: alt.Chart, x: alt.X, **look: Any) -> list[alt.Chart]:
    """Ratios as dots: the significance band, a line at 1, intervals from ``from`` to ``to`` behind the marks, and each
    ``text`` at the position ``at``. Marks of rows that are hollow (``is_hollow``) are so: the compared cases have other
    parameters, or were not sampled alternately.
    """
    coloured = base.encode(color=look["color"]) if "color" in look else base
    filled = base.transform_filter("!datum.is_hollow").mark_point(filled=True, size=80, opacity=1)
    hollow = base.transform_filter("datum.is_hollow").mark_point(
        filled=False, fill=theme.INSIDE, size=80, strokeWidth=2, opacity=1
    )
    points = [marks.encode(x=x, **look) for marks in (filled, hollow)]
    texts = base.mark_text(align="left", dx=8, style=theme.TEXT).encode(
        x=alt.X("at:Q"), text=alt.Text("text:N")
    )
    return [_band(), _unity(), *intervals(coloured, "x"), *points, texts]


def _band() -> alt.Chart:
    """The band of ratios without a significant difference."""
    low, high = alt.XDatum(1 / SIGNIFICANCE_THRESHOLD), alt.X2Datum(SIGNIFICANCE_THRESHOLD)
    return alt.Chart().mark_rect(style=theme.BAND).encode(x=low, x2=high)


def _unity() -> alt.Chart:
    """A line at the ratio 1."""
    return alt.Chart().mark_rule(style=theme.UNITY).encode(x=alt.XDatum(1))


def with_ratio(rows: Sequence[Row], value: str = "ratio") -> list[Row]:
    """Rows with the ends of their intervals, and a ``text``: the ratio, with ≈ where its interval meets the
    significance band.
    """
    told: list[Row] = []
    for row in with_ends(rows, value):
        is_close = row["from"] <= SIGNIFICANCE_THRESHOLD and row["to"] >= 1 / SIGNIFICANCE_THRESHOLD
        has_interval = row["from"] < row["to"]
        told.append(
            {
                **row,
                "text": "≈ " * (has_interval and is_close) + formats.ratio(row[value]),
                "at": row["to"],
                "interval": formats.ratio_interval(row["ci_low"], row["ci_high"]),
            }
        )
    return told


def ratio_tips() -> list[alt.Tooltip]:
    """The tooltip of a ratio of :func:`with_ratio`."""
    return [alt.Tooltip("text:N", title="Ratio"), alt.Tooltip("interval:N", title="95% interval")]


def ends_of(rows: Sequence[Row], value: str = "ratio") -> list[float]:
    """All values that an axis of ratios must include."""
    return [row[name] for row in rows for name in (value, "from", "to")]


def look(variant: str, names: Sequence[str]) -> tuple[str, str]:
    """Colour and shape of a variant; a variant that declares none takes the next of the other looks."""
    declarations = import_module(REGISTRY).declarations()
    looks = {name: declarations[name].look for name in names if name in declarations}
    strangers = [name for name in names if looks.get(name) is None]
    return looks.get(variant) or _OTHERS[strangers.index(variant) % len(_OTHERS)]


def data(rows: Sequence[Row], *columns: str, **written: Callable[[Any], str]) -> alt.Data:
    """The columns that a chart needs, as plain JSON values, and the parameters of each row in words. Where available,
    these include the share of undisturbed samples, the correction of the others, and the uncorrected value.

    The ``written`` columns also have the texts that tables show. Rows with the address of their case (``href``) keep
    it, and so do hollow ones their mark.
    """
    # Altair copies lists and dictionaries at each step of a chart, but no tuples.
    return alt.Data(
        values=tuple(
            {name: json_value(row[name]) for name in columns}
            | {name: row[name] for name in _OF_MARKS if row.get(name)}
            | {f"{name}_text": thin(write(row[name])) for name, write in written.items()}
            | {"told": _told(row, columns)}
            for row in rows
        )
    )


def thin(quantity: str) -> str:
    """A quantity with a thin space before its unit."""
    return quantity.replace(" ", THIN)


def with_ends(rows: Sequence[Row], value: str) -> list[Row]:
    """Rows with the ends of a whisker: of the interval, or the value itself without an interval (too few samples).

    Without any ends in a plot, Vega would have no extent for its scale.
    """
    return [
        {
            **row,
            "from": row[value] if row["ci_low"] is None else row["ci_low"],
            "to": row[value] if row["ci_high"] is None else row["ci_high"],
        }
        for row in rows
    ]


def as_seconds(row: Row, column: str) -> Row:
    """A row with the time of a column as ``seconds``, marked as disturbed where that time is."""
    return {**row, "seconds": row[column], DISTURBED_TIMES: ["seconds"] * is_disturbed(row, column)}


def _told(row: Row, columns: Iterable[str]) -> str:
    undisturbed = row.get("undisturbed_share")
    texts = [] if undisturbed is None else [f"{undisturbed:.0%} of samples undisturbed"]
    texts += ["disturbed samples only"] * any(is_disturbed(row, name) for name in columns)
    slowdown = row.get("slowdown")
    if slowdown is not None:
        texts.append(f"corrected for a host {slowdown:.2f} times slower")
    if row.get("unit", "s") == "s":
        values = (row.get(name) for name in _UNCORRECTED)
        texts += [f"uncorrected {formats.seconds(value)}" for value in values if value is not None]
    if row.get("uncorrected_ratio") is not None:
        texts.append(f"uncorrected {formats.digits(row['uncorrected_ratio'])} times")
    return ", ".join([parameters.told(row), *texts])


def json_value(value: Any) -> Any:
    """A value as JSON represents it: decimals become numbers, lists text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return float(value)


def variants_of(rows: Sequence[Row]) -> list[str]:
    """The variants in the rows."""
    return sorted({row["variant"] for row in rows})


def fullest(rows: Sequence[Row]) -> list[Row]:
    """For each N, the rows of one vector length: the largest that fits one ciphertext, else the smallest."""
    sizes: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        sizes[row["ring_dimension"]].add(row["vector_length"])
    chosen = {
        n: _fullest(lengths, n if rows[0]["scheme"] != "ckks" else n // 2) for n, lengths in sizes.items()
    }
    return [row for row in rows if row["vector_length"] == chosen[row["ring_dimension"]]]


def largest(rows: Sequence[Row]) -> list[Row]:
    """Of :func:`fullest`, the rows at the largest N."""
    most = max((row["ring_dimension"] for row in rows), default=0)
    return [row for row in fullest(rows) if row["ring_dimension"] == most] if rows else []


def with_rings(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows with a ``ring`` each: N, and the words that distinguish cases of an operation at the same N."""
    labels = parameters.apart(rows, lambda row: (row["operation"], row["ring_dimension"]))
    return [
        {**row, "ring": joined(str(row["ring_dimension"]), label)}
        for row, label in zip(rows, labels, strict=True)
    ]


def joined(*texts: str) -> str:
    """The texts that are not empty, with commas between them."""
    return ", ".join(filter(None, texts))


def ring_order(rows: Sequence[Row]) -> list[str]:
    """The rings of :func:`with_rings` by N."""
    return list(
        dict.fromkeys(row["ring"] for row in sorted(rows, key=lambda row: int(row["ring_dimension"])))
    )


def _fullest(sizes: set[int], slots: int) -> int:
    fitting = [size for size in sizes if size <= slots]
    return max(fitting) if fitting else min(sizes)
