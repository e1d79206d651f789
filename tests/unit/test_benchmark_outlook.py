"""What shipped suites take is planned once, and again whenever anything changed that plans follow from."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from test_benchmark_durations import HOST, SUITE, TEXT

from ciphermark_benchmark.home import Home
from ciphermark_benchmark.runner import durations, outlook, runs
from ciphermark_benchmark.runner.outlook import Outlook
from ciphermark_benchmark.suite import plan, shipped
from ciphermark_core import host


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small suites in the place of those that are shipped."""
    folder = tmp_path / "suites"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(f"name: {name}\n")
    monkeypatch.setattr(shipped, "FOLDER", folder)
    return folder


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the suites that were planned, in their order."""
    names: list[str] = []

    def plan(name: str, _: object) -> Outlook:
        names.append(name)
        return Outlook(3, 60.0)

    monkeypatch.setattr(outlook, "_planned", plan)
    return names


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", None)


def test_a_plan_is_made_once(home: Home, suites: Path, planned: list[str]) -> None:
    assert outlook.shipped_seconds(home, HOST) == {"one": 60.0, "two": 60.0}
    assert outlook.shipped_seconds(home, HOST) == {"one": 60.0, "two": 60.0}
    assert planned == ["one", "two"]


def test_of_another_text_it_is_made_again(home: Home, suites: Path, planned: list[str]) -> None:
    outlook.shipped_seconds(home, HOST)
    (suites / "two.yaml").write_text("name: two\nseed: 2\n")
    outlook.shipped_seconds(home, HOST)
    assert planned == ["one", "two", "two"]


@pytest.mark.parametrize("change", ["code", "adapter", "setting", "CPU"])
def test_all_are_made_again_where_anything_else_changed(  # noqa: PLR0917 - fixtures
    change: str, home: Home, suites: Path, planned: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "libs" / "ciphermark_more"
    package.mkdir(parents=True)
    (package / "code.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("CIPHERMARK_ADAPTER_PATH", str(tmp_path / "adapters"))
    outlook.shipped_seconds(home, HOST)
    facts = HOST
    match change:
        case "code":
            os.utime(package / "code.py", ns=(1, 1))
        case "adapter":
            (tmp_path / "adapters" / "mine").mkdir(parents=True)
            (tmp_path / "adapters" / "mine" / "declaration.py").write_text("DECLARATIONS = ()\n")
        case "setting":
            monkeypatch.setenv("CIPHERMARK_SOMETHING", "else")
        case _:
            facts = replace(HOST, cpu_flags=("avx2",))
    outlook.shipped_seconds(home, facts)
    assert planned == ["one", "two"] * 2


def test_what_is_kept_may_be_damaged_or_impossible_to_keep(
    home: Home, suites: Path, planned: list[str]
) -> None:
    home.folder.mkdir()
    (home.folder / "suite-outlooks.json").write_text('{"key": 1}')
    assert outlook.shipped_seconds(home, HOST)["one"] == 60.0
    elsewhere = Home(suites / "one.yaml", None)  # no folder
    assert outlook.shipped_seconds(elsewhere, HOST)["one"] == 60.0


def test_a_suite_takes_as_long_as_its_plan_says(home: Home, suites: Path) -> None:
    for path in suites.iterdir():
        path.unlink()
    (suites / "mine.yaml").write_text(TEXT)
    facts = host.collect()
    planned = plan.cases(SUITE, runs.available(SUITE, facts))
    expected = durations.expected(home, TEXT, SUITE, planned, facts)
    for _ in range(2):
        assert outlook.shipped_seconds(home, facts) == {"mine": pytest.approx(expected.seconds)}
