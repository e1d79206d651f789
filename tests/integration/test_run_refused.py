"""What the database will not take stands in nobody's way: it stays in its journal, is told, and is counted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.jobs import execution
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_benchmark.runner.recorder import Record, Recorder
from ciphermark_db.database import Database


@pytest.fixture
def data_directory(ciphermark) -> DataDirectory:
    return DataDirectory(ciphermark.data_directory, ciphermark.database_url)


def refused(make, run):
    """An outcome that PostgreSQL cannot hold: no text of it has a NUL."""
    library = replace(make.library("seal"), build={"compiler": "a\0b"})
    return make.outcome(run, make.case(), make.times([0.1]), library=library)


def test_one_outcome_of_three(ciphermark, data_directory, make) -> None:
    run = make.run()
    journal = Journal.create(data_directory, Header(run, "mine.yaml", ()))
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


def test_a_run_that_is_refused(ciphermark, data_directory, make) -> None:
    good, bad = make.run(), make.run(started_at="2025-02-30T00:00:00+00:00")
    journals = [Journal.create(data_directory, Header(run, "mine.yaml", ())) for run in (bad, good)]
    journals[1].append(make.outcome(good, make.case()))
    done = ciphermark("runs")
    assert good.id[:8] in done.out
    assert f"{journals[0].path} is not recorded yet: PostgreSQL" in done.err
    assert journals[0].path.exists()


def test_a_file_that_is_no_journal(ciphermark, data_directory) -> None:
    data_directory.pending.mkdir(parents=True)
    (data_directory.pending / "other.jsonl").write_bytes(b"\xff\0{}\n")
    assert "is not a journal of this version" in ciphermark("runs").err


def test_a_run_goes_on_behind_it(data_directory, make) -> None:
    run = make.run()
    journal = Journal.create(data_directory, Header(run, "mine.yaml", ()))
    recorder = Recorder(Record(run.id, journal), lambda: storage.connected(data_directory))
    recorder.begin()
    last = make.outcome(run, make.case(operation="mul"))
    for outcome in (refused(make, run), last):
        recorder.report(outcome)
    assert recorder.last_error is None
    assert recorder.finish()
    recorder.close()
    with Database.open(data_directory.database_url) as database:
        assert database.query("select id from trial").rows == [(last.trial.id,)]
        assert database.query("select run_id from refusal").rows == [(run.id,)]


def test_workers_start_beside_a_journal_that_cannot_be_recorded(ciphermark, data_directory, make) -> None:
    ciphermark("db", "migrate")
    run = replace(make.run(), id="00000000-0000-0000-0000-000000000000")
    Journal.create(data_directory.of_jobs, Header(run, "job", ()))
    broken = data_directory.of_jobs.pending / "broken.jsonl"
    broken.write_bytes(b"{}\n")
    execution.recover(data_directory)
    assert broken.exists()
