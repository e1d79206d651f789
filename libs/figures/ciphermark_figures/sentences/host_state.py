"""What a reader must know of the host's state beside figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ciphermark_figures.answer import Row
from ciphermark_figures.formats import seconds


def told(row: Row) -> Iterator[str]:
    """A run's row of the view ``host_state`` in sentences: the share of samples kept always, what spoils figures if it
    does.
    """
    if not row["watched_trials"]:
        yield "nothing was watched beside the samples: what others did on the host is in the figures"
        return
    kept = f"{_share(row['quiet_share'])} of {row['samples']:,} timed samples were taken while the host was quiet"
    anchor = f"the anchor took {seconds(row['anchor_s'])}, and up to {_share(row['anchor_spread'])} more"
    yield f"{kept}, and figures are made of them ({anchor}{_lost(row)})"
    if row["watched_trials"] < row["trials"]:
        yield f"beside {row['trials'] - row['watched_trials']} of {row['trials']} trials nothing was watched"
    if row["short_trials"]:
        yield (
            f"{_trials(row['short_trials'])} ended at the limit with fewer quiet samples than were asked for: "
            "intervals are wider"
        )
    if row["disturbed_phases"]:
        yield (
            f"{row['disturbed_phases']} phases have no quiet sample: their figures are of a disturbed host "
            "(quiet_share is 0)"
        )


def _lost(row: Row) -> str:
    delay, steal = row["run_delay_share"], row["steal_share"]
    told = [
        f"others had the core for {_share(delay)}"
        if delay is not None
        else "the wait for the core is unknown",
        f"steal time {_share(steal)}" if steal is not None else "steal time is unknown",
    ]
    return "; " + ", ".join(told)


def _share(value: float) -> str:
    return f"{value:.1%}"


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"
