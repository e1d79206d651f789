"""Command lines beside each other in one data directory: whoever must wait is told, and nothing is lost or doubled."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from select import select

import psycopg
import pytest
from command import TINY, Ciphermark, Gate, Running, kill
from processes import PATIENCE_S, wait_until

from ciphermark_db import embedded

OPERATIONS = ["add", "mul"]
HELD = ["planted-waits"]
TRIALS = len(OPERATIONS) * len(HELD)
WAITS = b"Another run is active"


@pytest.fixture
def held(tmp_path: Path, new_url: Callable[[], str], gate: Gate) -> Ciphermark:
    """Commands whose variant ``planted-waits`` is held back by the gate."""
    return Ciphermark(tmp_path / "data", new_url(), {"PLANTED_GATE": str(gate.folder)})


def suite(command: Ciphermark, name: str = "held") -> str:
    return str(command.suite(TINY | {"variants": HELD, "operations": OPERATIONS}, name=name))


def under_way(command: Ciphermark, gate: Gate) -> Running:
    """A run in the middle of a trial: memory is measured."""
    gate.let_pass(0)
    process = command.fork("run", suite(command))
    wait_until(lambda: gate.arrived() == 2, "a trial is under way")
    return process


def wait_for_word(process: Running) -> None:
    """Until a command says that it waits; one that is held at the gate instead says nothing more."""
    assert process.stderr is not None
    text = b""
    while WAITS not in text:
        readable, *_ = select([process.stderr], [], [], PATIENCE_S)
        assert readable, text
        text += (chunk := os.read(process.stderr.fileno(), 1 << 16))
        assert chunk, text


def ended(command: Ciphermark, process: Running) -> str:
    """What a command printed that must end well."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return command.ended(process.returncode, out, err, 0).out


def assert_each_once(command: Ciphermark, url: str, runs: int) -> None:
    """So many runs are complete: each journal is put aside, has every trial once, and the database has the same."""
    journals = command.journals()
    assert [path.parent.name for path in journals] == ["recorded"] * runs
    written = {}
    for path in journals:
        _, *lines = path.read_bytes().splitlines()
        outcomes = [json.loads(line) for line in lines]
        assert len(outcomes) == TRIALS
        for outcome in outcomes:
            total = sum(sample["value"] for sample in outcome["samples"])
            written[outcome["trial"]["id"]] = (path.stem, len(outcome["samples"]), pytest.approx(total))
    assert len(written) == runs * TRIALS
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "select t.id, t.run_id, count(*), sum(x.value) from trial t "
            "join series s on s.trial_id = t.id join sample x on x.series_id = s.id group by t.id"
        ).fetchall()
    assert {name: tuple(rest) for name, *rest in found} == written


def test_commands_that_make_a_data_directory_at_once_make_one(tmp_path: Path, gate: Gate) -> None:
    command = Ciphermark(tmp_path / "data", None, {"PLANTED_GATE": str(gate.folder)})
    try:
        together = [command.fork("db", "migrate") for _ in range(3)]
        assert [ended(command, process) for process in together] == ["The schema is up to date.\n"] * 3
        versions = Counter(row["version"] for row in command.rows("select version from schema_migration"))
        assert set(versions.values()) == {1}
        # Who stops the server beside a run harms nobody: it is started again.
        run = under_way(command, gate)
        command("db", "stop")
        gate.let_pass(*range(10))
        ended(command, run)
        assert_each_once(command, embedded.ensure_started(command.data_directory), runs=1)
    finally:
        embedded.stop(command.data_directory)


def test_two_runs_come_one_after_the_other_and_mistakes_are_told_at_once(
    held: Ciphermark, gate: Gate
) -> None:
    """Who would wait for the run to be told of a mistake would wait for ever: the gate is closed."""
    first = under_way(held, gate)
    (wrong := held.data_directory.parent / "wrong.yaml").write_text("name: a\nexperimants: []\n")
    sound = suite(held, name="second")
    for arguments, told in (
        ([str(wrong)], "wrong.yaml:2: unknown key 'experimants'"),
        ([sound, "--variant", "seal"], "the suite has no variant 'seal'"),
        ([sound, "--label", "last"], "label"),
        ([], "missing suite"),
        (["--resume", held.run_id(), "--label", "mine"], "--resume keeps the label"),
    ):
        done = held("run", *arguments, code=2)
        assert told in done.err
        assert WAITS.decode() not in done.err
    second = held.fork("run", sound)
    wait_for_word(second)
    assert len(held.journals()) == 1
    gate.let_pass(*range(10))
    for process in (first, second):
        ended(held, process)
    assert held.database_url is not None
    assert_each_once(held, held.database_url, runs=2)


def test_a_run_that_is_resumed_twice_at_once_is_executed_once(held: Ciphermark, gate: Gate) -> None:
    kill(under_way(held, gate))
    run_id = held.run_id()
    first = held.fork("run", "--resume", run_id)
    wait_until(lambda: gate.arrived() == 3, "it goes on")
    second = held.fork("run", "--resume", run_id)
    wait_for_word(second)
    gate.let_pass(*range(10))
    assert "no trials left to execute" not in ended(held, first)
    assert "no trials left to execute" in ended(held, second)
    assert held.database_url is not None
    assert_each_once(held, held.database_url, runs=1)


def test_who_looks_beside_a_run_takes_nothing_from_it(held: Ciphermark, gate: Gate) -> None:
    """All of these record what a journal holds, while the run does."""
    run = under_way(held, gate)
    assert held.outcome_count() == len(HELD)  # of the comparison before
    looks = [("sql", "select count(*) from trial"), ("results", "last"), ("runs",), ("db", "migrate")]
    together = [held.fork(*arguments) for arguments in looks]
    gate.let_pass(*range(10))  # the run goes on beside them
    for process in together:
        out, err = process.communicate(timeout=PATIENCE_S)
        held.ended(process.returncode, out, err, 0)
    ended(held, run)
    assert held.database_url is not None
    assert_each_once(held, held.database_url, runs=1)
