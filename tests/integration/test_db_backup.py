"""Databases that are lost come back: from a backup, and from the journals and archives of a data directory."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from command import REPOSITORY, TINY, Ciphermark

from ciphermark_db import embedded


@pytest.fixture
def embedded_data_directory(data_directory) -> Ciphermark:
    """A data directory with the embedded server, in which a run is measured and one imported."""
    ciphermark = Ciphermark(data_directory)
    suite = ciphermark.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]})
    ciphermark("run", str(suite))
    ciphermark("runs", "import", str(REPOSITORY / "reference" / "quick.jsonl.xz"))
    return ciphermark


def content(ciphermark: Ciphermark) -> list[dict[str, object]]:
    return ciphermark.rows(
        "select run_id, variant, operation, phase, n, median from results order by 1, 2, 3, 4, 5, 6"
    )


def lose_cluster(ciphermark: Ciphermark) -> None:
    embedded.stop(ciphermark.data_directory)
    shutil.rmtree(ciphermark.data_directory / "postgres")


def test_a_lost_cluster_comes_back(embedded_data_directory, tmp_path) -> None:
    backup = tmp_path / "all.backup"
    expected = content(embedded_data_directory)
    embedded_data_directory("runs", "label", "last", "mine")
    embedded_data_directory("db", "backup", str(backup))
    assert backup.stat().st_mode & 0o777 == 0o600
    assert "restore into an empty one" in embedded_data_directory("db", "restore", str(backup), code=2).err
    lose_cluster(embedded_data_directory)
    for file, message in ((tmp_path / "none", "could not open"), (REPOSITORY / "README.md", "magic string")):
        assert message in " ".join(embedded_data_directory("db", "restore", str(file), code=2).err.split())
    embedded_data_directory("db", "restore", str(backup))
    assert content(embedded_data_directory) == expected
    assert "mine" in embedded_data_directory("runs").out
    embedded_data_directory(
        "db", "backup", str(backup)
    )  # what was restored is backed up and restored like any other
    lose_cluster(embedded_data_directory)
    embedded_data_directory("db", "restore", str(backup))
    assert content(embedded_data_directory) == expected
    lose_cluster(embedded_data_directory)
    assert embedded_data_directory("db", "rebuild").out.count("recorded: ") == 2
    assert content(embedded_data_directory) == expected
    assert "recorded: " not in embedded_data_directory("db", "rebuild").out
    (journal,) = embedded_data_directory.journals()
    assert embedded_data_directory.rows("select run_id from runs where not is_imported") == [
        {"run_id": journal.stem}
    ]


def test_a_server_of_ones_own_is_backed_up_too(ciphermark, new_url, tmp_path) -> None:
    suite = ciphermark.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]})
    ciphermark("run", str(suite))
    ciphermark("db", "backup", str(tmp_path / "all.backup"))
    elsewhere = replace(ciphermark, data_directory=tmp_path / "elsewhere", database_url=new_url())
    elsewhere("db", "restore", str(tmp_path / "all.backup"))
    assert content(elsewhere) == content(ciphermark)
