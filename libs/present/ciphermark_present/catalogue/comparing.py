"""The figure of two runs, side by side. Results that all operations on the same parameters share are one row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from ciphermark_analysis.comparison import COLUMNS, LEVELS, READ, UNDECIDED, Rule, paired, settled
from ciphermark_analysis.family import ERROR, POWER
from ciphermark_analysis.two_runs import HOST_WIDE_SHIFT, judgements
from ciphermark_core import percentages
from ciphermark_core.metrics import METRICS
from ciphermark_present import charting, formats, headings, parameters
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import OPERATION, SCHEME, SIZE, VARIANT, N
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.page import OF_METRIC, THRESHOLD
from ciphermark_present.printed import Cells, Head, Printed, grouped, of, printed
from ciphermark_present.query import Answer, Row

ALL = "all operations"
# Keys and fresh ciphertexts belong to the parameters; every trial that needs them includes the peak of making them.
_PHASES = ("keygen", "encrypt")
_METRIC = "peak_memory"
_OF_OPERATION = frozenset(
    ("experiment", "operation", "label", "is_composite", "comparison_group", "case_key", "repetitions")
)
# Properties of the trials that measured the peak, not of the peak.
_OF_TRIALS = frozenset(
    (
        "reference_kernel_s",
        "reference_kernel_spread",
        "steal_share",
        "memory_kernel_s",
        "executed_ciphertexts",
    )
)


def said_once(rows: Iterable[Row]) -> list[Row]:
    """The rows, with those merged that concern the parameters and differ only in the operation. The operation of a
    merged row is :data:`ALL`, and its case the first one's. Rows with any different result stay separate.
    """
    groups: dict[object, list[Row]] = {}
    for place, row in enumerate(rows):
        groups.setdefault(_alike(row) or place, []).append(row)
    return [same[0] if len(same) == 1 else {**same[0], "operation": ALL} for same in groups.values()]


def with_rows_once(answer: Answer, _: Row) -> Answer:
    """As :func:`said_once`, for an answer."""
    rows = said_once(answer.mappings)
    return Answer(answer.columns, [tuple(row[name] for name in answer.columns) for row in rows])


def _alike(row: Row) -> str | None:
    """A text that is equal for rows that :func:`said_once` merges; ``None`` for a row that stays separate."""
    if row["metric"] != _METRIC or row["phase"] not in _PHASES:
        return None
    return repr(
        sorted((name, value) for name, value in row.items() if name not in _OF_OPERATION | _OF_TRIALS)
    )


INCOMPARABLE = "not comparable"
REGRESSIONS = ("failed", "slower", "worse")
GAINS = ("fixed", "faster", "better")
_ADJECTIVES = {"failed": "failing", HOST_WIDE_SHIFT: "shifted with the host"}
OPEN = (HOST_WIDE_SHIFT, UNDECIDED)  # neither a change of the build nor the absence of one
_ORDER = (*REGRESSIONS, "changed", *GAINS, *OPEN, "unchanged", INCOMPARABLE)


def judged(answers: Sequence[Answer], params: Row) -> Answer:
    """The results of run a and run b side by side with their judgments, changes first. Pure."""
    rows = []
    pairs = settled(paired(*(answer.mappings for answer in answers)))
    chosen = params[THRESHOLD.name]
    threshold = percentages.factor(THRESHOLD.label, None if chosen == OF_METRIC else chosen)
    rule = Rule.over(pairs, params["levels"] == "any", threshold)
    for row, judgement in zip(pairs, judgements(pairs, rule), strict=True):
        of_run = params["run_b"] if row["b_status"] is not None else params["run_a"]
        rows.append((*judgement, of_run))
    place = COLUMNS.index("verdict")
    rows.sort(key=lambda row: _ORDER.index(kind_of(row[place])))
    return Answer((*COLUMNS, "run_id"), rows)


def kind_of(verdict: str) -> str:
    """The verdict without its reason."""
    return verdict.partition(":")[0]


def counted(rows: Sequence[Row]) -> Iterator[str]:
    """The number of cases with each verdict, in the order of importance."""
    yield from (f"{count:,} {kind}" for kind, count in verdicts(rows).items())


def verdicts(rows: Sequence[Row]) -> dict[str, int]:
    """The number of rows with each verdict, in the order of importance."""
    counts = Counter(kind_of(row["verdict"]) for row in rows)
    return {kind: counts[kind] for kind in _ORDER if counts[kind]}


def headline(rows: Sequence[Row]) -> str:
    """The verdict as a sentence: the number of results of each kind."""
    counts = verdicts(rows)
    left_out = counts.pop(INCOMPARABLE, 0)
    if not counts:
        reasons = incomparable(rows)
        return (
            f"Nothing can be compared: {reasons[0][0]}."
            if reasons
            else "Nothing can be compared: no results."
        )
    whole = len(rows) - left_out
    parts = [f"{count:,} {_ADJECTIVES.get(kind, kind)}" for kind, count in counts.items()]
    if not any(kind in counts for kind in REGRESSIONS):
        return f"None of {_results(whole)} regressed: {', '.join(parts)}."
    first, *rest = counts.items()
    verb = "is" if first[1] == 1 else "are"
    lead = f"{first[1]:,} of {_results(whole)} {verb} {_ADJECTIVES.get(first[0], first[0])}"
    return f"{', '.join([lead, *parts[1:]])}." if rest else f"{lead}."


def _results(count: int) -> str:
    return f"{count:,} result{'' if count == 1 else 's'}"


def incomparable(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """The reasons why results cannot be compared, the most frequent first, with their numbers."""
    verdicts = [row["verdict"] for row in rows if kind_of(row["verdict"]) == INCOMPARABLE]
    return Counter(verdict.partition(": ")[2] for verdict in verdicts).most_common()


def _verdict(value: str) -> str:
    kind = kind_of(value)
    if kind in REGRESSIONS:
        return f"▼ {value}: a regression" if kind == value else f"▼ {value}"
    return f"▲ {value}" if kind in GAINS else value


def _text(value: Any) -> str:
    return value or ""


def _bits(metric: str) -> str:
    """The difference in bits up to which values of a metric count as unchanged."""
    return f"{METRICS[metric].threshold:g} bits"


_MAX_CASES = 40


def draw_two_runs(rows: Sequence[Row]) -> Chart | None:
    """Ratio b/a of the times that changed, regressions first, with its interval; of all times where none changed. Above
    1, run b is slower. Marks are hollow: runs are not interleaved.
    """
    judged = [row for row in rows if row["ratio"] and row["metric"] == "time"]
    if not judged:
        return None
    chosen = [row for row in judged if kind_of(row["verdict"]) in CHANGES] or judged
    chosen.sort(key=lambda row: (_ORDER.index(kind_of(row["verdict"])), -abs(math.log(row["ratio"]))))
    chosen = chosen[:_MAX_CASES]
    labels = parameters.apart(chosen, lambda row: (_case_of_two(row), row["ring_dimension"]))
    labelled = [
        {
            **row,
            "ci_low": row["ratio_low"],
            "ci_high": row["ratio_high"],
            "case": charting.joined(_case_of_two(row), label),
            "is_hollow": True,
        }
        for row, label in zip(chosen, labels, strict=True)
    ]
    ratios = [
        {**row, "text": f"{row['text'].removeprefix('≈ ')} {kind_of(row['verdict'])}"}
        for row in charting.with_ratio(labelled)
    ]
    names = charting.variants_of(ratios)
    order = [row["case"] for row in ratios]
    base = alt.Chart().encode(y=alt.Y("case:N", title=None, sort=order, axis=charting.bands()))
    x = charting.ratio_x("ratio", "Time in B / time in A", charting.ends_of(ratios))
    tips = charting.tips("case:N", *charting.ratio_tips())
    look: dict[str, Any] = {"color": charting.colour(names), "shape": charting.shape(names), "tooltip": tips}
    columns = ("variant", "case", "ratio", "from", "to", "at", "text", "interval")
    chart = alt.layer(*charting.ratio_layers(base, x, **look), data=charting.data(ratios, *columns))
    chart = chart.properties(width="container", height=22 * len(ratios))
    rest = len(judged) - len(ratios)
    return chart.properties(title=f"Not shown: {rest:,} other times") if rest else chart


def _case_of_two(row: Row) -> str:
    times = "" if row["repetitions"] is None else f" × {row['repetitions']}"
    place = f"{row['operation']}{times}, {row['scheme'].upper()} {row['ring_dimension']}"
    data = "" if row["data_pattern"] == "random" else f" {row['data_pattern']}"
    phase = "" if row["phase"] == "evaluate" else f", {row['phase']}"
    return f"{row['variant']}: {place}, {row['vector_length']}{data}{phase}"


TWO_RUNS = Figure(
    name="two-runs",
    title="Case by case",
    finding=lambda rows: headline(said_once(rows)),
    lead="Run B divided by run A: above 1, B is slower or larger.",
    reading=(
        "A time is slower or faster if its whole interval exceeds the significance threshold: 5% for most metrics, or "
        "as selected. It is unchanged if the whole interval stays within the threshold, else undecided. The intervals "
        f"hold jointly: at most {ERROR:.0%} of comparisons of equal builds report any difference. They are widened by "
        "the difference of the hosts' reference kernels. The detectable slowdown is the smallest that a comparison "
        f"reports with a probability of {POWER:.0%}. Unchanged are peak memory within 15%, sizes within 5%, noise "
        f"budgets within {_bits('noise_budget')} and precision within {_bits('precision')}. A trial that failed only "
        "in B is a regression. The downloaded SQL returns the results that are judged here."
    ),
    on_page=(
        "A hollow mark has other parameters in the two runs. The history of a suite has the fewest levels within which "
        f"no two runs differ. Where nothing changed, the probability of any change point is {ERROR:.0%} at most."
    ),
    view="run_results",
    narrowed_by=(),
    order="case_key, phase, metric, repetitions",
    read=READ,
    chart=draw_two_runs,
    combine=judged,
    printed=(),
    columns=(
        Column("verdict", "In B", _verdict),
        VARIANT,
        OPERATION,
        replace(SCHEME, detail=3),
        replace(N, detail=3),
        Column("phase", "Phase", formats.text, detail=4),
        Column("metric", "Metric", formats.text),
        columns.ratio("ratio", "B / A"),
        columns.interval(lambda _, low, high: formats.ratio_interval(low, high), "ratio_low", "ratio_high"),
        *columns.opened(
            Column("a_median", "A", is_number=True, unit="unit"),
            Column("b_median", "B", is_number=True, unit="unit"),
            Column("experiment", "Experiment"),
            SIZE,
            Column("data_pattern", "Data"),
            Column("repetitions", "Operations", formats.text, is_number=True),
            columns.count("detectable_slowdown", "Detectable slowdown"),
            columns.ratio("reference_kernel_ratio", "Reference kernel B / A"),
            Column("remark", "Parameters", _text),
        ),
    ),
    empty="No case has this verdict.",
)


_HEADING = (
    "experiment",
    "scheme",
    "ring_dimension",
    "tuning",
    *LEVELS,
    "vector_length",
    "data_pattern",
    "data_set",
    "threads",
)
_LARGEST = 5
_MAX_SHOWN = 20  # rows in a summary table
CHANGES = (*REGRESSIONS, "changed", *GAINS)
_MEASURED = ("experiment", "operation", "phase", "metric", "repetitions", "scheme")


Conclusion = Literal["no regression", "regression", "nothing compared", "undecided"]
EXIT_CODES: dict[Conclusion, int] = {
    "no regression": 0,
    "regression": 1,
    "nothing compared": 2,
    "undecided": 3,
}


@dataclass(frozen=True, slots=True)
class Summary:
    """A comparison as a whole. It has the conclusion and the number of results with each verdict. It counts the
    undecided results that are accepted (:func:`conclusion`), and the times with an interval. The detectable slowdowns
    (factors), in the median and at most, are ``None`` without an interval.
    """

    conclusion: Conclusion
    verdicts: dict[str, int]
    accepted: int
    times: int
    detectable_median: float | None
    detectable_largest: float | None


def summary(rows: Sequence[Row], power: float | None = None) -> Summary:
    """The summary of judged rows; ``power`` as for :func:`conclusion`. Pure."""
    detectable = [row["detectable_slowdown"] for row in rows if row["detectable_slowdown"] is not None]
    return Summary(
        conclusion(rows, power),
        verdicts(rows),
        sum(_rules_out(row, power) for row in rows if kind_of(row["verdict"]) in OPEN),
        len(detectable),
        median(detectable) if detectable else None,
        max(detectable, default=None),
    )


def conclusion(rows: Sequence[Row], power: float | None = None) -> Conclusion:
    """The conclusion of a comparison from its judged rows: ``undecided`` where nothing regressed and some result is
    undecided.

    With ``power``, a slowdown (a factor), an undecided result is accepted where its interval rules that slowdown out.
    """
    kinds = {kind_of(row["verdict"]) for row in rows}
    if not kinds - {INCOMPARABLE}:
        return "nothing compared"
    if kinds.intersection(REGRESSIONS):
        return "regression"
    open_rows = [row for row in rows if kind_of(row["verdict"]) in OPEN]
    return "no regression" if all(_rules_out(row, power) for row in open_rows) else "undecided"


def _rules_out(row: Row, slowdown: float | None) -> bool:
    return slowdown is not None and row["ratio_high"] is not None and row["ratio_high"] < slowdown


def verdict_of_runs(rows: Sequence[Row], power: float | None = None) -> str:
    """The conclusion in words, and the number of results with each verdict."""
    whole = summary(rows, power)
    counts = ", ".join(counted(rows)) or "no results"
    match whole.conclusion:
        case "nothing compared":
            why = "".join(f". Most common reason: {reason}" for reason, _ in incomparable(rows)[:1])
            return f"Nothing compared: {counts}{why}"
        case "regression":
            regressions = sum(whole.verdicts.get(kind, 0) for kind in REGRESSIONS)
            return f"{regressions:,} regression{'' if regressions == 1 else 's'}: {counts}"
        case "undecided":
            return f"Undecided: {counts}"
        case _:
            return f"No regression: {counts}"


def certainty(rows: Sequence[Row], power: float | None = None) -> list[str]:
    """The rate of false alarms of a comparison, the slowdowns that it detects, and the number of undecided results that
    are accepted; empty without an interval.
    """
    whole = summary(rows, power)
    if whole.detectable_median is None or whole.detectable_largest is None:
        return []
    notes = [
        f"Compared times: {whole.times:,}; false-alarm rate of the whole comparison: {ERROR:.0%}",
        f"Detectable slowdown (power {POWER:.0%}): median {percent(whole.detectable_median)}, "
        f"maximum {percent(whole.detectable_largest)}",
    ]
    return notes if power is None else [*notes, acceptance(whole.accepted, power)]


def acceptance(accepted: int, power: float) -> str:
    """The number of undecided results that are accepted, with the reason."""
    results = "1 undecided result" if accepted == 1 else f"{accepted:,} undecided results"
    return f"Accepted: {results} with an interval that rules out a slowdown of {percent(power)}"


def percent(factor: float) -> str:
    """A slowdown as a percentage."""
    return f"{100 * (factor - 1):.3g}%"


def largest(rows: Sequence[Row]) -> list[Printed]:
    """A table of the largest changes of each kind, regressions first; empty where nothing changed."""
    rows_shown: list[Row] = []
    for kind in CHANGES:
        own = [row for row in rows if kind_of(row["verdict"]) == kind]
        rows_shown += sorted(own, key=_smallness)[:_LARGEST]
    if not rows_shown:
        return []
    columns = [
        (Head("verdict"), lambda row: kind_of(row["verdict"])),
        of(VARIANT),
        (Head("case", is_prose=True), _case_in_words),
        (Head("result", is_prose=True), _result),
        *_VALUES,
    ]
    title = f"Largest changes, up to {_LARGEST} of each kind"
    return [replace(printed(title, "", columns, rows_shown[:_MAX_SHOWN], once=1), keys=_NAMES)]


def changes(rows: Sequence[Row]) -> int:
    """The number of rows that changed."""
    return sum(kind_of(row["verdict"]) in CHANGES for row in rows)


def _smallness(row: Row) -> float:
    ratio = row["ratio"]
    return -abs(math.log(ratio)) if ratio is not None and ratio > 0 else -math.inf


def _result(row: Row) -> str:
    return ", ".join(filter(None, (row["phase"], metric_label(row))))


def metric_label(row: Row) -> str:
    """The registry's label of the metric; a run of another version may have other metrics."""
    name = row["metric"] or ""
    return METRICS[name].label if name in METRICS else name.replace("_", " ")


def _case_in_words(row: Row) -> str:
    scheme = f"{row['scheme'].upper()}{', recommended' if row['tuning'] == 'recommended' else ''}"
    inputs = row["data_set"] or f"{formats.count(row['vector_length'])} values"
    return f"{_name(row)}, {scheme}, N = {row['ring_dimension']}, {inputs}"


def tables(rows: Sequence[Row]) -> Iterator[Printed]:
    """A table per parameters, level, vector and threads of judged rows, by column name."""
    labeled_rows = parameters.with_apart(
        rows, lambda row: tuple(row[name] for name in dict.fromkeys((*_MEASURED, *_HEADING)))
    )
    for same in grouped(labeled_rows, lambda row: (*(row[name] for name in _HEADING), row["apart"])):
        columns = [
            (Head("operation", is_prose=True), _name),
            of(VARIANT),
            (Head("phase", is_prose=True), lambda row: row["phase"] or ""),
            (Head("metric", is_prose=True), metric_label),
            *_VALUES,
            (Head("detectable", True, drop=2), _detectable),
            (Head("verdict", is_prose=True), _verdict_and_remark),
        ]
        yield replace(printed(_heading(same[0]), "", columns, same, once=1), keys=_NAMES)


def _heading(row: Row) -> str:
    length = formats.count(row["vector_length"])
    data = (
        f"{row['data_set']}, {length} values" if row["data_set"] else f"{length} {row['data_pattern']} values"
    )
    levels = [f"{_levels(row, year)} ({year})" for year in ("2018", "2024")]
    parts = (
        f"{row['scheme'].upper()} {row['experiment']}",
        f"N = {row['ring_dimension']}",
        headings.message([row]),
    )
    about = ", ".join(filter(None, parts))
    tuning = "recommended tuning" if row["tuning"] == "recommended" else ""
    measured = ", ".join(filter(None, (data, headings.threads(row), tuning, row["apart"])))
    return f"{about}. Security: {', '.join(levels)}. {measured}"


def _levels(row: Row, year: str) -> str:
    """The levels from the runs that resolved the parameters; from both where neither did."""
    runs = "".join(run for run in "ab" if row[f"{run}_security_2018"] is not None) or "ab"
    levels = (formats.security(row[f"{run}_security_{year}"]) for run in runs)
    return " against ".join(dict.fromkeys(levels))


def _name(row: Row) -> str:
    count = row["repetitions"]
    return row["operation"] if count is None else f"{row['operation']} × {count}"


def _interval(row: Row) -> str:
    return formats.ratio_interval(row["ratio_low"], row["ratio_high"]) if row["ratio_low"] else ""


_NAMES = 4  # columns that name a result
_VALUES: tuple[Cells, ...] = (
    (Head("A", True, drop=3), lambda row: formats.brief_quantity(row["a_median"], row["unit"] or "")),
    (Head("B", True, drop=3), lambda row: formats.brief_quantity(row["b_median"], row["unit"] or "")),
    (Head("B/A", True), lambda row: formats.ratio(row["ratio"] or None)),
    (Head("interval", True, drop=1), _interval),
)


def _detectable(row: Row) -> str:
    factor = row["detectable_slowdown"]
    return "" if factor is None else percent(factor)


def _verdict_and_remark(row: Row) -> str:
    return "; ".join(filter(None, (row["verdict"], row["remark"])))
