"""What a reader must know of the host's state beside results. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.formats import seconds
from ciphermark_present.query import Row

_MAX_NAMED = 8  # results


def told(row: Row) -> Iterator[str]:
    """A run's row of the view ``host_state`` in sentences: the share of samples kept always, what spoils results if it
    does.
    """
    if not row["watched_trials"]:
        yield "nothing was watched beside the samples: what others did on the host is in the results"
        return
    samples = (
        f"{_share(row['undisturbed_share'])} of {row['timed_samples']:,} timed samples were taken "
        "while the host was undisturbed"
    )
    reference_kernel = (
        f"the reference kernel took {seconds(row['reference_kernel_s'])}, and up to "
        f"{_share(row['reference_kernel_spread'])} more"
    )
    yield f"{samples}{_corrected(row)} ({reference_kernel}{_lost(row)})"
    timed = row["timed_trials"]
    if row["watched_trials"] < timed:
        yield f"beside {timed - row['watched_trials']} of {timed} trials nothing was watched"
    if row["short_trials"]:
        yield (
            f"{_trials(row['short_trials'])} ended at the limit with fewer samples that count than were asked for: "
            "intervals are wider"
        )
    if row["disturbed_phases"]:
        names = row["disturbed_results"]
        some = "; ".join(names[:_MAX_NAMED]) + (
            f" and {more} more" if (more := len(names) - _MAX_NAMED) > 0 else ""
        )
        yield (
            f"in every sample of {row['disturbed_phases']} phases others had the core for most of the "
            f"time: their times are of a disturbed host and win no comparison (undisturbed_share is 0): {some}"
        )


def unlike_corrections(a: Sequence[Row], b: Sequence[Row]) -> str | None:
    """What to say where times of two runs were corrected by unlike rules (docs/decisions/0045), or those of one by
    several; ``None`` where all were corrected alike, or nothing was watched in a run. Of each run its rows of the view
    ``host_state``.
    """
    of_a, of_b = _gains(a), _gains(b)
    if not of_a or not of_b or len(of_a | of_b) == 1:
        return None
    return (
        f"times of a are {_rule(of_a)}, those of b {_rule(of_b)}: where the host was disturbed, a ratio may be off by "
        "what lies between"
    )


def _gains(rows: Sequence[Row]) -> set[float]:
    return {gain for row in rows for gain in row["reference_kernel_gains"] or ()}


def _rule(gains: set[float]) -> str:
    """How times were corrected; 0 is not at all."""
    factors = " or ".join(f"{gain:g}" for gain in sorted(gains) if gain)
    rules = [
        *(["not corrected"] if 0 in gains else []),
        *([f"corrected by {factors} times what the reference kernel reports"] * bool(factors)),
    ]
    return " or ".join(rules)


def _corrected(row: Row) -> str:
    """What became of the others: of runs from before times were corrected, they count for nothing."""
    if row.get("is_uncorrected"):
        return "; times are as the clock measured them, not corrected"
    slowdown = row["slowdown"]
    if slowdown is None:
        return ", and results are made of them"
    return (
        "; all times are corrected by the reference kernel and the run-queue delay, "
        f"together {slowdown:.2f} times in the mean"
    )


def _lost(row: Row) -> str:
    delay, steal = row["run_delay_share"], row["steal_share"]
    shares = [
        f"others had the core for {_share(delay)}" if delay is not None else "the run-queue delay is unknown",
        f"steal time {_share(steal)}" if steal is not None else "steal time is unknown",
    ]
    return "; " + ", ".join(shares)


def _share(value: float) -> str:
    return f"{value:.1%}"


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"
