from __future__ import annotations

import threading

import pytest

from ciphermark_benchmark import data_directory, storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import runs
from ciphermark_core.errors import UserError


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    for name in ("CIPHERMARK_DATA", "CIPHERMARK_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def test_the_variable_comes_first(monkeypatch, tmp_path):
    (tmp_path / ".ciphermark").mkdir()
    monkeypatch.setenv("CIPHERMARK_DATA", "elsewhere")
    assert data_directory.find() == DataDirectory(tmp_path / "elsewhere", None)


def test_then_the_closest_folder_above(monkeypatch, tmp_path):
    (tmp_path / ".ciphermark").mkdir()
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert data_directory.find().folder == tmp_path / ".ciphermark"
    (tmp_path / "a" / ".ciphermark").mkdir()
    assert data_directory.find().folder == tmp_path / "a" / ".ciphermark"


def test_then_the_data_folder_of_the_user(tmp_path):
    assert data_directory.find().folder == tmp_path / "data" / "ciphermark"


@pytest.mark.parametrize(("value", "expected"), [("postgresql://h/d", "postgresql://h/d"), ("", None)])
def test_the_database_of_the_environment(monkeypatch, value, expected):
    monkeypatch.setenv("CIPHERMARK_DATABASE_URL", value)
    assert data_directory.find().database_url == expected


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (None, "the embedded PostgreSQL of /data"),
        ("postgresql://me:secret@db.example:5433/bench", "PostgreSQL at db.example/bench"),
    ],
)
def test_the_place_of_the_data_has_no_password(url, place, tmp_path):
    from pathlib import Path

    found = storage.place(DataDirectory(Path("/data"), url))
    assert found == place
    assert "secret" not in found


def test_of_two_runs_at_once_one_waits(tmp_path):
    here, waits, is_second = DataDirectory(tmp_path / "data", None), threading.Event(), threading.Event()

    def second():
        with runs.alone_on_host(here, waits.set):
            is_second.set()

    other = threading.Thread(target=second)
    with runs.alone_on_host(here, lambda: pytest.fail("there is nobody to wait for")):
        other.start()
        assert waits.wait(60)
        assert not is_second.wait(0.2)
    assert is_second.wait(60)
    other.join()


def test_a_data_directory_that_cannot_be_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UserError, match=r"file/data: cannot store data: Not a directory; .*CIPHERMARK_DATA"),
        runs.alone_on_host(DataDirectory(tmp_path / "file" / "data", None), lambda: None),
    ):
        pass
