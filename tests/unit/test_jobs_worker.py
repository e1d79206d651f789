"""How a worker follows an attempt, with an attempt and a store that are fakes: what it sees, and what it does then."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import psycopg
import pytest
from procrastinate.exceptions import ConnectorException

from ciphermark_benchmark.jobs.decisions import End
from ciphermark_benchmark.jobs.store import Entry, is_away
from ciphermark_benchmark.jobs.worker import Execution, Retry

JOB = SimpleNamespace(id=7, worker_id=3)
DONE = End("done")
AWAY = psycopg.OperationalError("the database is away")


class Attempt:
    """An attempt that ends when a test says so."""

    def __init__(self) -> None:
        self.end = asyncio.Event()

    async def ended(self) -> End:
        await self.end.wait()
        return DONE


async def followed(answers, ends_at, asked_to_end_at):
    """What a worker does about its attempt, and how often it asked. Each answer to the question whether it holds the
    job takes a moment; with the answers of these numbers the attempt ends, or the worker is asked to end.
    """
    attempt, is_asked_to_end, retry = Attempt(), asyncio.Event(), Retry()
    count = 0

    class Store:
        async def is_held(self, entry):
            nonlocal count
            assert entry == Entry(JOB.id, JOB.worker_id)
            answer = answers[count]
            if count == asked_to_end_at:
                is_asked_to_end.set()
            if count == ends_at:
                attempt.end.set()
            await asyncio.sleep(0.01)
            count += 1
            if isinstance(answer, Exception):
                raise answer
            return answer

    execution = Execution(SimpleNamespace(retry=retry), Store())
    step, end = await execution._until_it_is_over(attempt, JOB, is_asked_to_end)
    assert end in (None, DONE)
    return step, end is DONE, count


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    for name in ("_LOOK_S", "_AGAIN_S"):
        monkeypatch.setattr(f"ciphermark_benchmark.jobs.worker.{name}", 0.001)


@pytest.mark.parametrize(
    ("answers", "ends_at", "asked_to_end_at", "outcome"),
    [
        pytest.param([True, True], 0, None, ("conclude", True, 2), id="ends while the question is under way"),
        pytest.param([True, False], 0, None, ("give way", True, 2), id="ends, and was lost since it asked"),
        pytest.param([True, AWAY, False], 0, None, ("give way", True, 3), id="ends, cut off, and was lost"),
        pytest.param(
            [AWAY, AWAY, True], 1, None, ("conclude", True, 3), id="ends while the database is away"
        ),
        pytest.param([True, False], None, None, ("give way", False, 2), id="lost while it goes on"),
        pytest.param([True, True], None, 1, ("interrupt", False, 2), id="asked to end"),
        pytest.param([AWAY], None, 0, ("interrupt", False, 1), id="asked to end while the database is away"),
        pytest.param([True, True], 0, 0, ("conclude", True, 2), id="asked to end while it ends"),
    ],
)
def test_a_worker_acts_on_what_it_asked_after_the_end(answers, ends_at, asked_to_end_at, outcome):
    assert asyncio.run(followed(answers, ends_at, asked_to_end_at)) == outcome


def refused(cause):
    """What procrastinate raises for an error of psycopg."""
    error = ConnectorException()
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (psycopg.OperationalError("the server closed the connection"), True),
        (psycopg.InterfaceError("the connection is closed"), True),
        (psycopg.errors.ReadOnlySqlTransaction("as after a failover"), True),
        (psycopg.errors.UniqueViolation("it is there twice"), False),
    ],
)
def test_a_database_is_away_that_answers_nothing_or_takes_nothing(error, answer):
    assert is_away(error) is answer
    assert is_away(refused(error)) is answer


def test_a_call_is_tried_again_until_the_database_is_back_or_the_worker_ends(monkeypatch):
    monkeypatch.setattr("ciphermark_benchmark.jobs.worker._WAIT_S", 0.001)
    retry, errors = Retry(), [AWAY, psycopg.errors.ReadOnlySqlTransaction("as after a failover")]

    async def call():
        if errors:
            raise errors.pop()
        return "done"

    assert asyncio.run(retry(call)) == "done"
    errors = [psycopg.errors.UniqueViolation("it is there twice")]
    with pytest.raises(psycopg.errors.UniqueViolation):
        asyncio.run(retry(call))
    errors, retry.is_over = [AWAY], True
    with pytest.raises(psycopg.OperationalError):
        asyncio.run(retry(call))
