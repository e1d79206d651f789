"""A run that is killed at any point is resumed: nothing measured is lost, nothing is executed or recorded twice."""

from __future__ import annotations

import json
import signal
from collections import Counter
from contextlib import contextmanager

import psutil
import psycopg
import pytest
from command import TINY, Ciphermark, kill, press_ctrl_c, workers_of
from processes import PATIENCE_S, wait_until

OPERATIONS = ["add", "mul"]
VARIANTS = ["cleartext", "planted-good"]
HELD = ["planted-waits"]
TRIALS = len(OPERATIONS) * len(VARIANTS)


def small_suite(ciphermark, variants=VARIANTS, **changes):
    return ciphermark.suite(TINY | {"variants": variants, "operations": OPERATIONS} | changes)


def assert_complete(ciphermark, trials=TRIALS):
    """The journal has every trial once and the database the same, sample by sample."""
    outcomes = ciphermark.outcomes()
    executed = Counter(outcome["trial"]["id"] for outcome in outcomes)
    assert len(executed) == trials
    assert set(executed.values()) == {1}
    cases = Counter(
        (
            outcome["trial"]["case"]["variant"],
            outcome["trial"]["case"]["operation"],
            outcome["trial"]["process"],
        )
        for outcome in outcomes
    )
    assert set(cases.values()) == {1}
    with psycopg.connect(ciphermark.database_url) as connection:
        recorded = connection.execute(
            "select t.id, t.status, count(s.*), sum(s.value) "
            "from trial t left join samples s on s.trial_id = t.id group by t.id"
        ).fetchall()
        runs = connection.execute("select id from run").fetchall()
    assert {(name, status, count) for name, status, count, _ in recorded} == {
        (outcome["trial"]["id"], outcome["status"], len(outcome["samples"])) for outcome in outcomes
    }
    totals = {
        outcome["trial"]["id"]: sum(item["value"] for item in outcome["samples"]) for outcome in outcomes
    }
    assert {name: total for name, *_, total in recorded} == pytest.approx(totals)
    assert runs == [(ciphermark.run_id(),)]
    (journal,) = ciphermark.journals()
    assert journal.parent.name == "recorded"


def assert_gone(workers):
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
    for orphan in alive:
        orphan.kill()
    assert alive == []


def resumed(ciphermark, done_before, trials=TRIALS):
    done = ciphermark("run", "--resume", ciphermark.run_id())
    if done_before < trials:
        assert f"{trials - done_before} trial" in done.out
        assert "to execute" in done.out
    return done


@pytest.fixture
def held(tmp_path, new_url, gate):
    """Commands whose variant ``planted-waits`` is held back by the gate."""
    return Ciphermark(tmp_path / "data", new_url(), {"PLANTED_GATE": str(gate.folder)})


@pytest.mark.extended
@pytest.mark.parametrize("count", [0, 1, 3])
def test_killed_after_some_outcomes(ciphermark, count):
    suite = small_suite(ciphermark)
    process = ciphermark.fork("run", str(suite))
    wait_until(lambda: ciphermark.journals() and ciphermark.outcome_count() >= count, f"{count} outcomes")
    workers = workers_of(process)
    kill(process)
    assert_gone(workers)
    kept = ciphermark.outcomes()
    assert len(kept) >= count
    suite.unlink()  # the run has its text
    resumed(ciphermark, len(kept))
    assert ciphermark.outcomes()[: len(kept)] == kept
    assert_complete(ciphermark)


# The variant that waits arrives first in its memory worker, then in the worker that is timed: for this one see below.
@pytest.mark.extended
@pytest.mark.parametrize(
    ("arrivals", "number"),
    [(1, signal.SIGKILL), (2, signal.SIGTERM)],
    ids=["while memory is measured", "by a polite signal"],
)
def test_killed_while_a_worker_works(held, gate, arrivals, number):
    suite = small_suite(held, variants=HELD)
    gate.let_pass(*range(arrivals - 1))
    process = held.fork("run", str(suite))
    wait_until(lambda: gate.arrived() == arrivals, f"arrival {arrivals}")
    workers = workers_of(process)
    assert workers
    kill(process, number)
    assert_gone(workers)
    kept = held.outcome_count()
    if arrivals == 1:
        assert kept == 0
    gate.let_pass(*range(10))
    resumed(held, kept, len(OPERATIONS))
    assert_complete(held, len(OPERATIONS))


@contextmanager
def recording_stopped(ciphermark, table):
    """While this lasts, nothing can be written to a table; yields what tells whether somebody waits for it."""
    ciphermark("db", "migrate")
    waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    with (
        psycopg.connect(ciphermark.database_url) as blocker,
        psycopg.connect(ciphermark.database_url, autocommit=True) as observer,
    ):
        blocker.execute(f"lock table {table} in share row exclusive mode")
        yield lambda: observer.execute(waiting).fetchone()


@pytest.mark.parametrize(
    "table", ["sample", *(pytest.param(name, marks=pytest.mark.extended) for name in ("run", "trial"))]
)
def test_killed_while_recording(ciphermark, table):
    """The journal has the outcomes of a comparison, and the database is in the middle of taking them."""
    with recording_stopped(ciphermark, table) as somebody_waits:
        process = ciphermark.fork("run", str(small_suite(ciphermark)))
        wait_until(somebody_waits, f"somebody waits for {table}")
        workers = workers_of(process)
        kill(process)
    assert_gone(workers)
    kept = {outcome["trial"]["id"] for outcome in ciphermark.outcomes()}
    assert len(kept) == (0 if table == "run" else len(VARIANTS))
    for _ in range(2):  # the next command records what the run left, and the one after it nothing twice
        assert {row["id"] for row in ciphermark.rows("select id from trial")} == kept
    resumed(ciphermark, len(kept))
    assert_complete(ciphermark)


@pytest.mark.parametrize(
    "arrivals",
    [pytest.param(1, marks=pytest.mark.extended), 2],
    ids=["while memory is measured", "in the middle of a trial"],
)
def test_ctrl_c_ends_at_once_and_tells_how_to_go_on(held, gate, arrivals):
    gate.let_pass(*range(arrivals - 1))
    process = held.fork("run", str(small_suite(held, variants=HELD)))
    wait_until(lambda: gate.arrived() == arrivals, f"arrival {arrivals}")
    workers = workers_of(process)
    out, err = press_ctrl_c(process)  # the gate stays shut: nobody waits for the library
    done = held.ended(process.returncode, out, err, code=130)
    assert f"Resume: ciphermark run --resume {held.run_id()}" in done.err
    assert_gone(workers)
    gate.let_pass(*range(10))
    resumed(held, held.outcome_count(), len(OPERATIONS))
    assert_complete(held, len(OPERATIONS))


def test_a_run_is_resumed_as_it_began(held, gate):
    """One run that was killed in the middle of a trial, and all that is asked of it; then it goes on."""
    suite = small_suite(held, variants=["cleartext", "planted-waits"])
    gate.let_pass(0)
    process = held.fork("run", str(suite), "--variant", "planted-waits")
    wait_until(lambda: gate.arrived() == 2, "a trial is under way")
    workers = workers_of(process)
    assert workers
    kill(process)
    assert_gone(workers)
    gate.let_pass(*range(10))
    run_id, (journal,), text = held.run_id(), held.journals(), suite.read_text()
    suite.write_text(text.replace('"min_samples": 3', '"min_samples": 4'))
    changed = f"{suite} differs from the suite of run {run_id}"
    for arguments, *reasons in (
        ([str(suite), "--resume", run_id], changed, "omit the file"),
        (["--resume", run_id, "--variant", "cleartext"], "omit --variant"),
        (["--resume", "0" * 8], "no journal of run 00000000", run_id),
    ):
        err = held("run", *arguments, code=2).err
        assert all(reason in err for reason in reasons), err
    written = journal.read_bytes()
    header, *lines = written.splitlines(keepends=True)
    elsewhere = json.loads(header)
    elsewhere["run"]["host"] |= {"fingerprint": "0" * 16, "hostname": "elsewhere"}
    journal.write_bytes(json.dumps(elsewhere).encode() + b"\n" + b"".join(lines))
    err = held("run", "--resume", run_id, code=2).err
    assert f"run {run_id} belongs to host elsewhere" in err
    assert "start a new run here" in err
    journal.write_bytes(written)
    suite.write_text(text)
    kept = held.outcomes()
    assert len(kept) == 1
    held("run", str(suite), "--resume", run_id)
    assert held.outcomes()[:1] == kept
    assert {outcome["trial"]["case"]["variant"] for outcome in held.outcomes()} == {"planted-waits"}
    assert_complete(held, trials=len(OPERATIONS))
    (journal,) = held.journals()
    whole = journal.read_bytes()
    suite.unlink()  # the run has its text
    done = held("run", "--resume", run_id)
    assert f"no trials left to execute, {len(OPERATIONS)} completed before" in done.out
    assert journal.read_bytes() == whole
    assert_complete(held, trials=len(OPERATIONS))
