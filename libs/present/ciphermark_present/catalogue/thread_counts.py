"""The figure of the speedup by threads, next to the ideal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, parameters, plots, sentences, subject, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import BUILD, RANKED, SCHEME, THREADS
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import FILTERS, Column, Figure
from ciphermark_present.plots import Places, Value
from ciphermark_present.printed import grouped
from ciphermark_present.query import Answer, Row

_ADDED = ("speedup", "speedup_low", "speedup_high")
_CASE = ("run_id", "variant", "parameter_set_id", "request_but_threads", "phase", "repetitions")


def with_speedups(answer: Answer, _: Row) -> Answer:
    """The rows of cases with several numbers of threads, each with its speedup over the smallest number: the ratio of
    both medians, with its interval. Disturbed times have none and are left out.
    """
    from ciphermark_analysis.estimates import Estimate, ratio_of  # loads numpy

    def estimate(row: Row) -> Estimate:
        return Estimate(row["n"], *(row[name] for name in ("median", "ci_low", "ci_high")))

    names = tuple(dict.fromkeys((*answer.columns, *_ADDED)))
    rows = []
    for case in _cases(answer.mappings):
        for row in case:
            ratio = ratio_of(estimate(case[0]), estimate(row))
            ends = (None, None) if row is case[0] else (ratio.low, ratio.high)
            speedup = dict(zip(_ADDED, (ratio.median, *ends), strict=True))
            rows.append(tuple((row | speedup)[name] for name in names))
    return Answer(names, rows)


def _cases(rows: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The rows of each case that has several numbers of threads, in their order."""
    timed = sentences.undisturbed(rows, "median")
    for case in grouped(timed, _case):
        if len({row["threads"] for row in case}) > 1:
            yield sorted(case, key=lambda row: int(row["threads"]))


def _case(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in _CASE)


def finding(rows: Sequence[Row]) -> str:
    """The largest speedup, with its number of threads."""
    if not rows:
        return ""
    best = max(rows, key=lambda row: row["speedup"])
    what = f"{best['label']} ({best['stage']})" if best["stage"] != "evaluate" else best["label"]
    return f"{best['threads']} threads make {what} up to {formats.ratio(best['speedup'])} as fast ({best['variant']})"


def draw_speedups(rows: Sequence[Row]) -> Chart | None:
    """Speedup over the number of threads, both linear, one small chart for each operation or stage; the ideal is a
    straight line.
    """
    if not rows:
        return None
    ordered = sorted(rows, key=lambda row: int(row["threads"]))
    least, most = ({_case(row): row for row in way} for way in (reversed(ordered), ordered))
    named = [
        {
            **row,
            "panel": panel,
            "ci_low": row["speedup_low"],
            "ci_high": row["speedup_high"],
            "name": f"{row['variant']} {formats.ratio(most[_case(row)]['speedup'])}",
        }
        for row, panel in zip(rows, _panels(rows), strict=True)
    ]
    marks = Counter(row["panel"] for row in named)
    # The smallest number of threads says nothing where there is no line.
    drawn = [
        row
        for row in named
        if marks[row["panel"]] >= charting.MIN_MARKS or row["threads"] > least[_case(row)]["threads"]
    ]
    return _drawn(charting.with_ends(drawn, "speedup"), ordered[-1]["threads"])


def _drawn(cases: Sequence[Row], most: int) -> Chart | None:
    axis = charting.linear([*charting.ends_of(cases, "speedup"), most])
    x = _x(most)
    tooltips = [
        alt.Tooltip("threads:Q", title="Threads"),
        charting.text_tip("speedup", "Speedup"),
        charting.text_tip("median", "Time"),
    ]
    written = {"speedup": formats.ratio, "median": formats.seconds}
    value = Value("speedup", "Speedup", axis, tooltips, ("median",), written, has_ends=True)
    return plots.lines(cases, value, Places("threads", x, _threads, behind=_ideal(x, most)))


def _panels(rows: Sequence[Row]) -> list[str]:
    """The small chart of each row: its operation, and what else varies."""
    varied = [name for name in ("options", "scheme", "stage") if len({row[name] for row in rows}) > 1]
    names = [charting.joined(row["label"], *(str(row[name] or "") for name in varied)) for row in rows]
    labels = parameters.apart(
        [{**row, "named": name} for row, name in zip(rows, names, strict=True)],
        lambda row: (row["named"], row["threads"]),
    )
    return [charting.joined(name, label) for name, label in zip(names, labels, strict=True)]


def _threads(count: int) -> str:
    return f"{count} threads"


def _x(most: int) -> alt.X:
    """An axis of threads, linear and with room for names on its right."""
    counts = sorted({*(1 << power for power in range(most.bit_length())), most})
    return alt.X(
        "threads:Q",
        title="Threads",
        scale=alt.Scale(domain=[0, most * 1.4], nice=False),
        axis=alt.Axis(values=counts, format="d", grid=False),
    )


def _ideal(x: alt.X, most: int) -> tuple[alt.Chart, ...]:
    """The line on which n threads are n times as fast, the same in every small chart."""
    ends = alt.Data(
        values=[{"threads": 1, "speedup": 1, "name": ""}, {"threads": most, "speedup": most, "name": "ideal"}]
    )
    base = alt.Chart(ends).encode(x=x, y=alt.Y("speedup:Q"))
    return (
        base.mark_line(style=theme.UNITY, strokeWidth=1.5),
        base.mark_text(align="left", dx=8, style=theme.TEXT).encode(text=alt.Text("name:N")),
    )


THREAD_COUNTS = Figure(
    name="threads",
    title="Speedup by threads",
    lead="Median time with the fewest threads, divided by the time with more; dashed: ideal.",
    reading=(
        "Cases of a line differ in their number of threads alone. They are not interleaved: the interval combines "
        "their separate intervals. Threads beyond the cores of the host bring nothing. Only libraries whose programs "
        "have threads of their own can use several."
    ),
    view="thread_counts",
    subject=subject.OPERATION,
    narrowed_by=(*(name for name in FILTERS if name != "threads"), "phase"),
    order="label, options, scheme, stage, variant, threads",
    derive=with_speedups,
    finding=finding,
    chart=draw_speedups,
    printed=(),
    columns=(
        RANKED,
        SCHEME,
        Column("stage", "Stage"),
        BUILD,
        THREADS,
        columns.seconds("median", "Median"),
        Column("speedup", "Speedup", formats.times, is_number=True),
        columns.interval(lambda _, *ends: formats.ratio_interval(*ends), "speedup_low", "speedup_high"),
    ),
    empty="This run has no case with several numbers of threads: the suites micro and inference have.",
)
AT_LEVELS = replace(
    THREAD_COUNTS,
    name="cost-threads",
    order="label, level desc, options, scheme, stage, variant, threads",
    covers_levels=True,
    empty="This run has no operation with several numbers of threads: the suite primitives has.",
)
