"""Were the repetitions computed? Times that a library's cache would give away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median_low
from time import monotonic, process_time_ns, sleep

# Under equal conditions, work done takes about as long as work done again.
_EQUAL_RATIO = 5.0
# A first execution pays for cold caches and untouched memory: up to this factor, and for at least this long,
# that is what makes it slower than a repeated one.
_COLD_RATIO = 10.0
_COLD_S = 300e-6
_CALL_S = 5e-6  # what one call of a loop may cost beside its single execution

# A suspicion must stand at least two looks, and more until this long has passed, with growing pauses between them:
# neighbours on the host hold a core for some milliseconds at a time, and a thread that wakes up waits for it.
_MIN_LOOKS = 2
_LOOKING_S = 10.0
_FIRST_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds per execution.

    ``repeated_s``: in the samples. ``single_s``: alone in its loop, on operands of the samples. ``fresh_s``: first
    executions on operands never seen; ``seen_s``: those on operands seen before, measured beside ``fresh_s`` under the
    same conditions. All but the first without waiting for a core (:func:`work_s`).
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


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds of an execution on operands seen before, and of one on fresh operands: by the clock, and without waiting
    for a core (:func:`work_s`).
    """

    seen_s: float
    seen_work_s: float
    fresh_s: float
    fresh_work_s: float


def lasting_suspicion(look: Callable[[int], Times | None]) -> str | None:
    """Why the results look cached in all looks taken together, or ``None``.

    ``look(number)`` times operands that no look before it had; it returns ``None`` where one of them came out wrong,
    which ends the looking: that is a finding by itself.
    """
    reason, times = None, None
    for number in _numbers_of_looks():
        now = look(number)
        if now is None:
            return None
        times = now if times is None else now.beside(times)
        reason = suspicion(times)
        if reason is None:
            return None
    return reason


def _numbers_of_looks() -> Iterator[int]:
    """0, 1, 2, … with a pause before each but the first."""
    start, pause_s = monotonic(), _FIRST_PAUSE_S
    for number in count():
        yield number
        if number + 1 >= _MIN_LOOKS and monotonic() - start + pause_s > _LOOKING_S:
            return
        sleep(pause_s)
        pause_s *= 2


def timed_in_turns(
    warm: Callable[[int], int], seen: Callable[[int], int], fresh: Callable[[int], int], number: int
) -> Pair:
    """Execute both once, in an order that alternates with ``number``, each right after ``warm``: where cores are busy,
    threads that slept while others encrypted wait long to be woken.
    """

    def executed(run: Callable[[int], int]) -> tuple[float, float]:
        warm(1)
        return _timed(run, 1)

    if number % 2:
        fresh_s, seen_s = executed(fresh), executed(seen)
    else:
        seen_s, fresh_s = executed(seen), executed(fresh)
    return Pair(*seen_s, *fresh_s)


def work_s(run: Callable[[int], int], loops: int = 1) -> float:
    """Seconds of one of so many executions in a loop, without waiting for a core: the shorter of wall time and the
    process's CPU time. On a busy host the former contains waiting, and with several threads the latter contains loops
    of one that waits for another.
    """
    return _timed(run, loops)[1] / loops


def _timed(run: Callable[[int], int], loops: int) -> tuple[float, float]:
    """Seconds of a loop: by its clock, and without waiting."""
    start_ns = process_time_ns()
    wall_ns = run(loops)
    return wall_ns / 1e9, min(wall_ns, process_time_ns() - start_ns) / 1e9


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
