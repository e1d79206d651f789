"""Detection of cached results: compares times of repeated executions with those on fresh operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median_low
from time import monotonic, process_time_ns, sleep

# Under equal conditions, a computation takes about as long on fresh operands as on repeated ones.
_EQUAL_RATIO = 5.0
# A first execution pays for cold caches and untouched memory: up to this factor, and for at least this long, they
# explain its slowness.
_COLD_RATIO = 10.0
_COLD_S = 300e-6
_CALL_S = 5e-6  # maximum overhead of one call of a loop with a single execution

# A suspicion must last for at least two looks, and more until this long has passed, with growing pauses between them:
# neighbors on the host hold a core for some milliseconds at a time, and a thread that wakes up waits for it.
_MIN_LOOKS = 2
_LOOKING_S = 10.0
_FIRST_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds per execution.

    ``repeated_s``: in the samples. ``single_s``: a single execution of a loop, on operands of the samples. ``fresh_s``:
    first executions on new operands. ``seen_s``: executions on operands seen before, measured under the same conditions
    as ``fresh_s``. All but the first exclude waiting for a core (:func:`work_s`).
    """

    repeated_s: float
    single_s: float
    fresh_s: Sequence[float]
    seen_s: Sequence[float]

    def beside(self, earlier: Times) -> Times:
        """The combined times of two looks at one trial. The host only makes executions longer, so values compared by
        their minimum use the shortest of both looks.
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

    ``look(number)`` times operands that no earlier look used. It returns ``None`` where one result is incorrect, which
    is a finding itself and ends the search.
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
    """Execute both once, in an order that alternates with ``number``, each right after ``warm``: on busy cores, threads
    that slept during encryption take long to wake.
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
    """Seconds per execution in a loop, without waiting for a core: the shorter of wall time and the process's CPU time.
    On a busy host the wall time includes waiting; with several threads the CPU time includes the busy waiting of one
    for another.
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
