from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from ciphermark_web.problems import Problem
from ciphermark_web.sessions import Allowance, Sessions


@dataclass
class Deeds:
    """A party of which is known what was done to it."""

    done: list[str] = field(default_factory=list)
    thread: str = field(default_factory=lambda: threading.current_thread().name)

    def kill(self):
        self.done.append("kill")

    def end(self):
        self.done.append("end")


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def sessions(clock):
    return Sessions(Allowance(most=2, idle_s=60), clock)


def opened(sessions):
    with sessions.opened("seal", "lmc-plain", Deeds) as session:
        return session


def refusal(function, *arguments):
    with pytest.raises(Problem) as caught:
        function(*arguments)
    return caught.value


def enter(context):
    with context:
        pass


def test_a_session_is_listed_until_it_is_ended(sessions):
    session = opened(sessions)
    assert sessions.all() == [session]
    sessions.end(session.id, "enough")
    assert sessions.all() == []
    assert session.party.done == ["kill", "end"]
    assert refusal(sessions.end, session.id, "again").kind == "not-found"
    assert refusal(enter, sessions.used(session.id)).kind == "not-found"


def test_there_are_no_more_than_allowed(sessions):
    first = opened(sessions)
    opened(sessions)
    problem = refusal(opened, sessions)
    assert (problem.kind, problem.status) == ("too-many", 429)
    assert "2 sessions are open" in problem.detail
    sessions.end(first.id, "enough")
    opened(sessions)


def test_one_request_at_a_time(sessions):
    session = opened(sessions)
    with sessions.used(session.id):
        assert refusal(enter, sessions.used(session.id)).kind == "session-busy"
    enter(sessions.used(session.id))


def test_a_session_is_busy_with_its_first_request(sessions):
    with sessions.opened("seal", "lmc-plain", Deeds) as session:
        assert refusal(enter, sessions.used(session.id)).kind == "session-busy"
    enter(sessions.used(session.id))


def test_a_session_that_fails_to_open_is_ended(sessions):
    kept = []

    def failing():
        with sessions.opened("seal", "lmc-plain", Deeds) as session:
            kept.append(session)
            raise Problem("unsupported", "no such thing")

    assert refusal(failing).kind == "unsupported"
    assert sessions.all() == []
    assert "end" in kept[0].party.done


def test_a_party_that_cannot_be_started_takes_no_place(sessions):
    def broken():
        raise OSError("no more processes")

    for _ in range(3):
        with pytest.raises(OSError, match="no more processes"):
            enter(sessions.opened("seal", "lmc-plain", broken))
    opened(sessions)
    opened(sessions)


def test_a_request_that_fails_leaves_the_session(sessions):
    session = opened(sessions)

    def failing():
        with sessions.used(session.id):
            raise Problem("exhausted", "no level left")

    assert refusal(failing).kind == "exhausted"
    enter(sessions.used(session.id))
    assert session.party.done == []


def test_ended_while_busy_it_is_killed_at_once_and_released_by_its_user(sessions):
    session = opened(sessions)
    with sessions.used(session.id):
        sessions.end(session.id, "its caller ended it")
        assert session.party.done == ["kill"]
        assert session.ended == "its caller ended it"
    assert session.party.done == ["kill", "end"]


def test_idle_sessions_end_and_used_ones_stay(sessions, clock):
    idle, used = opened(sessions), opened(sessions)
    clock.now_s += 50
    enter(sessions.used(used.id))
    clock.now_s += 11
    sessions.end_idle()
    assert sessions.all() == [used]
    assert idle.party.done == ["kill", "end"]
    with sessions.used(used.id):
        clock.now_s += 1000
        sessions.end_idle()
    assert sessions.all() == [used]


def test_the_end_of_the_service_ends_all(sessions):
    both = [opened(sessions), opened(sessions)]
    sessions.close()
    assert sessions.all() == []
    assert [session.party.done for session in both] == [["kill", "end"]] * 2


def test_parties_are_started_by_a_thread_that_stays(sessions):
    """The kernel would end them with the thread of the request."""
    found = []
    for _ in range(2):
        thread = threading.Thread(target=lambda: found.append(opened(sessions)))
        thread.start()
        thread.join()
    names = {session.party.thread for session in found}
    assert len(names) == 1
    assert names < {thread.name for thread in threading.enumerate()}
