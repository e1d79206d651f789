from __future__ import annotations

import pytest

from ciphermark_measure.clock import MonotonicClock, Observed, disagreement, resolution_ns

MS = 1_000_000


class TickingClock:
    """Shows time in steps; every reading takes ``reading_ns``."""

    def __init__(self, tick_ns, reading_ns=40):
        self.tick_ns, self.reading_ns, self.true_ns = tick_ns, reading_ns, 0

    def now_ns(self):
        self.true_ns += self.reading_ns
        return self.true_ns // self.tick_ns * self.tick_ns


@pytest.mark.parametrize("tick_ns", [100, 1000, MS, 15 * MS])
def test_the_resolution_is_the_step_of_the_clock(tick_ns):
    assert resolution_ns(TickingClock(tick_ns, reading_ns=tick_ns // 7), ticks=5) == tick_ns


def test_a_clock_finer_than_its_reading_has_the_resolution_of_the_reading():
    assert resolution_ns(TickingClock(1, reading_ns=40)) == 40


def test_the_clock_of_this_host_is_monotonic_and_fine():
    clock = MonotonicClock()
    readings = [clock.now_ns() for _ in range(1000)]
    assert readings == sorted(readings)
    assert 0 < resolution_ns(clock) < MS


@pytest.mark.parametrize(
    ("reported", "observed", "expected"),
    [
        ([], [], None),
        ([10 * MS], [10 * MS], None),
        ([10 * MS], [10 * MS + 40_000], None),  # the call itself
        ([100_000], [140_000], None),
        ([10 * MS], [int(10.5 * MS)], None),  # within 5 %
        ([int(10.4 * MS)], [10 * MS], None),
        ([5 * MS] * 3, [10 * MS] * 3, 0.5),  # half the time
        ([20 * MS] * 3, [10 * MS] * 3, 2.0),  # twice the time
        ([0] * 5, [10 * MS] * 5, 0.0),  # a clock that stands still
        ([10 * MS] * 6 + [5 * MS] * 4, [10 * MS] * 10, None),  # fewer than half are astray: interruptions
        ([10 * MS] * 5 + [5 * MS] * 5, [10 * MS] * 10, None),
        ([10 * MS] * 4 + [5 * MS] * 6, [10 * MS] * 10, 0.5),
        ([-5 * MS] * 3, [10 * MS] * 3, -0.5),  # a clock that runs back
    ],
)
def test_disagreement(reported, observed, expected):
    calls = [Observed(*times) for times in zip(reported, observed, strict=True)]
    assert disagreement(calls) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("reported", "waited", "is_astray"),
    [
        (2 * MS, 8 * MS, False),  # the process waited outside the loop, and the loop took the rest
        (2 * MS, 9 * MS, False),  # in part of it inside
        (10 * MS, 8 * MS, False),  # inside the loop alone
        (2 * MS, 7 * MS, True),  # a millisecond is missing
        (12 * MS, 8 * MS, True),  # more than passed
    ],
)
def test_waiting_for_a_core_explains_what_a_loop_does_not_report(reported, waited, is_astray):
    assert Observed(reported, 10 * MS, waited).is_astray is is_astray
