"""Decisions about jobs after attempts, deaths and rescues, separated from the processes. Pure.

A worker *holds* a job if the queue says that it executes it. A live worker that was taken for dead no longer holds its
job: another worker has it, and reports of the first one must not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_DEATHS = 3  # of attempts at one job, after which it has failed

How = Literal["done", "interrupted", "refused", "away", "died"]
Step = Literal["wait", "interrupt", "give way", "conclude"]
Ended = Literal["done", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to change a job: the number of an attempt, which is a fencing token. A later attempt revokes it."""

    job_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class End:
    """The end of an attempt: everything recorded; interrupted; refused, which no other attempt would change; without a
    writable database or disk; or died.
    """

    how: How
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """The next state of a job: an end in ``state``, or the queue if ``state`` is ``None``."""

    state: Ended | None
    reason: str | None = None


def next_step(has_ended: bool, is_asked_to_end: bool, is_held: bool | None) -> Step:
    """The worker's next step for its attempt. ``is_held`` is ``None`` while the database does not answer: a running
    attempt may then continue, and an ended one waits for the answer.
    """
    if is_held is False:
        return "give way"
    if has_ended:
        return "wait" if is_held is None else "conclude"
    return "interrupt" if is_asked_to_end else "wait"


def fate_after_attempt(end: End, deaths: int | None = None) -> Fate:
    """The fate of a held job after its attempt. ``deaths`` counts the attempts that died, including this one; ``None``
    if the job has ended, or this attempt did not die.
    """
    if end.how == "done":
        return Fate("done")
    if end.how == "refused":
        return Fate("failed", end.reason)
    if end.how == "died" and deaths is not None and deaths >= MAX_DEATHS:
        return Fate("failed", f"{deaths} attempts died; the last one: {end.reason}")
    return Fate(None, end.reason)


def fate_after_interruption(is_cancelled: bool) -> Fate:
    """The fate of a job after an interruption, which a user requested for the job or the worker's end caused."""
    return Fate("cancelled", "cancelled on request") if is_cancelled else Fate(None)


def fate_after_rescue(is_cancelled: bool, deaths: int | None) -> Fate:
    """The fate of a job after its worker's death. ``deaths`` counts the attempts that died; ``None`` if the job has
    ended, and its worker died before it informed the queue.
    """
    if is_cancelled:
        return Fate("cancelled", "cancelled; its worker died meanwhile")
    if deaths is None:
        return Fate("done")
    if deaths >= MAX_DEATHS:
        return Fate("failed", f"its worker died {deaths} times")
    return Fate(None, "its worker died")
