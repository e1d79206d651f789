"""Time of a computation over a link: both parties' work and the transfer, and the rates at which costs are equal. Pure.

At r bits per second, c seconds of work and b bytes take c + 8b / r, without latency. Two costs are equal at
r = 8 (b1 − b2) / (c2 − c1), if one has less work and the other fewer bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Work of both parties in seconds, and the bytes between them."""

    work_s: float
    size_bytes: float

    def time_s(self, rate: float) -> float:
        """The time over a link of ``rate`` bits per second."""
        return self.work_s + 8 * self.size_bytes / rate


@dataclass(frozen=True, slots=True)
class Turn:
    """From ``rate`` bits per second on, ``fastest`` (a place in the costs) takes the shortest time."""

    rate: float
    fastest: int


def crossing(a: Cost, b: Cost) -> float | None:
    """The rate at which two costs take the same time; ``None`` where one is never slower than the other."""
    more_bytes, less_work = a.size_bytes - b.size_bytes, b.work_s - a.work_s
    return 8 * more_bytes / less_work if more_bytes * less_work > 0 else None


def turns(costs: Sequence[Cost], low: float, high: float) -> list[Turn]:
    """The fastest cost of at least one at rate ``low``, and each change of the fastest up to rate ``high``."""
    order = [(cost.time_s(low), cost.work_s, place) for place, cost in enumerate(costs)]
    changes = [Turn(low, min(order)[2])]
    while True:
        last = changes[-1]
        now = costs[last.fastest]
        later = [
            (rate, cost.work_s, place)
            for place, cost in enumerate(costs)
            if cost.work_s < now.work_s and (rate := crossing(now, cost)) is not None
        ]
        rate, _, place = min(later, default=(high, 0.0, -1))
        if place < 0 or rate >= high:
            return changes
        changes.append(Turn(max(rate, last.rate), place))
