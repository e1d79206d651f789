"""PostgreSQL may go away and come back at any time: a run never notices, and nothing is lost."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path

import psutil
import psycopg
import pytest
from command import TINY, Ciphermark
from processes import PATIENCE_S, freeze, has_ended, thaw, wait_until

from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_benchmark.runner.recorder import Record, Recorder
from ciphermark_db import embedded

OPERATIONS = ["add", "mul"]
VARIANTS = ["planted-waits"]
TRIALS = len(OPERATIONS) * len(VARIANTS)


class Server:
    """A server of its own, to be stopped and started."""

    def __init__(self, folder):
        self.folder = folder
        self.numbers = itertools.count()

    def start(self):
        return embedded.ensure_started(self.folder)

    def stop(self):
        embedded.stop(self.folder)

    def superuser(self):
        url = self.start().replace("postgresql://ciphermark@/ciphermark", "postgresql://postgres@/postgres")
        return psycopg.connect(url, autocommit=True)

    def new_database(self):
        url = self.start()
        name = f"own_{next(self.numbers)}"
        with self.superuser() as connection:
            connection.execute(f"create database {name} owner ciphermark")
        return url.replace("/ciphermark?", f"/{name}?")


@pytest.fixture(scope="module")
def own_server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("own-server"))
    yield server
    server.stop()


@pytest.fixture
def held(tmp_path, own_server, gate):
    return Ciphermark(tmp_path / "data", own_server.new_database(), {"PLANTED_GATE": str(gate.folder)})


def suite_of(ciphermark):
    return ciphermark.suite(TINY | {"variants": VARIANTS, "operations": OPERATIONS})


def started(held, gate):
    """A run in the middle of a trial."""
    gate.let_pass(0)
    process = held.fork("run", str(suite_of(held)))
    wait_until(lambda: gate.arrived() == 2, "the timed worker")
    return process


def finished(held, gate, process):
    gate.let_pass(*range(10))
    out, err = process.communicate(timeout=PATIENCE_S)
    return held.ended(process.returncode, out, err, code=0)


def test_a_server_that_goes_away_in_the_middle_of_a_run(held, gate, own_server):
    process = started(held, gate)
    own_server.stop()
    done = finished(held, gate, process)
    run_id = held.run_id()
    assert "PostgreSQL is unavailable" in done.out
    assert (
        f"The outcomes of run {run_id} are saved in {held.data_directory / 'journal' / 'pending'}" in done.out
    )
    assert "The next command records them" in done.out
    assert [outcome["status"] for outcome in held.outcomes()] == ["ok"] * TRIALS
    # While it is away, commands that need it say so.
    away = held("results", "last", code=1)
    assert "PostgreSQL at " in away.err
    assert "CIPHERMARK_DATABASE_URL" in away.err
    own_server.start()
    assert held.rows("select run_id, count(*) as n from trial group by run_id") == [
        {"run_id": run_id, "n": TRIALS}
    ]
    samples = sum(len(outcome["samples"]) for outcome in held.outcomes())
    assert held.rows("select count(*) as n from sample") == [{"n": samples}]
    assert "planted-waits" in held("results", "last").out


def test_a_server_that_is_frozen_while_outcomes_are_recorded(tmp_path, own_server, make):
    """It takes connections and says nothing: outcomes wait in the journal, and are recorded once when it is back."""
    data_directory = DataDirectory(tmp_path / "data", own_server.new_database())
    run = make.run()
    journal = Journal.create(data_directory, Header(run, "mine.yaml", ()))
    recorder = Recorder(
        Record(run.id, journal), lambda: storage.connected(data_directory), patience_s=0.2, at_rest_s=0.5
    )
    outcomes = [make.outcome(run, process=number, samples=make.times([1.0])) for number in range(3)]
    wait_until(recorder.catch_up, "it is connected")
    recorder.report(outcomes[0])
    postmaster = int((own_server.folder / "postgres" / "postmaster.pid").read_text().split()[0])
    frozen = freeze(psutil.Process(postmaster))
    try:
        for outcome in outcomes[1:]:
            recorder.report(outcome)
        assert not recorder.finish()
        assert "not responded" in recorder.last_error
        assert len(list(journal.outcomes())) == len(outcomes)
    finally:
        thaw(frozen)
    wait_until(recorder.finish, "all is recorded")
    recorder.close()
    with psycopg.connect(data_directory.database_url) as connection:
        counts = connection.execute(
            "select (select count(*) from trial), (select count(*) from sample)"
        ).fetchone()
    assert counts == (len(outcomes), len(outcomes))


def test_a_database_that_takes_nothing_is_told_before_anything_is_measured(tmp_path, own_server):
    url = own_server.new_database()
    with own_server.superuser() as connection:
        connection.execute("create role guest login")
    guest = Ciphermark(tmp_path / "data", url.replace("ciphermark@", "guest@"))
    done = guest("run", str(guest.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]})), code=2)
    assert "permission denied" in done.err
    assert guest.outcome_count() == 0


def test_a_server_that_was_never_there(tmp_path):
    nowhere = Ciphermark(tmp_path / "data", f"postgresql://me:secret@/data?host={tmp_path}")
    suite = nowhere.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]})
    done = nowhere("run", str(suite))
    assert "PostgreSQL is unavailable" in done.out
    assert "secret" not in done.out + done.err
    assert nowhere.outcome_count() == 1
    away = nowhere("sql", "select 1", code=1)
    assert "PostgreSQL at " in away.err
    assert "secret" not in away.err


def test_a_url_that_is_none_is_a_mistake(tmp_path):
    wrong = Ciphermark(tmp_path / "data", "mysql://localhost/data")
    done = wrong("sql", "select 1", code=2)
    assert "not a PostgreSQL URL" in done.err
    assert "postgresql://user@host:port/database" in done.err


def test_an_embedded_server_that_is_killed_is_started_again(tmp_path, gate):
    held = Ciphermark(tmp_path / "data", None, {"PLANTED_GATE": str(gate.folder)})
    try:
        process = started(held, gate)
        pid = int((held.data_directory / "postgres" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: has_ended(pid), "its end")
        done = finished(held, gate, process)
        assert f"{TRIALS} ok" in done.out
        assert f"in the embedded PostgreSQL of {held.data_directory}" in done.out
        assert held.rows("select count(*) as n from trial") == [{"n": TRIALS}]
    finally:
        embedded.stop(held.data_directory)


def test_a_broken_embedded_server_keeps_nobody_from_measuring(tmp_path):
    """The data folder is there and useless: the run says so in the end, and its outcomes wait."""
    ciphermark = Ciphermark(tmp_path / "data")
    folder = ciphermark.data_directory / "postgres"
    folder.mkdir(parents=True)
    (folder / "PG_VERSION").write_text("18\n")
    suite = ciphermark.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]})
    done = ciphermark("run", str(suite))
    assert "PostgreSQL is unavailable" in done.out
    assert "cannot start" in done.out
    assert str(folder) in done.out
    assert ciphermark.outcome_count() == 1
    assert Path(ciphermark.journals()[0]).parent.name == "pending"
