"""``Bound.run`` tells the truth about time."""

from __future__ import annotations

from time import monotonic, perf_counter_ns

from ciphermark_contract.interfaces import Bound


def is_told(bound: Bound, patience_s: float = 20.0) -> None:
    """``run`` tells the time of its loops: nearly that of a clock around it, never more, and more for more loops.

    The machine may be busy: the best of all attempts counts, as many as there is patience for.
    """
    loops = _loops_for(bound, 1_000_000)
    short, long = [], []
    until_s = monotonic() + patience_s
    while not short or monotonic() < until_s:
        short.append(_timed(bound, loops))
        long.append(_timed(bound, 4 * loops))
        share = max(elapsed / outer for elapsed, outer in short)
        growth = min(long)[0] / min(short)[0]
        if share > 0.8 and growth > 2:
            return
    raise AssertionError(f"{loops} loops: {share:.0%} of a clock around it, four times as many: {growth:.2f}")


def _timed(bound: Bound, loops: int) -> tuple[int, int]:
    start = perf_counter_ns()
    elapsed = bound.run(loops)
    outer = perf_counter_ns() - start
    assert isinstance(elapsed, int), f"run returns {elapsed!r}, not whole nanoseconds"
    assert 0 < elapsed <= outer, f"run tells {elapsed} ns; a clock around it {outer} ns"
    return elapsed, outer


def _loops_for(bound: Bound, min_ns: int) -> int:
    """So many loops take that long by themselves: a host that stops a process makes one run of few loops as long, and
    not three in a row.
    """
    loops = 1
    while min(_timed(bound, loops)[1] for _ in range(3)) < min_ns:
        loops *= 2
        assert loops < 1 << 28, "more loops take no more time"
    return loops
