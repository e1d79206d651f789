"""What the database will not take stands in nobody's way: it stays in its journal, is told, and is counted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ciphermark_benchmark import storage
from ciphermark_benchmark.home import Home
from ciphermark_benchmark.jobs import execution
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_benchmark.runner.recorder import Record, Recorder
from ciphermark_db.database import Database


@pytest.fixture
def home(ciphermark) -> Home:
    return Home(ciphermark.home, ciphermark.database_url)


def refused(make, run):
    """An outcome that PostgreSQL cannot hold: no text of it has a NUL."""
    library = replace(make.library("seal"), build={"compiler": "a\0b"})
    return make.outcome(run, make.case(), make.times([0.1]), library=library)


def test_one_outcome_of_three(ciphermark, home, make) -> None:
    run = make.run()
    journal = Journal.create(home, Header(run, "mine.yaml", ()))
    outcomes = [
        make.outcome(run, make.case()),
        refused(make, run),
        make.outcome(run, make.case(operation="mul")),
    ]
    for outcome in outcomes:
        journal.append(outcome)
    for _ in range(2):
        done = ciphermark("runs")
        assert "1 refused" in done.out
        assert not done.err
    for command in (("results",), ("sql", "select 1"), ("db", "migrate"), ("compare", "last", "last")):
        assert not ciphermark(*command, code=None).err
    listed = ciphermark("sql", "select trial_id, reason from refusal", "--format", "json").out
    (row,) = json.loads(listed)
    assert row["trial_id"] == outcomes[1].trial.id
    assert "u0000 cannot be converted to text" in row["reason"]
    assert list(Journal.read(journal.path).outcomes()) == outcomes  # kept


def test_a_run_that_is_refused(ciphermark, home, make) -> None:
    good, bad = make.run(), make.run(started_at="2025-02-30T00:00:00+00:00")
    journals = [Journal.create(home, Header(run, "mine.yaml", ())) for run in (bad, good)]
    journals[1].append(make.outcome(good, make.case()))
    done = ciphermark("runs")
    assert good.id[:8] in done.out
    assert f"{journals[0].path} cannot be recorded, and waits there: PostgreSQL" in done.err
    assert journals[0].path.exists()


def test_a_file_that_is_no_journal(ciphermark, home) -> None:
    home.pending.mkdir(parents=True)
    (home.pending / "other.jsonl").write_bytes(b"\xff\0{}\n")
    assert "is not a journal of this version" in ciphermark("runs").err


def test_a_run_goes_on_behind_it(home, make) -> None:
    run = make.run()
    journal = Journal.create(home, Header(run, "mine.yaml", ()))
    recorder = Recorder(Record(run.id, journal), lambda: storage.connected(home))
    recorder.begin()
    last = make.outcome(run, make.case(operation="mul"))
    for outcome in (refused(make, run), last):
        recorder.report(outcome)
    assert recorder.last_error is None
    assert recorder.finish()
    recorder.close()
    with Database.open(home.database_url) as database:
        assert database.query("select id from trial").rows == [(last.trial.id,)]
        assert database.query("select run_id from refusal").rows == [(run.id,)]


def test_workers_start_beside_a_journal_that_cannot_be_recorded(ciphermark, home, make) -> None:
    ciphermark("db", "migrate")
    run = replace(make.run(), id="00000000-0000-0000-0000-000000000000")
    Journal.create(home.of_jobs, Header(run, "job", ()))
    broken = home.of_jobs.pending / "broken.jsonl"
    broken.write_bytes(b"{}\n")
    execution.recover(home)
    assert broken.exists()
