"""Who died is started again, alone, until it is no use."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2] / "deploy"))
from supervision import MAX_DEATHS, WITHIN_S, Condition, Supervisor, after_death


class Unit:
    """Lives until it is told to die; counts its starts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.reason: str | None = None
        self.starts = 0
        self.cannot_start: str | None = None

    def start(self) -> None:
        self.starts += 1
        if self.cannot_start is not None:
            raise OSError(self.cannot_start)
        self.reason = None

    def death(self) -> str | None:
        return self.reason


def supervised(tmp_path: Path, *units: Unit) -> tuple[Supervisor, list[str], Path]:
    told: list[str] = []
    file = tmp_path / "services.json"
    return Supervisor(units, told.append, file), told, file


def test_one_that_died_is_started_again_after_a_pause_and_the_others_are_left_alone(tmp_path):
    victim, other = Unit("worker"), Unit("server")
    supervisor, told, file = supervised(tmp_path, victim, other)
    victim.reason = "exit code -9"
    supervisor.look(100.0)
    (waiting, running) = json.loads(file.read_text())
    assert waiting == {"name": "worker", "state": "waiting", "deaths": 1, "reason": "exit code -9"}
    assert running == {"name": "server", "state": "running", "deaths": 0, "reason": None}
    supervisor.look(100.2)
    assert victim.starts == 0
    supervisor.look(100.3)
    assert (victim.starts, other.starts) == (1, 0)
    assert [row["state"] for row in json.loads(file.read_text())] == ["running", "running"]
    assert told == ["worker: exit code -9\nit is started again in 0.25 s", "worker is started again"]


def test_the_third_death_within_a_minute_ends_it_and_nothing_else(tmp_path):
    victim, other = Unit("worker"), Unit("server")
    supervisor, told, file = supervised(tmp_path, victim, other)
    for second in (0, 20, 40):
        victim.reason = f"death at {second}"
        supervisor.look(float(second))
        supervisor.look(second + 10.0)
    supervisor.look(10_000.0)
    assert (victim.starts, other.starts) == (2, 0)
    assert supervisor.is_any_left
    assert json.loads(file.read_text())[0] == {
        "name": "worker",
        "state": "given up",
        "deaths": 3,
        "reason": "death at 40",
    }
    assert told[-1] == (
        "worker: death at 40\nit died 3 times within 60 s and is left alone; the others go on"
    )
    for second in range(20_000, 20_020):
        other.reason = "too"
        supervisor.look(float(second))
    assert not supervisor.is_any_left


def test_one_that_cannot_be_started_dies_of_that(tmp_path):
    unit = Unit("postgresql")
    supervisor, told, _ = supervised(tmp_path, unit)
    unit.reason, unit.cannot_start = "gone", "no space left"
    for tenth in range(100):
        supervisor.look(tenth / 10)
    assert unit.starts == MAX_DEATHS - 1
    assert "it cannot be started: no space left" in told[-1]


def test_a_disk_that_takes_nothing_stops_nobody_and_is_told_once(tmp_path):
    """What is to be written is a folder's name until the disk takes files again."""
    victim = Unit("worker")
    supervisor, told, file = supervised(tmp_path, victim)
    before = file.read_text()
    (in_the_way := file.with_suffix(".new")).mkdir()
    victim.reason = "gone"
    for tenth in range(5):
        supervisor.look(100 + tenth / 10)
    assert victim.starts == 1
    assert file.read_text() == before
    assert [text for text in told if str(file) in text] == [
        f"{file} is not written: Is a directory; the services go on"
    ]
    in_the_way.rmdir()
    supervisor.look(200.0)
    assert json.loads(file.read_text())[0]["deaths"] == 1


@given(st.lists(st.floats(0.001, 200), max_size=30))
def test_it_is_left_alone_only_for_three_deaths_within_a_minute(gaps):
    condition, now_s, deaths = Condition(), 0.0, []
    for gap in gaps:
        now_s += gap
        deaths.append(now_s)
        condition = after_death(condition, now_s, "died")
        recent = [at_s for at_s in deaths if now_s - at_s < WITHIN_S]
        assert condition.is_given_up == (len(recent) >= MAX_DEATHS)
        if condition.is_given_up:
            return
        assert condition.restart_at_s is not None
        assert now_s < condition.restart_at_s < now_s + 10
