"""Shipped runs: pages show them where no other run answers, and nothing takes them for the user's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command import REPOSITORY, Ciphermark
from dashboard import dashboard

from ciphermark_benchmark import archive, reference_runs
from ciphermark_db.database import Database

LABEL = "reference-quick"


@pytest.fixture
def shipped(new_url: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ciphermark:
    """A database with one shipped run, and with none of a user."""
    monkeypatch.setattr(reference_runs, "ORDER", ("quick",))
    url = new_url()
    with Database.open(url) as database:
        assert reference_runs.add(database) == [LABEL]
    return Ciphermark(tmp_path / "data", url)


def added(command: Ciphermark) -> list[str]:
    with Database.open(command.database_url) as database:
        return reference_runs.add(database)


def test_every_shipped_archive_is_added() -> None:
    names = {path.name.partition(".")[0] for path in reference_runs.FOLDER.iterdir()}
    assert names == {*reference_runs.ORDER, *reference_runs.BY_HAND}
    assert (REPOSITORY / "reference").resolve() == reference_runs.FOLDER


def test_pages_without_another_run_show_it_and_say_so(shipped: Ciphermark) -> None:
    with dashboard(shipped.database_url) as client:
        for path in ("/", "/operations", "/noise", "/memory", "/hexl"):
            page = client.get(path)
            assert page.status_code == 200, path
            assert re.search("(?i)reference run <a [^>]*>reference-quick</a> of 2026-11-22", page.text), path
            assert "seal-hexl" in page.text, path
        for path in ("/retrieval", "/inference"):
            unmeasured = client.get(path).text
            assert f"No run has these yet: <code>ciphermark run {path[1:]}</code>" in unmeasured
            assert "How long does it take" not in unmeasured
        assert "Reference runs:" in client.get("/runs").text
        assert "No run is recorded yet" in client.get("/runs").text


def test_it_is_no_run_of_the_user(shipped: Ciphermark) -> None:
    assert "No run is recorded yet" in shipped("runs").out
    assert f"Reference runs: {LABEL}" in shipped("runs").out
    refused = shipped("results", code=2).err
    assert "no run is recorded yet" in refused
    assert LABEL in " ".join(refused.split())
    assert "seal-hexl fastest in" in shipped("summary", LABEL).out
    assert "No unlabeled run" in shipped("runs", "delete", "--older-than", "0d", "--yes").out
    assert "Ours: no run is recorded yet" in shipped("results", "--published").out


def test_a_deleted_one_stays_deleted(shipped: Ciphermark) -> None:
    assert added(shipped) == []
    shipped("runs", "delete", LABEL, "--yes")
    assert added(shipped) == []
    assert shipped.rows("select run_id from runs") == []


def test_one_that_the_user_imports_is_the_users(shipped: Ciphermark) -> None:
    path = reference_runs.FOLDER / "quick.jsonl.xz"
    assert "0 of 125 trials are new" in shipped("runs", "import", str(path)).out
    assert "quick" in shipped("summary", "last").out
    assert "Reference runs" not in shipped("runs").out
    assert added(shipped) == []
    with dashboard(shipped.database_url) as client:
        assert "Reference run" not in client.get("/").text


def test_a_run_of_the_user_answers_first(shipped: Ciphermark, make) -> None:
    with Database.open(shipped.database_url) as database:
        case = make.case(operation="negate")
        run = make.record(database, {"case": case, "samples": make.times([0.1] * 9)})
    with dashboard(shipped.database_url) as client:
        assert "Reference results" not in client.get("/operations").text
        assert "Reference run" in client.get("/noise").text
        assert run.id[:8] in client.get("/runs").text
    assert run.id in shipped("results").out


def test_an_imported_one_is_never_a_reference_run(new_url: Callable[[], str], monkeypatch) -> None:
    monkeypatch.setattr(reference_runs, "ORDER", ("quick",))
    with Database.open(new_url()) as database:
        header, _ = archive.read(reference_runs.FOLDER / "quick.jsonl.xz")
        database.import_run(header.run, [])
        assert reference_runs.add(database) == []
        assert database.runs_named("last") == [header.run.id]
