"""How sure a page's answer is, by the ranks or the verdicts of its rows. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_present.query import Row

_UNDECIDED = frozenset(("too few samples", "undecided"))


def of(rows: Sequence[Row]) -> str:
    """*sure* if one variant is first and all are ranked, or if all verdicts are decided; *tie* if several variants are
    first; else *not sure*. Empty without ranks and verdicts. Of several rankings, the first one counts.
    """
    means = [row for row in rows if row.get("mean_ratio") is not None]
    ranks = [row["rank"] for row in means if _ranking(row) == _ranking(means[0])]
    if ranks:
        return "not sure" if None in ranks else "sure" if ranks.count(1) == 1 else "tie"
    verdicts = {row.get("verdict") for row in rows} - {None}
    if not verdicts:
        return ""
    return "not sure" if verdicts & _UNDECIDED else "sure"


def _ranking(row: Row) -> tuple[object, object]:
    return row.get("tuning"), row.get("is_composite")
