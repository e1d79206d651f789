"""What of a difference between two runs may be the host's: their anchors tell. Pure.

The anchor is the same work in both runs. Where it took another time, so did everything, but not by one factor: beside a
busy neighbour the anchor suffers most, and what waits for memory hardly. So a ratio of times is not corrected by the
anchors' ratio; its interval is widened until it holds both the ratio as measured and the corrected one. A difference
is claimed where it stands either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median
from typing import Any

from ciphermark_analysis.estimates import Estimate

Row = Mapping[str, Any]

# What readings of a quiet host differ by from one run to the next.
_TOLD = 1.03
_TOGETHER = 0.8  # of the cases
# What a change of the host makes of work, as powers of what it makes of the anchor: from pointwise operations with HEXL
# to OpenFHE's (decisions 43 and 45).
_POWERS = (0.6, 1.5)


def anchor_ratio(row: Row) -> float | None:
    """The anchor's time beside run a's samples divided by that beside run b's; ``None`` where one is unknown."""
    a, b = row["a_anchor_s"], row["b_anchor_s"]
    return a / b if a and b else None


def disturbed(row: Row) -> list[str]:
    """The runs whose figure of a row is made of disturbed samples, since there are no others: nothing corrects them."""
    return [side for side in "ab" if row[f"{side}_quiet_share"] == 0 and row[f"{side}_slow_down"] is None]


def widened(ratio: Estimate, anchors: float | None) -> Estimate:
    """A ratio of times with an interval that holds what it would be if all of the anchors' ratio were in it."""
    if anchors is None or ratio.low is None or ratio.high is None:
        return ratio
    return Estimate(
        ratio.n, ratio.median, min(ratio.low, ratio.low / anchors), max(ratio.high, ratio.high / anchors)
    )


def of_hosts(row: Row) -> tuple[float, float] | None:
    """From what ratio a/b to what ratio the hosts alone may have made of equal times, by their anchors: by quiet levels
    that differ, and by what the correction of unequal slow-downs leaves. ``None`` where a run has no anchor.
    """
    levels = anchor_ratio(row)
    if levels is None:
        return None
    states = (row["a_slow_down"] or 1.0) / (row["b_slow_down"] or 1.0)
    moved = [power * log(levels) + (power - 1) * log(states) for power in _POWERS]
    return exp(min(0.0, *moved)) / _TOLD, exp(max(0.0, *moved)) * _TOLD


def remark(anchors: float | None) -> str:
    """What to say beside a ratio of times; empty where the anchors agree."""
    if anchors is None or 1 / _TOLD <= anchors <= _TOLD:
        return ""
    return f"host {_slower(anchors)} by its anchor"


def told(rows: Sequence[Row]) -> str | None:
    """What the anchors say of two runs as a whole, from rows with ``ratio`` and ``anchor_ratio``; ``None`` without any,
    or where the host was the same.
    """
    known = [row for row in rows if row["anchor_ratio"] and row["ratio"] and row["unit"] == "s"]
    if not known:
        return None
    drift = exp(median(log(row["anchor_ratio"]) for row in known))
    if not remark(drift):
        return None
    along = [row for row in known if log(row["ratio"]) * log(drift) > 0]
    variants = {row["variant"] for row in along}
    sentence = f"by its anchor the host was {_slower(drift)}"
    if len(along) >= _TOGETHER * len(known) and variants == {row["variant"] for row in known}:
        shared = exp(median(log(row["ratio"]) for row in known))
        sentence += (
            f", and {len(along)} of {len(known)} times of all variants moved with it ({_slower(shared)} in the median)"
            ": that is the host, not the libraries"
        )
    return f"{sentence}. Intervals are widened by that: what is claimed stands with it and without"


def _slower(ratio: float) -> str:
    """A ratio a/b of times in words about b."""
    return f"{ratio:.2f} times faster in b" if ratio > 1 else f"{1 / ratio:.2f} times slower in b"
