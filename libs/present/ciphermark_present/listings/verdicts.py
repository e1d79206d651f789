"""Who is fastest how often, in operations, operations in a row, and stages of workloads. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ciphermark_present import subject
from ciphermark_present.listings import ranking
from ciphermark_present.listings.printed import grouped
from ciphermark_present.query import Row

FIGURES = tuple(replace(figure, subject=None, where={}) for figure in ranking.FIGURES)
OPERATION = "operation"
_IN_A_ROW = "operations in a row"
_COMPUTING = ".evaluate"  # a stage without this step is the client's alone, and no library computes in it
_CONTEST = ("scheme", "division", "what")


def of_run(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[str]:
    """For each scheme, division and what is timed a sentence: how often who is the fastest, in cases of two variants or
    more. ``answers`` are those of :data:`FIGURES`, whatever their phase.
    """
    yield from _sentences([_told(answer) for answer in answers], any_security)


def of_phase(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[str]:
    """The same of one phase, without a word about it; ``answers`` are those of ``ranking.FIGURES``."""
    yield from _sentences([[{**row, "what": ""} for row in answer] for answer in answers], any_security)


def _sentences(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[str]:
    lines = [line for same in ranking.contests(answers, any_security) for line in cases(same)]
    for same in grouped(sorted(lines, key=_order), lambda line: tuple(line[0][name] for name in _CONTEST)):
        first = same[0][0]
        division = "division best" if first["division"] == "best" else ""
        yield f"{', '.join(filter(None, (first['scheme'], division, first['what'])))}: {_verdict(same)}"


def _order(line: Sequence[Row]) -> tuple[str, bool, str]:
    """As tables stand, the division of all before that of each."""
    return line[0]["scheme"], line[0]["division"] != "best", line[0]["what"]


def timed(answer: Iterable[Row]) -> list[Row]:
    """The rows of an answer to one of :data:`FIGURES` that a reader is told of; their labels say what is timed: an
    operation, with its count in a row, or the stage of a workload.
    """
    return [{**row, "label": _label(row)} for row in _told(answer)]


def cases(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of a table, by what all variants of a line did."""
    return grouped(rows, lambda row: (row["comparison_key"], row["phase"], ranking.name(row)))


def _told(answer: Iterable[Row]) -> list[Row]:
    """With ``what`` is timed; without what is a part of something that is timed as well, and what no library does."""
    rows = list(answer)
    computed = {(row["comparison_key"], row["phase"]) for row in rows}
    found: list[Row] = []
    for row in rows:
        is_workload = subject.WORKLOAD.covers(row["experiment"])
        if is_workload and (row["comparison_key"], f"{row['phase']}{_COMPUTING}") in computed:
            found.append({**row, "what": row["phase"]})
        elif not is_workload and row["phase"] == OPERATION:
            found.append({**row, "what": _IN_A_ROW if subject.REPETITION.covers(row["experiment"]) else ""})
    return found


def _label(row: Row) -> str:
    named = {**row, "label": row.get("label", row["operation"])}
    return f"{row['operation']}, {row['phase']}" if row["phase"] == row["what"] else ranking.name(named)


def _verdict(lines: Sequence[Sequence[Row]]) -> str:
    """Who is the fastest in how many lines, of those where there is somebody to be faster than."""
    contested = [line for line in lines if len({row["variant"] for row in line}) > 1]
    if not contested:
        alone = ", ".join(sorted({row["variant"] for line in lines for row in line}))
        return f"nobody to compare {alone} with in {_cases(len(lines))}"
    leaders = [row for line in contested for row in line if row["rank"] == 1]
    counts = Counter(row["variant"] for row in leaders)
    told = ", ".join(f"{name} in {count}" for name, count in counts.most_common())
    return f"of {_cases(len(leaders))} fastest is {told}"


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"
