"""Comparison of two runs, case by case, at one security level or across levels, with the effects of their hosts.

The reference kernel is the same work in both runs. Where its time differs, all times differ, but not by one factor:
next to a busy neighbor the reference kernel slows down most, and memory-bound work hardly at all. A ratio of times is
therefore not corrected by the ratio of the reference kernels. Its interval is widened to hold both the measured and the
corrected ratio. A difference is reported only where both agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from operator import itemgetter
from statistics import median
from typing import Any

from ciphermark_analysis.estimates import Estimate, ratio_of
from ciphermark_analysis.family import ONE, Family, decided
from ciphermark_core.metrics import METRICS, SIGNIFICANCE_THRESHOLD, Metric
from ciphermark_core.security import COMPARED_BY, LEVEL_BY

Row = Mapping[str, Any]

PLACE = (
    "variant",
    "scheme",
    "ring_dimension",
    "experiment",
    "operation",
    "phase",
    "vector_length",
    "data_pattern",
    "data_set",
    "threads",
    "repetitions",
    "metric",
    "unit",
    "comparison_group",
    "tuning",
    "modulus_bits",
    "plain_modulus",
    "scale",
    "security_bits",
    "security_table",
    "chain_depth",
    "ring_dimension_is_minimum",
    "dimensions",
)
# The judgement of results of a metric.
JUDGED = ("direction", "threshold", "threshold_kind")
# Columns that each run has separately; their names begin with ``a_`` or ``b_``.
OWN = (
    "n",
    "processes",
    "median",
    "low",
    "high",
    "status",
    "error",
    "ring_dimension",
    "log_qp",
    "security_2018",
    "security_2024",
    "security_compared",
    "security_compared_2024",
    "key_switching",
    "decomposition_digits",
    "encryption",
    "parameter_set_id",
    "is_composite",
    "reference_kernel_s",
    "memory_kernel_s",
    "undisturbed_share",
    "slowdown",
)
_BESIDE = (*PLACE, *JUDGED, *(f"{side}_{name}" for side in "ab" for name in OWN))
_place_of, _own_of = itemgetter(*PLACE, *JUDGED), itemgetter(*OWN)
_NONE = (None,) * len(OWN)
# The columns of ``results`` that a comparison reads.
READ = tuple(dict.fromkeys(("case_key", *PLACE, *JUDGED, *OWN)))
_same_result = itemgetter("case_key", "phase", "metric", "repetitions")
_ORDER = (
    "vector_length",
    "data_pattern",
    "threads",
    "experiment",
    "operation",
    "repetitions",
    "phase",
    "metric",
    "variant",
)


def paired(a: Iterable[Row], b: Iterable[Row]) -> list[Row]:
    """Join the rows of the query ``run_results`` of two runs by result; the columns of a missing row are ``None``.

    Rows are ordered by scheme, ring dimension and descending level.
    """
    left: dict[Any, list[Row]] = {}
    for row in a:
        left.setdefault(_same_result(row), []).append(row)
    pairs, met = [], set()
    for row in b:
        key = _same_result(row)
        met.add(key)
        pairs += [_beside(other, row) for other in left.get(key, [None])]
    pairs += [_beside(row, None) for key, rows in left.items() if key not in met for row in rows]
    return sorted(pairs, key=_place)


def _beside(a: Row | None, b: Row | None) -> Row:
    row = a or b
    assert row is not None
    values = (*_place_of(row), *(_own_of(a) if a else _NONE), *(_own_of(b) if b else _NONE))
    return dict(zip(_BESIDE, values, strict=True))


def _place(row: Row) -> tuple[Any, ...]:
    level = row["b_security_2018"] if row["a_security_2018"] is None else row["a_security_2018"]
    return (
        row["scheme"],
        row["ring_dimension"],
        (level is None, -(level or 0)),
        *((row[name] is None, 0 if row[name] is None else row[name]) for name in _ORDER),
    )


# Processes of one binary differ for as long as they live, by where their pages lie. One process per run does not show
# by how much: the largest difference in 512 results of equal builds was 1.2 (decision 85).
ONE_PROCESS = 1.25

# Differences between runs in the readings of an undisturbed host.
_LEVEL_TOLERANCE = 1.03
_MEMORY_TOLERANCE = 1.25  # likewise, of the memory kernel
_TOGETHER = 0.8  # of the cases
# Effects of a host change on work, as powers of its effect on the reference kernel: from pointwise operations with HEXL
# to OpenFHE's (decisions 43 and 45).
_POWERS = (0.6, 1.5)


def reference_kernel_ratio(row: Row) -> float | None:
    """The reference kernel's time in run a divided by its time in run b; ``None`` where one is unknown."""
    a, b = row["a_reference_kernel_s"], row["b_reference_kernel_s"]
    return a / b if a and b else None


def memory_ratio(row: Row) -> float:
    """The factor a/b by which the shared cache and the memory alone may have changed times.

    It is the memory kernel's ratio beyond its variation on undisturbed hosts; 1 where a run has no such reading.
    """
    a, b = row["a_memory_kernel_s"], row["b_memory_kernel_s"]
    if not a or not b:
        return 1.0
    ratio: float = a / b
    return max(1.0, ratio / _MEMORY_TOLERANCE) if ratio > 1 else min(1.0, ratio * _MEMORY_TOLERANCE)


def disturbed(row: Row) -> list[str]:
    """The runs whose result of a row has only disturbed samples, which cannot be corrected."""
    return [
        side for side in "ab" if row[f"{side}_undisturbed_share"] == 0 and row[f"{side}_slowdown"] is None
    ]


def widened(ratio: Estimate, kernel_ratio: float | None) -> Estimate:
    """Widen the interval of a ratio of times to hold also the ratio corrected by the whole ratio of a kernel."""
    if kernel_ratio is None or ratio.low is None or ratio.high is None:
        return ratio
    return Estimate(
        ratio.n,
        ratio.median,
        min(ratio.low, ratio.low / kernel_ratio),
        max(ratio.high, ratio.high / kernel_ratio),
    )


def of_hosts(row: Row) -> tuple[float, float] | None:
    """The range of ratios a/b of equal times that the hosts alone may cause, by their reference kernels.

    Causes are different reference-kernel baselines, and the residual error of correcting unequal slowdowns. ``None``
    where a run has no reference kernel.
    """
    levels = reference_kernel_ratio(row)
    if levels is None:
        return None
    states = (row["a_slowdown"] or 1.0) / (row["b_slowdown"] or 1.0)
    moved = [power * log(levels) + (power - 1) * log(states) for power in _POWERS]
    return exp(min(0.0, *moved)) / _LEVEL_TOLERANCE, exp(max(0.0, *moved)) * _LEVEL_TOLERANCE


def host_remark(kernel_ratio: float | None) -> str:
    """The remark on the hosts of a ratio of times; empty where the reference kernels agree."""
    if kernel_ratio is None or 1 / _LEVEL_TOLERANCE <= kernel_ratio <= _LEVEL_TOLERANCE:
        return ""
    return f"host {_slower(kernel_ratio)} by its reference kernel"


def memory_remark(memory: float) -> str:
    """The remark on a ratio of times that memory may have changed by this factor; empty for no change."""
    return "" if memory == 1 else f"shared cache and memory {_slower(memory)}"


def drift(rows: Sequence[Row]) -> str | None:
    """The remark on the hosts of two runs as a whole, from rows with ``ratio`` and ``reference_kernel_ratio`` b/a.

    ``None`` without such rows, or where the host was the same.
    """
    times = [row for row in rows if row["reference_kernel_ratio"] and row["ratio"] and row["unit"] == "s"]
    if not times:
        return None
    drift = exp(-median(log(row["reference_kernel_ratio"]) for row in times))
    if not host_remark(drift):
        return None
    along = [row for row in times if log(row["ratio"]) * log(drift) < 0]
    variants = {row["variant"] for row in along}
    sentence = f"reference kernel {_slower(drift)}"
    if len(along) >= _TOGETHER * len(times) and variants == {row["variant"] for row in times}:
        shared = exp(-median(log(row["ratio"]) for row in times))
        sentence += (
            f". Host-wide shift: {len(along)} of {len(times)} times moved with it in all variants, median "
            f"{_slower(shared)}"
        )
    return f"{sentence}. Intervals include this difference"


def _slower(ratio: float) -> str:
    """A ratio a/b of times in words about b."""
    return f"{ratio:.2f}× faster in B" if ratio > 1 else f"{1 / ratio:.2f}× slower in B"


LEVELS = ("a_security_2018", "a_security_2024", "b_security_2018", "b_security_2024")
_MEDIANS = ("a_median", "b_median")
_UNDISTURBED = ("a_undisturbed_share", "b_undisturbed_share")
_OWN = tuple(
    f"{run}_{name}" for name in ("key_switching", "decomposition_digits", "parameter_set_id") for run in "ab"
)
_JUDGED = (
    "ratio",
    "ratio_low",
    "ratio_high",
    "detectable_slowdown",
    "reference_kernel_ratio",
    "verdict",
    "remark",
)
_told_of = itemgetter(*PLACE, *LEVELS, *_OWN, *_MEDIANS, *_UNDISTURBED)
COLUMNS = (*PLACE, *LEVELS, *_OWN, *_MEDIANS, *_UNDISTURBED, *_JUDGED)

# A change from ok to one of these is worse than any result; with the others, the case was not tried.
FAILURES = ("incorrect", "crashed", "out_of_memory", "timeout", "budget_exhausted")
_OTHER = {"a": "b", "b": "a"}
# The parameters that :func:`differences` compares.
TRAITS = (
    "ring_dimension",
    "log_qp",
    "security_2018",
    "security_2024",
    "key_switching",
    "decomposition_digits",
)
_LONGEST = 200  # characters of an error

_SAME_LOG_QP = 1.0  # bits: the chains of libraries for one request differ by less


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of two runs' results for one case and metric.

    ``ratio`` is a/b: above 1, b is faster. ``kernel_ratio`` is that of the reference kernel, by which the interval is
    widened. The interval holds simultaneously with those of all compared times. ``detectable`` is the smallest slowdown
    that would probably be reported (:meth:`Family.detectable`), widened like the interval. ``remark`` describes the
    differences in parameters and hosts.
    """

    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    remark: str = ""
    kernel_ratio: float | None = None
    detectable: float | None = None


UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule for the results of two runs: across security levels or not, and the number of times judged together.

    ``threshold`` is the significance threshold of times (a factor), ``None`` for that of each metric. Where a metric's
    own threshold exceeds the usual one, as for first executions, the larger of both counts.
    """

    across_security_levels: bool = False
    threshold: float | None = None
    family: Family = ONE

    @classmethod
    def over(cls, rows: Iterable[Row], across_security_levels: bool, threshold: float | None = None) -> Rule:
        """Build the rule for rows of :func:`settled` that are judged together."""
        results = sum(_has_interval(row, across_security_levels) for row in rows)
        return cls(across_security_levels, threshold, Family(results))

    def threshold_of(self, row: Row) -> float:
        """Times are judged by the threshold of the rule where that is larger, other metrics by their own."""
        threshold: float = row["threshold"]
        if self.threshold is None:
            return threshold
        return self.threshold if threshold <= SIGNIFICANCE_THRESHOLD else max(threshold, self.threshold)


def settled(rows: Iterable[Row]) -> list[Row]:
    """Rows of :func:`paired`, with a single row for a case that has results in only one of the runs. Pure."""
    rows = list(rows)
    results: dict[tuple[str, Any], Row] = {}  # by side and case
    endings: set[tuple[str, Any]] = set()
    for row in rows:
        for side in _sides(row):
            if row["metric"] is None:
                endings.add((side, _case(row)))
            else:
                results.setdefault((side, _case(row)), row)
    output = []
    for row in rows:
        sides = _sides(row)
        other = (_OTHER[sides[0]], _case(row))
        if len(sides) == 2:
            output.append(row)
        elif row["metric"] is None:
            output.append(_merged(row, other[0], results.get(other)))
        elif other not in endings:
            output.append(row)
    return output


def judged(row: Row, rule: Rule) -> Judgement:
    """The judgement of one row of :func:`settled`. Pure."""
    reason = _ending(row) or _incomparable(row, rule.across_security_levels)
    if reason is not None:
        return Judgement(None, None, None, reason)
    a, b = row["a_median"], row["b_median"]
    remark = differences(_side(row, "a"), _side(row, "b"))
    if row["unit"] != "s":
        return Judgement(a / b if b else None, None, None, _metric(row).change(a, b), remark)
    if not _are_above_zero(row):
        return Judgement(None, None, None, "not comparable: derived time not above zero", remark)
    return of_times(row, remark, rule)


def of_times(row: Row, remark: str, rule: Rule) -> Judgement:
    """The judgement of two times: none for a disturbed host, and at most what the reference kernels allow."""
    ratio, kernel_ratio, memory = ratio_of(*estimates(row)), reference_kernel_ratio(row), memory_ratio(row)
    remarks = ", ".join(filter(None, (remark, host_remark(kernel_ratio), memory_remark(memory))))
    reason = _undecidable(row)
    if reason is not None:
        return Judgement(ratio.median, None, None, f"{UNDECIDED}: {reason}", remarks, kernel_ratio)
    threshold, family = rule.threshold_of(row), rule.family
    interval = widened(widened(family.simultaneous(ratio), kernel_ratio), memory)
    verdict: str = decided(interval, threshold)
    single = [side for side in "ab" if row[f"{side}_processes"] == 1]
    if single:
        threshold = max(threshold, ONE_PROCESS)
        if verdict in ("slower", "faster") and verdict != decided(interval, threshold):
            verdict = f"{UNDECIDED}: one process in {_runs(single)}"
    detectable = family.detectable(ratio, threshold)
    if detectable is not None:
        detectable *= max(1.0, 1 / (kernel_ratio or 1.0)) * max(1.0, 1 / memory)
    return Judgement(
        interval.median,
        interval.low,
        interval.high,
        verdict,
        remarks,
        kernel_ratio,
        detectable,
    )


def estimates(row: Row) -> list[Estimate]:
    """The two runs' estimates of a row with values in both."""
    return [Estimate(*(row[f"{side}_{name}"] for name in ("n", "median", "low", "high"))) for side in "ab"]


def _undecidable(row: Row) -> str | None:
    """Why two times that can be compared have no interval of their ratio."""
    runs = disturbed(row)
    if runs:
        return f"only disturbed samples in {_runs(runs)}"
    runs = _without_interval(row)
    return f"too few samples in {_runs(runs)}" if runs else None


def _runs(names: Sequence[str]) -> str:
    return " and ".join(f"run {name.upper()}" for name in names)


def _without_interval(row: Row) -> list[str]:
    return [side for side in "ab" if row[f"{side}_low"] is None or row[f"{side}_high"] is None]


def _has_interval(row: Row, across_security_levels: bool) -> bool:
    """Whether a row of :func:`settled` has an interval by which times are judged."""
    is_comparable = _ending(row) is None and _reason_against(row, across_security_levels) is None
    return is_comparable and row["unit"] == "s" and _are_above_zero(row) and _undecidable(row) is None


def with_judgement(row: Row, rule: Rule) -> tuple[Any, ...]:
    """A row of :func:`settled` with its judgement: values of :data:`COLUMNS`. Their ratios are b/a, as everywhere that
    readers see them: above 1, b takes longer. Pure.
    """
    judgement = judged(row, rule)
    results = (
        _inverse(judgement.ratio),
        _inverse(judgement.high),
        _inverse(judgement.low),
        judgement.detectable,
        _inverse(judgement.kernel_ratio),
        judgement.verdict,
        judgement.remark,
    )
    return (*_told_of(row), *results)


def _inverse(ratio: float | None) -> float | None:
    return 1 / ratio if ratio else None


def differences(row: Row, other: Row) -> str:
    """Describe how the parameters of two compared rows differ; empty where they are the same. Pure.

    Both have all of :data:`TRAITS`; the kind of encryption is compared where both report it.
    """
    phrases = security_differences(row, other)
    if row["ring_dimension"] != other["ring_dimension"]:
        phrases.append(f"N {row['ring_dimension']} against {other['ring_dimension']}")
    if abs(row["log_qp"] - other["log_qp"]) > _SAME_LOG_QP:
        phrases.append(f"log QP {row['log_qp']:.0f} against {other['log_qp']:.0f}")
    for name, words in (("key_switching", "key switching"), ("decomposition_digits", "decomposition digits")):
        if row[name] != other[name]:
            phrases.append(f"{words} {row[name] or 'none'} against {other[name] or 'none'}")
    keys = [key for key in (row.get("encryption"), other.get("encryption")) if key is not None]
    if len({*keys}) > 1:
        phrases.append(f"encryption with the {' against the '.join(keys)}")
    return ", ".join(phrases)


def security_differences(row: Row, other: Row) -> list[str]:
    """Describe how the security of two rows differs, by level, by table, or both."""
    tables: dict[tuple[Any, Any], list[str]] = {}
    for table, name in LEVEL_BY.items():
        if row[name] != other[name]:
            tables.setdefault((row[name], other[name]), []).append(table)
    return [
        f"security {short_level(mine)} against {short_level(theirs)} bits ({', '.join(names)})"
        for (mine, theirs), names in tables.items()
    ]


def short_level(bits: int | None) -> str:
    """A security level as text for a column; 0 means below the lowest level, ``None`` rated by no table."""
    if bits is None:
        return "unknown"
    return str(bits) if bits else "<128"


def _metric(row: Row) -> Metric:
    """The metric of a row, as the database has it."""
    return Metric(
        row["metric"],
        row["unit"],
        row["direction"],
        row["threshold"],
        row["metric"],
        "",
        row["threshold_kind"],
    )


def _are_above_zero(row: Row) -> bool:
    """Whether times can be divided: a transfer is the rest of a stage, and clock resolution may make it 0 or less."""
    values = (row[f"{side}_{name}"] for side in "ab" for name in ("median", "low", "high"))
    return all(value > 0 for value in values if value is not None)


_case = itemgetter("variant", "comparison_group")


def _sides(row: Row) -> list[str]:
    """The runs that have the row."""
    return [side for side in "ab" if row[f"{side}_status"] is not None]


def _merged(ending: Row, side: str, result: Row | None) -> Row:
    """The ending of a case in one run, with the facts of the other run, ``side``, where that has results."""
    if result is None:
        return ending
    own = {name: value for name, value in result.items() if name.startswith(f"{side}_")}
    none = {f"{side}_{name}": None for name in ("n", "median", "low", "high")}
    return {**ending, **own, **none, "results_of": side}


def _ending(row: Row) -> str | None:
    """The remark on a case with results in only one run."""
    side = row.get("results_of")
    if side is None:
        return None
    other = _OTHER[side]
    if row[f"{other}_status"] not in FAILURES:
        return f"not comparable: {_told(row, other)}"
    return f"{'failed' if other == 'b' else 'fixed'}: {_told(row, other)}"


def _told(row: Row, side: str) -> str:
    """The text for the ending of a case in a run without a result."""
    if row[f"{side}_status"] == "ok":
        return f"run {side.upper()} is ok without a valid sample"
    error = (row[f"{side}_error"] or "").partition("\n")[0]
    shown = error if len(error) <= _LONGEST else error[:_LONGEST] + "…"
    return f"run {side.upper()} is {row[f'{side}_status']}" + (f": {shown}" if shown else "")


def _incomparable(row: Row, across_security_levels: bool) -> str | None:
    reason = _reason_against(row, across_security_levels)
    return None if reason is None else f"not comparable: {reason}"


def _reason_against(row: Row, across_security_levels: bool) -> str | None:
    for side in "ab":
        if row[f"{side}_status"] is None:
            return f"only in run {_OTHER[side].upper()}"
    without = [side for side in "ab" if row[f"{side}_median"] is None]
    if without:
        reasons = [_told(row, side) for side in without]
        same = {text.partition(" is ")[2] for text in reasons}
        return f"both runs are {same.pop()}" if len(reasons) == 2 and len(same) == 1 else "; ".join(reasons)
    a, b = (row[f"{side}_{COMPARED_BY[row['security_table']]}"] for side in "ab")
    if a != b and not across_security_levels:
        return f"security {_level(a)} against {_level(b)} ({row['security_table']})"
    if row["a_is_composite"] != row["b_is_composite"]:
        return f"composite only in run {'A' if row['a_is_composite'] else 'B'}"
    metric = METRICS.get(row["metric"])
    if metric is not None and metric.is_once and _without_interval(row):
        return "one sample per process, too few processes"
    return None


def _level(bits: int | None) -> str:
    if bits is None:
        return "unknown"
    return f"{bits} bits" if bits else "below 128 bits"


def _side(row: Row, name: str) -> Row:
    return {trait: row[f"{name}_{trait}"] for trait in (*TRAITS, "encryption")}
