"""What becomes of jobs whose attempts end, die, are interrupted, or are lost: tables of decisions."""

from __future__ import annotations

import pytest

from ciphermark_benchmark.jobs.decisions import (
    MAX_DEATHS,
    End,
    Fate,
    fate_after_attempt,
    fate_after_interruption,
    fate_after_rescue,
    next_step,
)


@pytest.mark.parametrize(
    ("has_ended", "is_asked_to_end", "is_held", "step"),
    [
        (False, False, True, "wait"),
        (False, False, None, "wait"),
        (False, True, True, "interrupt"),
        (False, True, None, "interrupt"),
        (False, False, False, "give way"),
        (False, True, False, "give way"),
        (True, False, True, "conclude"),
        (True, True, True, "conclude"),
        (True, False, None, "wait"),
        (True, True, None, "wait"),
        (True, False, False, "give way"),  # a worker that was cut off, whose attempt ended before it asked
        (True, True, False, "give way"),
    ],
)
def test_a_worker_concludes_only_what_it_holds(has_ended, is_asked_to_end, is_held, step) -> None:
    assert next_step(has_ended, is_asked_to_end, is_held) == step


@pytest.mark.parametrize(
    ("end", "deaths", "fate"),
    [
        (End("done"), None, Fate("done")),
        (End("refused", "no such variant"), None, Fate("failed", "no such variant")),
        (End("away", "the disk is full"), None, Fate(None, "the disk is full")),
        (End("interrupted"), None, Fate(None)),
        (End("died", "SIGSEGV"), 1, Fate(None, "SIGSEGV")),
        (End("died", "SIGSEGV"), MAX_DEATHS - 1, Fate(None, "SIGSEGV")),
        (End("died", "SIGSEGV"), MAX_DEATHS, Fate("failed", "3 attempts died; the last one: SIGSEGV")),
        (End("died", "SIGSEGV"), None, Fate(None, "SIGSEGV")),
    ],
)
def test_what_becomes_of_a_job_after_an_attempt(end: End, deaths: int | None, fate: Fate) -> None:
    assert fate_after_attempt(end, deaths) == fate


@pytest.mark.parametrize(
    ("is_cancelled", "fate"), [(True, Fate("cancelled", "cancelled on request")), (False, Fate(None))]
)
def test_what_becomes_of_a_job_after_an_interruption(is_cancelled: bool, fate: Fate) -> None:
    assert fate_after_interruption(is_cancelled) == fate


@pytest.mark.parametrize(
    ("is_cancelled", "deaths", "fate"),
    [
        (True, 1, Fate("cancelled", "cancelled; its worker died meanwhile")),
        (True, None, Fate("cancelled", "cancelled; its worker died meanwhile")),
        (False, None, Fate("done")),
        (False, 1, Fate(None, "its worker died")),
        (False, MAX_DEATHS - 1, Fate(None, "its worker died")),
        (False, MAX_DEATHS, Fate("failed", "its worker died 3 times")),
    ],
)
def test_what_becomes_of_a_job_whose_worker_died(is_cancelled: bool, deaths: int | None, fate: Fate) -> None:
    assert fate_after_rescue(is_cancelled, deaths) == fate
