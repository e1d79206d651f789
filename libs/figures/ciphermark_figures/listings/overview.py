"""The ranks of a run at a glance: who is fastest how often, and a line per operation, a column per variant. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ciphermark_figures import formats
from ciphermark_figures.answer import Row
from ciphermark_figures.listings import headings, ranking
from ciphermark_figures.listings.printed import Head, Printed, grouped, told_once

EXPLAINED = (
    "the fastest by its median, the others by how many times that they take: ≈ no difference, ? too few samples for an "
    "interval, * parameters other than the fastest one's, or not in turns with it"
)
_CONTEST = ("scheme", "division")
_MARKS = {"no difference": "≈", "too few samples": "?"}


def verdicts(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[str]:
    """For each scheme and division a sentence: how often who is the fastest, in cases of two variants or more;
    ``answers`` are those of ``ranking``.
    """
    lines = [line for same in ranking.contests(answers, any_security) for line in _lines(same)]
    for same in grouped(lines, lambda line: tuple(line[0][name] for name in _CONTEST)):
        first = same[0][0]
        division = ", division best" if first["division"] == "best" else ""
        yield f"{first['scheme']}{division}: {_verdict(same)}"


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


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """The tables of ``ranking``, a line per operation and length of the vector."""
    for same in ranking.contests(answers, any_security):
        yield _grid(headings.heading(same), ranking.about(same), same)


def _lines(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of a table, by what all variants of a line did."""
    return grouped(rows, lambda row: (row["comparison_key"], ranking.name(row)))


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def _grid(title: str, about: str, rows: Sequence[Row]) -> Printed:
    """Variants in the order of the geometric mean of their ratios."""
    variants = sorted({row["variant"] for row in rows}, key=_mean(rows))
    what = ranking.named(rows)
    texts = []
    for line in _lines(rows):
        cells = {row["variant"]: _cell(row) for row in line}
        own = (write(line[0]) for _, write in what)
        texts.append((*own, *(cells.get(variant, formats.NOTHING) for variant in variants)))
    heads = (*(head for head, _ in what), *(Head(variant, True) for variant in variants))
    named = len(what)
    return Printed(title, about, heads, told_once(texts, named - 1), keys=named)


def _mean(rows: Sequence[Row]) -> Callable[[str], tuple[float, str]]:
    logs: dict[str, list[float]] = {}
    for row in rows:
        logs.setdefault(row["variant"], []).append(math.log(row["ratio"] or 1.0))
    return lambda variant: (math.fsum(logs[variant]) / len(logs[variant]), variant)


def _cell(row: Row) -> str:
    if row["rank"] == 1:
        return " ".join(formats.duration(row["median"]))
    mark = _MARKS.get(row["verdict"], "")
    return f"{mark}{formats.brief_digits(row['ratio'])}{'*' if ranking.remark(row) else ''}"
