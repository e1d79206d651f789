"""What becomes of jobs: every decision about attempts, deaths and rescue, apart from the processes it is about. Pure.

A job is *held* by the worker that the queue says executes it. A worker that was taken for dead, and lives, holds its
job no longer: another has it, and what this one says of it must not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_DEATHS = 3  # of attempts at one job; then it has failed

How = Literal["done", "interrupted", "refused", "away", "died"]
Step = Literal["wait", "interrupt", "give way", "conclude"]
Ended = Literal["done", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to change a job: the number of an attempt at it. A later attempt ends this right (a fencing token)."""

    job_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt ended: everything recorded; interrupted; refused, which no other attempt would change; without
    the database, or a disk that takes what is written; or by dying.
    """

    how: How
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """What a job is from now on: it ended in a ``state``, or waits again in the queue where that is ``None``."""

    state: Ended | None
    reason: str | None = None


def next_step(has_ended: bool, is_asked_to_end: bool, is_held: bool | None) -> Step:
    """What a worker does about its attempt. ``is_held`` is ``None`` while the database cannot be asked: an attempt that
    goes on may go on, and one that has ended waits for the answer.
    """
    if is_held is False:
        return "give way"
    if has_ended:
        return "wait" if is_held is None else "conclude"
    return "interrupt" if is_asked_to_end else "wait"


def fate_after_attempt(end: End, deaths: int | None = None) -> Fate:
    """What becomes of a job that is held when its attempt has ended. ``deaths`` counts those that died, this one
    included; ``None``: the job has ended, or this attempt did not die.
    """
    if end.how == "done":
        return Fate("done")
    if end.how == "refused":
        return Fate("failed", end.reason)
    if end.how == "died" and deaths is not None and deaths >= MAX_DEATHS:
        return Fate("failed", f"{deaths} attempts died; the last one: {end.reason}")
    return Fate(None, end.reason)


def fate_after_interruption(is_cancelled: bool) -> Fate:
    """What becomes of a job whose attempt was interrupted: somebody asked for its end, or for the worker's."""
    return Fate("cancelled", "cancelled on request") if is_cancelled else Fate(None)


def fate_after_rescue(is_cancelled: bool, deaths: int | None) -> Fate:
    """What becomes of a job whose worker died. ``deaths`` counts attempts that died; ``None``: the job has ended, and
    its worker died before it told the queue.
    """
    if is_cancelled:
        return Fate("cancelled", "cancelled; its worker died meanwhile")
    if deaths is None:
        return Fate("done")
    if deaths >= MAX_DEATHS:
        return Fate("failed", f"its worker died {deaths} times")
    return Fate(None, "its worker died")
