"""Were the repetitions computed? Times that a library's cache would give away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median_low
from time import monotonic, sleep
from typing import TypeVar

T = TypeVar("T")

# Under equal conditions, work done takes about as long as work done again.
_EQUAL_RATIO = 5.0
# A first execution pays for cold caches and untouched memory: up to this factor, and for at least this long,
# that is what makes it slower than a repeated one.
_COLD_RATIO = 10.0
_COLD_S = 300e-6
_CALL_S = 5e-6  # what one call of a loop may cost beside its single execution

# A suspicion must stand at least two looks, and more until this long has passed, with growing pauses between them:
# neighbours on the host hold a core for some milliseconds at a time, and a thread that wakes up waits for it.
_LEAST_LOOKS = 2
_LOOKING_S = 1.0
_FIRST_PAUSE_S = 0.01


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

    def beside(self, earlier: Times) -> Times:
        """The times of two looks at one trial. What the host adds to an execution only makes it longer, so the
        shortest of both looks tells most of what is compared by its minimum.
        """
        return Times(
            self.repeated_s,
            min(earlier.single_s, self.single_s),
            [*earlier.fresh_s, *self.fresh_s],
            [*earlier.seen_s, *self.seen_s],
        )


def lasting_suspicion(look: Callable[[int], Times | None]) -> str | None:
    """Why the results look cached in all looks taken together, or ``None``.

    ``look(number)`` times operands that no look before it had; it returns ``None`` where one of them came out wrong,
    which ends the looking: that is a finding by itself.
    """
    found, times = None, None
    for number in _numbers_of_looks():
        now = look(number)
        if now is None:
            return None
        times = now if times is None else now.beside(times)
        found = suspicion(times)
        if found is None:
            return None
    return found


def _numbers_of_looks() -> Iterator[int]:
    """0, 1, 2, … with a pause before each but the first."""
    start, pause_s = monotonic(), _FIRST_PAUSE_S
    for number in count():
        yield number
        if number + 1 >= _LEAST_LOOKS and monotonic() - start + pause_s > _LOOKING_S:
            return
        sleep(pause_s)
        pause_s *= 2


def in_turns(seen: T, fresh: T, number: int) -> tuple[T, T]:
    """The order in which pair ``number`` is timed. On a busy host a process that was idle runs undisturbed at first and
    waits later, so that what always came second would look slower.
    """
    return (fresh, seen) if number % 2 else (seen, fresh)


def suspicion(times: Times) -> str | None:
    """Why the results look cached, or ``None``."""
    fresh_s, seen_s = min(times.fresh_s), median_low(times.seen_s)
    if fresh_s > _EQUAL_RATIO * seen_s:
        ratio = fresh_s / max(seen_s, 1e-9)
        return f"results look cached: operands never seen take {ratio:.0f} times as long as seen ones"
    if times.single_s > _EQUAL_RATIO * times.repeated_s + _CALL_S:
        ratio = times.single_s / max(times.repeated_s, 1e-9)
        return f"results look cached: one execution takes {ratio:.0f} times as long as one of many"
    if fresh_s > _COLD_RATIO * times.repeated_s and fresh_s - times.repeated_s > _COLD_S:
        ratio = fresh_s / max(times.repeated_s, 1e-9)
        return f"results look cached: operands never seen take {ratio:.0f} times as long as repeated ones"
    return None
