"""Deleting runs, runs that cannot be dated, and journals that were cut."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from dashboard import dashboard

from ciphermark_core.errors import UserError
from ciphermark_core.model import OperationCount, ProgramUse
from ciphermark_db.database import Database

DESCRIPTIONS = ("case_request", "build", "parameter_set", "program")


def content(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables that runs are in, but for hosts, registries and the audit log."""
    tables = database.query(
        "select distinct table_name from information_schema.columns where table_schema = 'public' and column_name in "
        "('run_id', 'trial_id', 'case_info_id', 'series_id') and table_name in "
        "(select relname from pg_class where relkind = 'r') and table_name <> 'audit'"
    ).rows
    names = [*(name for (name,) in tables), "run", *DESCRIPTIONS]
    return {name: sorted(database.query(f"select t::text from {name} as t").rows) for name in names}


def full(make, run):
    use = ProgramUse("infer", run.id * 2, "bfv", 1, 7, 4, (OperationCount("mul", 1, 1),), run.id.encode())
    own = make.case(vector_length=sum(run.id.encode()))
    shared = make.outcome(run, make.case(), make.times([0.1, 0.2]))
    return [shared, replace(make.outcome(run, own, make.times([0.3])), programs=(use,))]


def test_nothing_of_a_deleted_run_stays_and_all_of_others_does(database: Database, make) -> None:
    kept, gone, part = make.run(), make.run(), make.run()
    database.record_run(kept)
    database.record_outcomes(full(make, kept))
    before = content(database)
    for run, continues in ((gone, None), (part, gone.id)):
        database.record_run(run, continues=continues)
        database.record_outcomes(full(make, run))
    database.record_refusals([make.outcome(gone)], "too odd")
    assert content(database) != before
    assert sorted(database.delete_run(gone.id)) == sorted([gone.id, part.id])
    assert content(database) == before


def test_a_run_whose_job_is_open_stays(database: Database, make) -> None:
    run = make.run()
    database.record_run(run)
    database.query(
        "insert into job "
        "(id, suite, suite_text, variants, needed_variants, needed_isa, needed_memory_mb, queue, state) "
        f"values ('{run.id}', 'quick', '', '{{}}', '{{}}', '{{}}', 0, 'q', 'running')",
        read_only=False,
    )
    with pytest.raises(UserError, match="cancel it first"):
        database.delete_run(run.id)
    assert run.id in database.run_ids()


def test_a_deleted_run_is_not_recorded_again(ciphermark) -> None:
    experiment = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [1024], "modulus_bits": [27]}
    suite = ciphermark.suite(experiment | {"variants": ["cleartext"], "operations": ["add"]})
    for _ in range(3):
        ciphermark("run", str(suite))
    newest, middle, oldest = (
        row["run_id"] for row in ciphermark.rows("select run_id from runs order by started_at desc")
    )
    assert "add --yes" in ciphermark("runs", "delete", "last", code=2).err
    assert f"deleted: {newest}" in ciphermark("runs", "delete", "last", "--yes").out
    assert ciphermark("runs", "delete", "last", "--older-than", "1d", code=2)
    assert "enter days or weeks" in ciphermark("runs", "delete", "--older-than", "soon", code=2).err
    assert "No unlabeled run" in ciphermark("runs", "delete", "--older-than", "1d", "--yes").out
    ciphermark("runs", "label", middle, "kept")
    with Database.open(ciphermark.database_url) as database:
        database.query("update run set started_at = now() - interval '91 days'", read_only=False)
    assert f"deleted: {oldest}" in ciphermark("runs", "delete", "--older-than", "90d", "--yes").out
    assert ciphermark.rows("select run_id from runs") == [{"run_id": middle}]
    assert [path.stem for path in ciphermark.journals()] == [middle]


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "10000-01-01", "0044-03-15 BC"])
def test_a_run_without_a_date_is_listed_and_disables_nothing(ciphermark, make, moment: str) -> None:
    with Database.open(ciphermark.database_url) as database:
        run = make.record(database, {"samples": make.times([0.1] * 9)})
        for table in ("run", "trial"):
            database.query(f"update {table} set started_at = '{moment}'", read_only=False)
    assert "date out of range" in " ".join(ciphermark("runs").out.split())
    for command in (("results", "last"), ("summary", "last"), ("db", "rebuild")):
        ciphermark(*command)
    with dashboard(ciphermark.database_url) as client:
        for path in ("/", "/runs", f"/runs/{run.id}", "/readyz"):
            assert client.get(path).status_code == 200, path
        assert "date out of range" in client.get("/runs").text
    ciphermark("runs", "delete", run.id, "--yes")


def test_a_journal_that_was_cut_is_not_exported_as_whole(ciphermark, tmp_path) -> None:
    experiment = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [1024], "modulus_bits": [27]}
    suite = ciphermark.suite(experiment | {"variants": ["cleartext"], "operations": ["add", "sub"]})
    ciphermark("run", str(suite))
    (journal,) = ciphermark.journals()
    last = json.loads(journal.read_bytes().splitlines()[-1])["trial"]["case"]
    path = tmp_path / "run.jsonl.xz"
    ciphermark("runs", "export", "last", "-o", str(path))
    journal.write_bytes(journal.read_bytes()[:-50])
    path.unlink()
    refused = ciphermark("runs", "export", "last", "-o", str(path), code=2).err
    lost = f"1 of 2 recorded trials: cleartext {last['operation']} (bfv, N = 1024)"
    assert f"Missing: {lost}. Nothing was written; --partial writes the other trials" in " ".join(
        refused.split()
    )
    assert not path.exists()
    assert f"; missing: {lost}" in ciphermark("runs", "export", "last", "-o", str(path), "--partial").out
    whole, *rest = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(whole + b"{}\n" + b"".join(rest))
    assert "is damaged" in ciphermark("runs", "export", "last", "-o", str(path), code=2).err
