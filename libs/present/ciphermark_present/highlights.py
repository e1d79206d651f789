"""Results of a run that a reader would hardly expect: each kind of highlight reports its largest case. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ciphermark_analysis.comparison import differences
from ciphermark_present.catalogue import ranking
from ciphermark_present.formats import brief_seconds, ratio, ratio_interval
from ciphermark_present.printed import grouped
from ciphermark_present.query import Row

MOST = 3
_UNDECIDED = ("no difference", "too few samples")
_MIN_RATIO = 1.05  # the significance threshold
_MIN_COLD = 2.0  # caches alone explain a smaller ratio
_MIN_COLD_SAMPLES = 6  # the minimum for a 95% interval of their median
_USUAL_DATA = ("random", "real")
_CASE = ("comparison_group", "label", "phase", "repetitions")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The basis of highlights: the ranked rows of ``ranking.contests``; the rows of the figure ``speedup``, whose
    labels name the timed object; the rows of ``first-executions``; and the wrapped variant of each wrapper.
    """

    ranked: Sequence[Row]
    speedups: Sequence[Row]
    first_executions: Sequence[Row]
    wraps: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Highlight:
    """A sentence, and its variant and case, which are reported only once."""

    about: tuple[object, ...]
    sentence: str


def highlights(evidence: Evidence) -> list[str]:
    """The sentences of the first :data:`MOST` kinds with evidence, no case of a variant twice.

    Times with disturbed samples only, or with too few samples for an interval, are not evidence.
    """
    ranked = [row for row in evidence.ranked if row["standing"] != "disturbed"]
    evidence = replace(evidence, ranked=ranked)
    sentences: dict[tuple[object, ...], str] = {}
    for tell in _KINDS:
        for highlight in tell(evidence):
            if highlight.about not in sentences:
                sentences[highlight.about] = highlight.sentence
                break
    return list(sentences.values())[:MOST]


def _upsets(evidence: Evidence) -> Iterator[Highlight]:
    """Cases in which the leading variant of a scheme is not the fastest."""
    beaten = []
    for same in grouped(evidence.ranked, lambda row: (row["scheme"], row["tuning"])):
        leader = Counter(row["variant"] for row in same if row["rank"] == 1).most_common(1)
        beaten += [row for row in same if leader and row["variant"] == leader[0][0] and row["rank"] != 1]
    for row in _by_ratio(beaten):
        other = ranking.remark(row)
        yield Highlight(
            _about(row),
            f"{row['variant']} leads, but takes {ratio(row['ratio'])} as long as {row['fastest_variant']} for "
            f"{row['label']} ({_place(row)}{'; ' * bool(other)}{other})",
        )


def _wrappers(evidence: Evidence) -> Iterator[Highlight]:
    """The overhead of a wrapper over the library that it wraps, with the same parameters, where the intervals of both
    medians do not overlap.
    """
    costs = []
    for same in grouped(evidence.ranked, lambda row: tuple(row[name] for name in _CASE)):
        variants = {row["variant"]: row for row in same}
        for row in same:
            base = variants.get(evidence.wraps.get(row["variant"], ""))
            if base is not None and not differences(row, base) and _are_apart(row, base):
                costs.append((row["median"] / base["median"], row, base))
    for cost, row, base in sorted(costs, key=lambda cost: -cost[0]):
        yield Highlight(
            _about(row),
            f"{row['variant']} takes {ratio(cost)} as long as {base['variant']}, whose library it wraps, for "
            f"{row['label']} ({_place(row)})",
        )


def _are_apart(row: Row, base: Row) -> bool:
    """Whether a time is significantly longer than another one, by the intervals of both."""
    return None not in (row["low"], base["high"]) and row["low"] > _MIN_RATIO * base["high"]


def _without_gain(evidence: Evidence) -> Iterator[Highlight]:
    """Cases in which HEXL does not help: an interval with room for a gain is no evidence."""
    idle = [
        row
        for row in evidence.speedups
        if row["verdict"] == "slower" or (row["verdict"] == "no difference" and row["ci_high"] <= _MIN_RATIO)
    ]
    for row in sorted(idle, key=lambda row: row["ratio"]):
        what = "slows down" if row["verdict"] == "slower" else "does not speed up"
        yield Highlight(
            (row["comparison_group"], row["variant_on"], "HEXL"),
            f"HEXL {what} {row['label']} ({_place(row)}): {ratio(row['ratio'])}, 95% CI "
            f"{ratio_interval(row['ci_low'], row['ci_high'])}",
        )


def _widest(evidence: Evidence) -> Iterator[Highlight]:
    """Cases in which libraries with the same parameters differ most."""
    for row in _by_ratio([row for row in evidence.ranked if row["rank"] != 1 and not ranking.remark(row)]):
        yield Highlight(
            _about(row),
            f"Largest difference between libraries: {row['variant']} takes {ratio(row['ratio'])} as long as "
            f"{row['fastest_variant']} for {row['label']} ({_place(row)})",
        )


def _cold(evidence: Evidence) -> Iterator[Highlight]:
    """The cost of the first execution in a process, over enough processes."""
    cold = [
        row
        for row in evidence.first_executions
        if (row["cold_ratio"] or 0) > _MIN_COLD and row["cold_n"] >= _MIN_COLD_SAMPLES
    ]
    for row in sorted(cold, key=lambda row: -row["cold_ratio"]):
        yield Highlight(
            (*_about(row), "cold"),
            f"The first {row['label']} of {row['variant']} in a process takes {brief_seconds(row['cold_s'])}, "
            f"{ratio(row['cold_ratio'])} its warm time of {brief_seconds(row['warm_s'])} ({_place(row)})",
        )


_KINDS: tuple[Callable[[Evidence], Iterator[Highlight]], ...] = (
    _upsets,
    _wrappers,
    _without_gain,
    _widest,
    _cold,
)


def _by_ratio(rows: Sequence[Row]) -> list[Row]:
    """Rows that take significantly longer than the fastest, the longest first."""
    slower = [row for row in rows if (row["ratio"] or 0) > _MIN_RATIO and row["verdict"] not in _UNDECIDED]
    return sorted(slower, key=lambda row: (-row["ratio"], row["variant"], row["label"]))


def _about(row: Row) -> tuple[object, ...]:
    return row["comparison_group"], row["label"], row["variant"]


def _place(row: Row) -> str:
    tuning = ", recommended tuning" if row.get("tuning") == "recommended" else ""
    data = "" if row["data_pattern"] in _USUAL_DATA else f", {row['data_pattern']} data"
    return f"{row['scheme'].upper()}{tuning}, N = {row['ring_dimension']}{data}"
