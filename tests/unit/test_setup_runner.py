"""Stages of the setup: two at a time, each after what it needs, and a failure stops only what needs it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "setup"))
import runner
from runner import FailureError, Shell, Stage


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOGS", "STAMPS"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(runner, name, tmp_path / name)
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    return tmp_path


def stage(
    name: str, build: Callable[[Shell], None], *needs: str, rebuilt_with: tuple[str, ...] = ()
) -> Stage:
    return Stage(
        name,
        name,
        lambda: [name],
        lambda: True,
        build,
        needs=needs,
        rebuilt_with=rebuilt_with,
        is_optional=True,
    )


def test_each_comes_after_what_it_needs() -> None:
    order: list[str] = []
    built = {name: lambda _, name=name: order.append(name) for name in "abcd"}
    stages = [
        stage("c", built["c"], "a", rebuilt_with=("b",)),
        stage("a", built["a"]),
        stage("d", built["d"], "c"),
        stage("b", built["b"]),
    ]
    assert runner.run_stages(stages) == (4, [])
    assert sorted(order[:2]) == ["a", "b"]
    assert order[2:] == ["c", "d"]
    assert runner.run_stages(stages) == (0, [])


def test_two_are_at_work_at_a_time() -> None:
    """Each waits for the other: one after the other they would never end."""
    both = threading.Barrier(2)
    stages = [stage(name, lambda _: void(both.wait(60))) for name in "ab"]
    assert runner.run_stages(stages) == (2, [])


def void(_: object) -> None:
    """Nothing: builds return nothing."""


def test_a_failure_stops_only_what_needs_it(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(shell: Shell) -> None:
        shell.run(sys.executable, "-c", "print('it broke'); raise SystemExit(3)", advice="mend it")

    order: list[str] = []
    stages = [
        stage("broken", fail),
        stage("hindered", lambda _: order.append("hindered"), "broken"),
        stage("free", lambda _: order.append("free")),
    ]
    worked, missing = runner.run_stages(stages)
    assert (worked, order) == (2, ["free"])
    assert [(entry.name, entry.reason) for entry in missing] == [
        ("broken", f"{Path(sys.executable).name} ended with exit code 3"),
        ("hindered", "not tried: it needs broken"),
    ]
    told = capsys.readouterr().out
    assert "    | it broke\n" in told
    assert "  What to do: mend it\n" in told


def test_what_left_no_result_runs_again() -> None:
    def fail(_: Shell) -> None:
        raise FailureError("no", "try again")

    assert len(runner.run_stages([stage("a", fail)])[1]) == 1
    assert runner.run_stages([stage("a", lambda _: None)]) == (1, [])
