"""The embedded server: shared, restartable, safe to start twice."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from command import Ciphermark
from processes import PATIENCE_S, has_ended, wait_until

from ciphermark_db import embedded
from ciphermark_db.database import Database, DatabaseUnavailable

START = """
import sys
from pathlib import Path
from ciphermark_db import embedded
print(embedded.ensure_started(Path(sys.argv[1])))
"""


def start_elsewhere(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def postmaster(folder: Path) -> int:
    return int((folder / "postgres" / "postmaster.pid").read_text().split()[0])


def answer(url: str, sql: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql).fetchone()[0]


def test_outlives_the_process_that_started_it(new_data_directory: Path) -> None:
    process = start_elsewhere(new_data_directory)
    url, errors = process.communicate(timeout=PATIENCE_S)
    assert errors == ""
    assert answer(url.strip(), "select 1") == 1
    assert embedded.ensure_started(new_data_directory) == url.strip()


def test_two_processes_start_one_server(new_data_directory: Path) -> None:
    processes = [start_elsewhere(new_data_directory) for _ in range(2)]
    urls = {process.communicate(timeout=PATIENCE_S)[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(urls) == 1
    assert answer(urls.pop(), "select current_database()") == "ciphermark"


def test_recovers_from_a_kill_with_its_data(data_directory: Path) -> None:
    url = embedded.ensure_started(data_directory)
    with psycopg.connect(url) as connection:
        connection.execute("create table kept as select 42 as value")
    before = postmaster(data_directory)
    os.kill(before, signal.SIGKILL)
    assert embedded.ensure_started(data_directory) == url
    assert postmaster(data_directory) != before
    assert answer(url, "select value from kept") == 42


@pytest.mark.extended
def test_waits_for_what_an_older_server_still_computes(data_directory: Path) -> None:
    """A process of it looks for its server's end when it has done its work, and has its memory until then."""
    url = embedded.ensure_started(data_directory)
    before = postmaster(data_directory)
    with closing(psycopg.connect(url, autocommit=True)) as busy:
        busy.pgconn.send_query(
            b"do $$ declare deadline timestamptz := clock_timestamp() + interval '8 s'; "
            b"begin while clock_timestamp() < deadline loop null; end loop; end $$"
        )
        active = (
            "select count(*) from pg_stat_activity where state = 'active' and query like 'do $$ declare%'"
        )
        wait_until(lambda: answer(url, active) == 1, "it computes")
        os.kill(before, signal.SIGKILL)
        assert embedded.ensure_started(data_directory) == url
    assert postmaster(data_directory) != before
    assert answer(url, "select 1") == 1


def test_a_gateway_survives_a_kill(data_directory: Path, make) -> None:
    with Database.open(embedded.ensure_started(data_directory)) as database:
        database.migrate()
        run = make.run()
        database.record_run(run)
        (backend,) = database.query("select pg_backend_pid()").rows[0]
        os.kill(postmaster(data_directory), signal.SIGKILL)
        # Without its postmaster a backend ends when it next looks, and answers until then.
        wait_until(lambda: has_ended(backend), "the backend has ended")
        outcome = make.outcome(run, samples=make.times([0.1]))
        with pytest.raises(DatabaseUnavailable, match=r"(?s)cannot be used.*CIPHERMARK_DATABASE_URL"):
            database.record_outcome(outcome)
        with pytest.raises(DatabaseUnavailable):
            database.run_ids()
        embedded.ensure_started(data_directory)
        database.record_outcome(outcome)
        assert database.recorded_trials(run.id) == {outcome.trial.id}
        assert database.query("select count(*) from sample").rows == [(1,)]


@pytest.mark.extended
def test_a_stale_pid_of_a_living_process_does_not_hinder(data_directory: Path) -> None:
    embedded.ensure_started(data_directory)
    pid_file = data_directory / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    owner = pid_file.stat()
    embedded.stop(data_directory)
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    os.chown(pid_file, owner.st_uid, owner.st_gid)
    assert answer(embedded.ensure_started(data_directory), "select 1") == 1


def test_a_broken_initialisation_is_rebuilt(new_data_directory: Path) -> None:
    leftover = new_data_directory / "postgres.new"
    leftover.mkdir(parents=True)
    (leftover / "PG_VERSION").write_text("18\n")
    assert answer(embedded.ensure_started(new_data_directory), "select 1") == 1
    assert not leftover.exists()


def test_says_why_it_cannot_start(data_directory: Path) -> None:
    embedded.ensure_started(data_directory)
    embedded.stop(data_directory)
    with (data_directory / "postgres" / "postgresql.conf").open("a") as file:
        file.write("shared_buffers = nonsense\n")
    with pytest.raises(DatabaseUnavailable) as caught:
        embedded.ensure_started(data_directory)
    text = str(caught.value)
    assert 'invalid value for parameter "shared_buffers"' in text
    assert str(data_directory) in text
    assert "CIPHERMARK_DATABASE_URL" in text


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(DatabaseUnavailable, match="File exists"):
        embedded.ensure_started(tmp_path / "data")


def test_any_folder_name_and_only_its_user_gets_in(new_data_directory: Path) -> None:
    folder = new_data_directory / f"with space, 'quotes\" & $HOME %s{'long' * 30}"
    url = embedded.ensure_started(folder)
    try:
        assert stat.S_IMODE((folder / "postgres").stat().st_mode) & 0o077 == 0
        assert answer(url, "select rolsuper from pg_roles where rolname = current_user") is False
        assert answer(url, "show listen_addresses") == ""
    finally:
        embedded.stop(folder)


def test_stop_is_repeatable(data_directory: Path) -> None:
    embedded.stop(data_directory)
    url = embedded.ensure_started(data_directory)
    embedded.stop(data_directory)
    embedded.stop(data_directory)
    with pytest.raises(DatabaseUnavailable):
        Database.open(url)
    assert answer(embedded.ensure_started(data_directory), "select 1") == 1


def test_ignores_the_environment_of_other_servers(
    data_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "nowhere", "PGUSER": "nobody", "PGDATABASE": "none"}.items():
        monkeypatch.setenv(name, value)
    assert answer(embedded.ensure_started(data_directory), "select 1") == 1


def test_a_server_whose_socket_was_removed_is_started_again(data_directory: Path) -> None:
    embedded.ensure_started(data_directory)
    (socket,) = (data_directory / "postgres").glob(".s.PGSQL.*[0-9]")
    socket.unlink()
    assert answer(embedded.ensure_started(data_directory), "select 1") == 1


def test_commands_stop_it_and_start_it_again(data_directory):
    own = Ciphermark(data_directory)
    assert own.rows("select 1 as one") == [{"one": 1}]
    assert (data_directory / "postgres" / "postmaster.pid").exists()
    assert own("db", "stop").out == "The embedded server is stopped.\n"
    assert not (data_directory / "postgres" / "postmaster.pid").exists()
    assert own("db", "stop").code == 0
    assert own("db", "migrate").out == "The schema is up to date.\n"
    assert f"host={data_directory / 'postgres'}" in own("db", "url").out
