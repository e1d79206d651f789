from __future__ import annotations

import errno
import os
from dataclasses import replace
from threading import Event

import any_model as strategies
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import wait_until

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import journal as runner_journal
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_benchmark.runner.recorder import Record, Recorder, record_pending
from ciphermark_benchmark.runner.two_parties import Advance
from ciphermark_core import wire
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, Outcome, ParameterSpec, Trial
from ciphermark_core.run import Host, Run
from ciphermark_db.database import DatabaseUnavailable

HOST = Host("f", "h", "c", (), {}, 1, 1, "os", "k", None, None, None, None, None, 1, 0.0, 0.0)
RUN = Run("run-1", "mine", "name: mine\n", 1, "2026-01-01T00:00:00+00:00", HOST, "0")
HEADER = Header(RUN, "mine.yaml", ("seal",))


def outcome(number):
    case = Case("seal", "arithmetic", "add", ParameterSpec("bfv", 4096), number + 1, "random")
    return Outcome(
        Trial(f"trial-{number}", "run-1", case, 0, 1, Budget()), "ok", "2026-01-01T00:00:00+00:00", 1.0
    )


@pytest.fixture
def data_directory(tmp_path):
    return DataDirectory(tmp_path, None)


@pytest.fixture
def journal(data_directory):
    return Journal.create(data_directory, HEADER)


def test_what_is_appended_is_on_disk_at_once(data_directory, journal):
    for number in range(3):
        journal.append(outcome(number))
        again = Journal.read(data_directory.pending / "run-1.jsonl")
        assert list(again.outcomes()) == [outcome(count) for count in range(number + 1)]
    assert Journal.reopen(data_directory, "run-1").header == HEADER


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_an_outcome_waits_for_a_disk_that_takes_nothing_or_a_part(
    data_directory, journal, monkeypatch, number
):
    """Nothing of it is there meanwhile, and what it waits for is told once, and that it does no longer."""
    write, states, told = os.write, iter(["nothing", "a part", "nothing", "all", "all", "all"]), []

    def writing(descriptor, line):
        state = next(states)
        if state == "nothing":
            raise OSError(number, os.strerror(number))
        return write(descriptor, line[:7] if state == "a part" else line)

    journal.on_wait = told.append
    monkeypatch.setattr(os, "write", writing)
    looks = []
    monkeypatch.setattr(runner_journal, "sleep", lambda _: looks.append(journal.path.read_bytes()))
    journal.append(outcome(0))
    assert all(text.count(b"\n") == 1 and text.endswith(b"\n") for text in looks)
    assert len(looks) == 2
    assert f"waiting for {runner_journal.WAITED_FOR[number]}" in told[0]
    assert told[1:] == [None]
    assert list(Journal.read(data_directory.pending / "run-1.jsonl").outcomes()) == [outcome(0)]


def test_other_errors_of_a_disk_are_not_waited_for(journal, monkeypatch):
    def failing(descriptor, line):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", failing)
    with pytest.raises(OSError, match="Input/output error"):
        journal.append(outcome(0))


@given(st.lists(strategies.outcomes, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_outcome_comes_back(data_directory, outcomes):
    (data_directory.pending / "run-1.jsonl").unlink(missing_ok=True)
    journal = Journal.create(data_directory, HEADER)
    for item in outcomes:
        journal.append(item)
    assert list(Journal.reopen(data_directory, "run-1").outcomes()) == outcomes


def test_wherever_the_last_line_was_torn_the_others_stay(data_directory, journal):
    journal.append(outcome(0))
    whole = journal.path.read_bytes()
    journal.append(outcome(1))
    line = journal.path.read_bytes()[len(whole) :]
    for cut in range(len(line)):
        journal.path.write_bytes(whole + line[:cut])
        assert list(journal.outcomes()) == [outcome(0)]
        reopened = Journal.reopen(data_directory, "run-1")
        assert journal.path.read_bytes() == whole
        reopened.append(outcome(2))
        assert list(reopened.outcomes()) == [outcome(0), outcome(2)]


def test_reading_changes_nothing(data_directory, journal):
    """Another command may read while the run appends: cutting a line that is being written would lose it."""
    journal.append(outcome(0))
    journal.path.write_bytes(journal.path.read_bytes() + b'{"trial": {"id"')
    torn = journal.path.read_bytes()
    assert list(Journal.read(journal.path).outcomes()) == [outcome(0)]
    assert journal.path.read_bytes() == torn


def test_a_journal_without_header_is_never_left_behind(data_directory, monkeypatch):
    """The command may die at any moment; a journal that cannot be read would be in the way of all later ones."""
    import os

    def die(*_):
        raise SystemExit

    monkeypatch.setattr(os, "write", die)
    with pytest.raises(SystemExit):
        Journal.create(data_directory, HEADER)
    assert list(data_directory.pending.glob("*.jsonl")) == []


def test_a_retired_journal_is_found_all_the_same(data_directory, journal):
    journal.append(outcome(0))
    journal.retire(data_directory)
    assert list(data_directory.pending.iterdir()) == []
    reopened = Journal.reopen(data_directory, "run-1")
    assert reopened.path.parent == data_directory.recorded
    assert list(reopened.outcomes()) == [outcome(0)]
    reopened.retire(data_directory)
    assert list(reopened.outcomes()) == [outcome(0)]


def test_an_unknown_run_is_answered_with_the_unfinished_ones(data_directory, journal):
    with pytest.raises(UserError, match=r"no journal of run nothing .*unfinished runs: run-1"):
        Journal.reopen(data_directory, "nothing")


def test_without_any_journal_there_are_no_unfinished_runs(data_directory):
    with pytest.raises(UserError, match="unfinished runs: none"):
        Journal.reopen(data_directory, "nothing")


@pytest.mark.parametrize("text", [b"", b"\n", b"hello\n", b'{"run": 1}\n', b"\xff\xfe\n"])
def test_what_is_no_journal_is_told(data_directory, journal, text):
    journal.path.write_bytes(text)
    with pytest.raises(UserError, match=r"run-1.jsonl is not a journal of this version"):
        Journal.reopen(data_directory, "run-1")


class FakeDatabase:
    """Records in memory; away while ``is_away``."""

    def __init__(self):
        self.is_away, self.runs, self.outcomes, self.connections = False, [], [], 0
        self.attempts, self.refusal = 0, None
        self.progress = []
        self.answers = Event()
        self.answers.set()

    def connect(self):
        self._require()
        self.connections += 1
        return self

    def record_run(self, run):
        self._require()
        self.runs.append(run)

    def record_outcomes(self, items):
        self._require()
        self.outcomes += items

    def recorded_trials(self, run_id):
        self._require()
        return {item.trial.id for item in self.outcomes if item.trial.run_id == run_id}

    def analyze(self):
        self._require()

    def record_progress(self, run_id, progress):
        self._require()
        self.progress.append((run_id, progress and progress["done"]))

    def update_host_state(self, run_id):
        self._require()

    def close(self):
        pass

    def _require(self):
        self.answers.wait()
        if self.is_away:
            self.attempts += 1
            raise DatabaseUnavailable("no server answers")
        if self.refusal is not None:
            raise self.refusal


@pytest.fixture
def database():
    return FakeDatabase()


def test_outcomes_are_recorded_as_they_come(journal, database):
    recorder = Recorder(Record("run-1", journal), database.connect)
    assert recorder.catch_up()
    for number in range(3):
        recorder.report(outcome(number))
        assert database.outcomes == [outcome(count) for count in range(number + 1)]
    assert recorder.last_error is None
    assert database.connections == 1
    assert database.runs == [RUN]


def test_stages_are_recorded_at_intervals_until_their_trial_ends(journal, database, monkeypatch):
    stages = [Advance(outcome(0).trial, "iteration", number, 9, 60.0) for number in range(5)]
    recorder = Recorder(Record("run-1", journal), database.connect)
    recorder.begin()
    recorder.advance(stages[0])  # too early
    recorder.report(outcome(0))  # nothing to clear
    assert database.progress == []
    recorder._next_progress = 0.0
    recorder.advance(stages[1])
    recorder.advance(stages[2])  # too early
    recorder.report(outcome(1))
    assert database.progress == [("run-1", 1), ("run-1", None)]
    recorder._next_progress = 0.0
    recorder.advance(stages[3])
    recorder.close()  # Ctrl-C
    assert database.progress[2:] == [("run-1", 3), ("run-1", None)]


def test_stages_are_lost_while_the_database_is_away(journal, database):
    recorder = Recorder(Record("run-1", journal), database.connect)
    recorder.begin()
    database.is_away, recorder._next_progress = True, 0.0
    for number in range(3):
        recorder.advance(Advance(outcome(0).trial, "iteration", number, 9, 60.0))
        recorder._next_progress = 0.0
    assert database.attempts == 1
    assert database.progress == []
    recorder.report(outcome(0))
    database.is_away = False
    assert recorder.finish()
    assert database.outcomes == [outcome(0)]


def test_while_the_database_is_away_outcomes_wait_in_the_journal(journal, database):
    recorder = Recorder(Record("run-1", journal), database.connect)
    recorder.catch_up()
    recorder.report(outcome(0))
    database.is_away = True
    for number in (1, 2, 3):
        recorder.report(outcome(number))
    assert recorder.last_error == "no server answers"
    assert database.outcomes == [outcome(0)]
    assert database.attempts == 1  # every attempt may take long: not one for each outcome
    assert list(journal.outcomes()) == [outcome(number) for number in range(4)]
    database.is_away = False
    assert recorder.catch_up()
    assert recorder.last_error is None
    assert database.outcomes == [outcome(number) for number in range(4)]
    recorder.report(outcome(4))
    assert database.outcomes == [outcome(number) for number in range(5)]


def test_what_is_there_in_part_is_not_recorded_with_what_is_executed_again(journal, database):
    """Of a comparison that a full disk interrupted, both outcomes come from the second round of turns."""
    both = (outcome(0).trial.id, outcome(1).trial.id)
    recorder = Recorder(Record("run-1", journal, dict.fromkeys(both, both)), database.connect)
    recorder.begin()
    recorder.report(replace(outcome(0), duration_s=1.0))
    assert recorder.done() == set()
    again = [replace(outcome(number), duration_s=2.0) for number in (1, 0)]
    recorder.report(again[0])
    assert database.outcomes == []
    recorder.report(again[1])
    assert database.outcomes == again[::-1]


def test_what_is_whole_in_the_journal_or_recorded_elsewhere_is_done(journal, database):
    both = (outcome(0).trial.id, outcome(1).trial.id)
    recorder = Recorder(Record("run-1", journal, dict.fromkeys(both, both)), database.connect)
    recorder.begin()
    database.record_outcomes([outcome(3)])  # by another host
    for number in (0, 2):
        recorder.report(outcome(number))
    assert recorder.done() == {outcome(number).trial.id for number in (2, 3)}


def test_a_database_that_was_never_there_is_no_obstacle(journal, database):
    database.is_away = True
    recorder = Recorder(Record("run-1", journal), database.connect)
    assert not recorder.catch_up()
    for number in range(3):
        recorder.report(outcome(number))
    assert not recorder.catch_up()
    assert len(list(journal.outcomes())) == 3


@pytest.mark.parametrize("begins", [True, False])
def test_a_database_that_says_nothing_keeps_nobody_from_measuring(journal, database, begins):
    """It takes a connection, or a statement, and never answers; what it was told it may do later."""
    recorder = Recorder(Record("run-1", journal), database.connect, patience_s=0.05, at_rest_s=0.05)
    if begins:
        recorder.begin()
        recorder.report(outcome(0))
    database.answers.clear()
    for number in (1, 2, 3):
        recorder.report(outcome(number))
    assert not recorder.finish()
    assert recorder.last_error == "PostgreSQL has not responded for 0.05 s"
    assert {item.trial.id for item in journal.outcomes()} >= {outcome(n).trial.id for n in (1, 2, 3)}
    database.answers.set()
    wait_until(recorder.finish, "what waits is recorded")
    recorded = {item.trial.id for item in database.outcomes}
    assert recorded == {item.trial.id for item in journal.outcomes()}


def test_a_database_that_refuses_in_the_middle_is_as_good_as_away(journal, database):
    recorder = Recorder(Record("run-1", journal), database.connect)
    recorder.begin()
    recorder.report(outcome(0))
    database.refusal = UserError("PostgreSQL: permission denied for table trial")
    recorder.report(outcome(1))
    assert not recorder.finish()
    assert recorder.last_error == "PostgreSQL: permission denied for table trial"
    assert len(list(journal.outcomes())) == 2
    database.refusal = None
    assert recorder.finish()
    assert database.outcomes == [outcome(0), outcome(1)]


def test_a_database_that_refuses_from_the_beginning_is_told_before_anything_is_measured(journal, database):
    database.refusal = UserError("PostgreSQL: permission denied for schema public")
    with pytest.raises(UserError, match="permission denied"):
        Recorder(Record("run-1", journal), database.connect).begin()


def test_a_database_that_is_away_at_the_beginning_may_come_later(journal, database):
    database.is_away = True
    recorder = Recorder(Record("run-1", journal), database.connect)
    recorder.begin()
    recorder.report(outcome(0))
    database.is_away = False
    assert recorder.finish()
    assert database.outcomes == [outcome(0)]


def test_what_waited_is_recorded_by_the_next_command_and_once(data_directory, journal, database):
    for number in range(3):
        journal.append(outcome(number))
    assert record_pending(data_directory, database) == {}
    assert record_pending(data_directory, database) == {}
    assert database.outcomes == [outcome(number) for number in range(3)]


def test_a_line_that_is_being_written_waits_for_its_end(data_directory, journal, database):
    journal.append(outcome(0))
    whole = journal.path.read_bytes()
    journal.append(outcome(1))
    full = journal.path.read_bytes()
    journal.path.write_bytes(full[: len(whole) + 20])
    record_pending(data_directory, database)
    assert database.outcomes == [outcome(0)]
    assert journal.path.read_bytes() == full[: len(whole) + 20]
    journal.path.write_bytes(full)
    record_pending(data_directory, database)
    assert database.outcomes == [outcome(0), outcome(1)]


def test_the_journal_is_lines_of_json(journal):
    journal.append(outcome(0))
    first, second = journal.path.read_bytes().splitlines(keepends=True)
    assert wire.from_line(first, Header) == HEADER
    assert wire.from_line(second, Outcome) == outcome(0)
