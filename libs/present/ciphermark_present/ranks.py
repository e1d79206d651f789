"""Overall ranks: means of ratios over cases, their intervals, and the resulting ranks. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_analysis import leaderboard
from ciphermark_analysis.correction import counted_by_round
from ciphermark_analysis.leaderboard import Bounds, Case
from ciphermark_analysis.resampling import Rounds
from ciphermark_present.charting import MIN_CASES
from ciphermark_present.query import Answer, Row

_GROUP = ("is_composite", "tuning")
_TOLD = ("variant", "is_composite", "tuning", "label", "hexl")
_COUNTS = ("common_cases", "fastest_in", "wins", "ties", "compared_cases", "ok", "unsupported", "failed")
COLUMNS = (*_TOLD, "rank", "mean_ratio", "ci_low", "ci_high", *_COUNTS, "case_ratios", "is_hollow")


def ranked(answer: Answer, _: Row) -> Answer:
    """A row per variant, from an answer with a row for each of its common cases.

    A variant has rank k + 1 where it is significantly slower than ``k`` others: by intervals of the difference, and by
    more than the significance threshold. There is neither interval nor rank where a case has too few samples for an
    interval of its own. There is no rank where a variant with a smaller mean would have a worse one: the interval is
    too wide for a decision.

    An interval ends at 1, the smallest possible mean, and fewer than :data:`charting.MIN_CASES` cases have none. A
    variant is hollow if one of its cases has other parameters than the fastest one's, or was not interleaved with it.
    """
    groups: dict[tuple[object, ...], dict[str, list[Row]]] = {}
    for row in answer.mappings:
        group = groups.setdefault(tuple(row[name] for name in _GROUP), {})
        group.setdefault(row["variant"], []).append(row)
    return Answer(COLUMNS, [row for variants in groups.values() for row in _group(variants)])


def _group(variants: dict[str, list[Row]]) -> list[tuple[object, ...]]:
    """The rows of variants that are ranked together."""
    cases = {name: [row for row in rows if row["ratio"] is not None] for name, rows in variants.items()}
    compared = [name for name, rows in cases.items() if rows]
    compared_cases = [cases[name] for name in compared]
    has_intervals = bool(compared_cases) and all(
        row["ci_low"] is not None for rows in compared_cases for row in rows
    )
    ranks = _judged(compared_cases) if has_intervals else [(None, (None, None))] * len(compared)
    judged = dict(zip(compared, ranks, strict=True))
    means = {name: leaderboard.geometric_mean([row["ratio"] for row in rows]) for name, rows in cases.items()}
    ordered = sorted(variants, key=lambda name: (means[name] is None, means[name] or 0.0, name))
    return [
        _told(
            variants[name][0],
            means[name],
            *judged.get(name, (None, (None, None))),
            cases[name],
        )
        for name in ordered
    ]


def _told(
    row: Row, mean: float | None, rank: int | None, bounds: Bounds, cases: Sequence[Row]
) -> tuple[object, ...]:
    is_of_few = len(cases) < MIN_CASES
    return (
        *(row[name] for name in _TOLD),
        rank,
        mean,
        *(None if bound is None or is_of_few else max(1.0, bound) for bound in bounds),
        *(row[name] for name in _COUNTS),
        [case["ratio"] for case in cases],
        any(case["is_hollow"] for case in cases),
    )


def _judged(variants: Sequence[Sequence[Row]]) -> list[tuple[int | None, Bounds]]:
    """Rank and interval of each variant, given the rows of its cases, which are the same for all."""
    return leaderboard.judged([[_case(row) for row in rows] for rows in variants])


def _case(row: Row) -> Case:
    rounds = Rounds(
        own=counted_by_round(row["rounds"], row["times"], row["slowdowns"]),
        fastest=counted_by_round(row["fastest_rounds"], row["fastest_times"], row["fastest_slowdowns"]),
        is_paired=row["is_paired"],
    )
    return Case(row["ratio"], row["ci_low"], row["ci_high"], rounds)
