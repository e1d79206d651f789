from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from ciphermark_parties.sessions import Allowance, Purpose, Sessions
from ciphermark_web.problems import Problem


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


ANY = Purpose("seal", "lmc-plain")


def of(run_id, trial_id):
    return Purpose("seal", "lmc-plain", run_id, trial_id)


def opened(sessions, purpose=ANY):
    with sessions.opened(purpose, Deeds) as session:
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
    with sessions.opened(ANY, Deeds) as session:
        assert refusal(enter, sessions.used(session.id)).kind == "session-busy"
    enter(sessions.used(session.id))


def test_a_session_that_fails_to_open_is_ended(sessions):
    kept = []

    def failing():
        with sessions.opened(ANY, Deeds) as session:
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
            enter(sessions.opened(ANY, broken))
    opened(sessions)
    opened(sessions)


def test_a_request_that_fails_leaves_the_session(sessions):
    session = opened(sessions)

    def failing():
        with sessions.used(session.id):
            raise Problem("budget-exhausted", "no level left")

    assert refusal(failing).kind == "budget-exhausted"
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


def test_a_trial_that_starts_again_ends_its_older_session(sessions):
    """Its attempt was killed: it holds memory, and a place that the trial needs."""
    old, other = opened(sessions, of("r", "t")), opened(sessions, of("r", "u"))
    new = opened(sessions, of("s", "t"))
    assert sessions.all() == [other, new]
    assert old.party.done == ["kill", "end"]


def test_sessions_without_a_trial_replace_none(sessions):
    both = [opened(sessions), opened(sessions)]
    assert sessions.all() == both


def test_the_sessions_of_a_run_or_of_a_trial_of_it_can_be_ended_busy_or_not(clock):
    sessions = Sessions(Allowance(most=4, idle_s=60), clock)
    first, second, foreign = (opened(sessions, of(*ids)) for ids in (("r", "t"), ("r", "u"), ("s", "v")))
    with sessions.used(first.id):
        assert sessions.end_of("r", "t") == 1
        assert first.party.done == ["kill"]
    assert sessions.all() == [second, foreign]
    assert sessions.end_of("s", "u") == 0
    assert sessions.end_of("r") == 1
    assert sessions.all() == [foreign]


def test_who_finds_no_place_is_told_when_to_ask_again_unless_he_waits_for_himself(sessions):
    opened(sessions, of("r", "t"))
    other = opened(sessions, of("s", "u"))
    assert refusal(opened, sessions, of("r", "v")).headers == {"Retry-After": "5"}
    sessions.end(other.id, "enough")
    opened(sessions, of("r", "u"))
    own = refusal(opened, sessions, of("r", "v"))
    assert (own.kind, own.headers) == ("too-many", {})
    assert "all by this run" in own.detail
    assert refusal(opened, sessions).headers == {"Retry-After": "5"}
