"""Were the repetitions computed? Times that a library's cache would give away. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Under equal conditions, work done takes about as long as work done again.
_EQUAL_RATIO = 5.0
# A first execution pays for cold caches and untouched memory: up to this factor, and for at least this long,
# that is what makes it slower than a repeated one.
_COLD_RATIO = 10.0
_COLD_S = 300e-6
_CALL_S = 5e-6  # what one call of a loop may cost beside its single execution


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds per execution.

    ``repeated_s``: in the samples. ``single_s``: alone in its loop, on operands of the samples. ``fresh_s``: first
    execution on operands never seen; ``seen_s``: first execution of a new binding of operands seen before,
    measured beside ``fresh_s`` under the same conditions.
    """

    repeated_s: float
    single_s: float
    fresh_s: Sequence[float]
    seen_s: Sequence[float]


def suspicion(times: Times) -> str | None:
    """Why the results look cached, or ``None``."""
    fresh_s = min(times.fresh_s)
    if fresh_s > _EQUAL_RATIO * max(times.seen_s):
        ratio = fresh_s / max(*times.seen_s, 1e-9)
        return f"results look cached: operands never seen take {ratio:.0f} times as long as seen ones"
    if times.single_s > _EQUAL_RATIO * times.repeated_s + _CALL_S:
        ratio = times.single_s / max(times.repeated_s, 1e-9)
        return f"results look cached: one execution takes {ratio:.0f} times as long as one of many"
    if fresh_s > _COLD_RATIO * times.repeated_s and fresh_s - times.repeated_s > _COLD_S:
        ratio = fresh_s / max(times.repeated_s, 1e-9)
        return f"results look cached: operands never seen take {ratio:.0f} times as long as repeated ones"
    return None
