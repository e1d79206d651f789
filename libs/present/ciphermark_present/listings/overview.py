"""The ranks of a run at a glance: a line per operation, a column per variant. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from ciphermark_present import formats
from ciphermark_present.listings import headings, ranking
from ciphermark_present.listings.printed import Head, Printed, told_once
from ciphermark_present.listings.verdicts import cases
from ciphermark_present.query import Row

EXPLAINED = (
    "the fastest by its median, the others by how many times that they take: ≈ no difference, ? too few samples for an "
    "interval, * parameters other than the fastest one's, or not in turns with it"
)
MARKS = {"no difference": "≈", "too few samples": "?"}


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """The tables of ``ranking``, a line per operation and length of the vector."""
    for same in ranking.contests(answers, any_security):
        yield _grid(headings.heading(same), ranking.about(same), same)


def _grid(title: str, about: str, rows: Sequence[Row]) -> Printed:
    """Variants in the order of the geometric mean of their ratios."""
    variants = sorted({row["variant"] for row in rows}, key=_mean(rows))
    what = ranking.named(rows)
    texts = []
    for line in cases(rows):
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
    mark = MARKS.get(row["verdict"], "")
    return f"{mark}{formats.brief_digits(row['ratio'])}{'*' if ranking.remark(row) else ''}"
