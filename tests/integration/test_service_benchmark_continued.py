"""A run that another host continues is one run to whoever asks the service."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import httpx
import psycopg
import pytest
from benchmark_service import Service, ended, started

from ciphermark_db.database import Database

if TYPE_CHECKING:
    from conftest import Maker


@dataclass(frozen=True)
class Recorded:
    """Two runs: alpha began one and beta continued it; beta did all of the other. Two more of one build, whose times
    scatter so much that 30% may hide among them.
    """

    service: Service
    shared: str
    continued: str
    whole: str
    noisy: tuple[str, str]


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str], make: Maker
) -> Iterator[Recorded]:
    service = started(tmp_path_factory.mktemp("service"), new_url())
    shared, continued, whole = (str(uuid.uuid4()) for _ in range(3))
    alpha, beta = (replace(make.run().host, hostname=name, fingerprint=name) for name in ("alpha", "beta"))
    runs = [make.run(id=shared, host=alpha), make.run(id=continued, host=beta), make.run(id=whole, host=beta)]
    with Database.open(service.database_url) as database:
        for run, operations in zip(runs, [("add", "sub"), ("mul",), ("add", "mul", "negate")], strict=True):
            database.record_run(run)
            for operation in operations:
                case, times = make.case(operation=operation), make.times([1.0] * 10)
                database.record_outcome(make.outcome(run, case, times))
        noisy = [make.run(id=str(uuid.uuid4()), host=beta) for _ in range(2)]
        for shift, run in enumerate(noisy):
            database.record_run(run)
            times = make.times([1 + 0.025 * ((7 * place + shift) % 12) for place in range(12)])
            database.record_outcome(make.outcome(run, make.case(operation="mul"), times))
    with psycopg.connect(service.database_url) as connection:
        connection.execute("update run set continues = %s where id = %s", [shared, continued])
    yield Recorded(service, shared, continued, whole, (noisy[0].id, noisy[1].id))
    ended(service)


@pytest.fixture
def client(recorded: Recorded) -> Iterator[httpx.Client]:
    with recorded.service.client() as made:
        yield made


def compared(client: httpx.Client, a: str, b: str) -> dict[str, tuple[str | None, str | None, str]]:
    """Operation -> the parts that measured it, and the verdict."""
    rows = client.get("/v1/compare", params={"a": a, "b": b}).raise_for_status().json()["results"]
    found = {row["operation"]: (row["a_run_id"], row["b_run_id"], row["verdict"]) for row in rows}
    assert len(found) == len(rows)
    return found


def test_results_are_those_of_all_parts(client: httpx.Client, recorded: Recorded) -> None:
    rows = client.get(f"/v1/runs/{recorded.shared}/results").json()
    assert {(row["operation"], row["host"]) for row in rows} == {
        ("add", "alpha"),
        ("sub", "alpha"),
        ("mul", "beta"),
    }


def test_all_parts_are_compared(client: httpx.Client, recorded: Recorded) -> None:
    shared, continued, whole = recorded.shared, recorded.continued, recorded.whole
    missing = "not comparable: only in run {}"
    expected = {
        "add": (shared, whole, "unchanged"),
        "mul": (continued, whole, "unchanged"),
        "sub": (shared, None, missing.format("A")),
        "negate": (None, whole, missing.format("B")),
    }
    assert compared(client, shared, whole) == expected
    turned = compared(client, whole, shared)
    assert {name: parts[:2][::-1] for name, parts in turned.items()} == {
        name: parts[:2] for name, parts in expected.items()
    }


def test_a_run_of_two_parts_equals_itself(client: httpx.Client, recorded: Recorded) -> None:
    found = compared(client, recorded.shared, recorded.shared)
    assert {name: (a, b) for name, (a, b, _) in found.items()} == {
        "add": (recorded.shared,) * 2,
        "sub": (recorded.shared,) * 2,
        "mul": (recorded.continued,) * 2,
    }
    assert {verdict for *_, verdict in found.values()} == {"unchanged"}


def test_a_part_is_compared_by_itself_where_it_is_named(client: httpx.Client, recorded: Recorded) -> None:
    found = compared(client, recorded.continued, recorded.whole)
    assert {name for name, (a, b, _) in found.items() if a and b} == {"mul"}


def test_a_comparison_is_taken_away_with_its_parts(client: httpx.Client, recorded: Recorded) -> None:
    asked = {"a": recorded.shared, "b": recorded.whole, "format": "csv"}
    header, *lines = client.get("/v1/compare", params=asked).text.splitlines()
    assert header.split(",")[-2:] == ["a_run_id", "b_run_id"]
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ("undecided", 3, {"undecided": 1}, 0)),
        ({"require_power": "10%"}, ("undecided", 3, {"undecided": 1}, 0)),
        ({"require_power": "40%"}, ("no regression", 0, {"undecided": 1}, 1)),
        ({"threshold": "40%"}, ("no regression", 0, {"unchanged": 1}, 0)),
    ],
)
def test_the_verdict_of_a_comparison_is_that_of_the_command(
    client: httpx.Client, recorded: Recorded, asked: dict[str, str], expected: tuple[object, ...]
) -> None:
    """The same values as of the command line: test_cli_comparing.py."""
    a, b = recorded.noisy
    answer = client.get("/v1/compare", params={"a": a, "b": b, **asked}).raise_for_status().json()
    (row,) = answer.pop("results")
    assert {row["verdict"]} == {*answer["verdicts"]}
    assert row["detectable_slowdown"] > 1.05
    assert answer == {
        **dict(zip(("conclusion", "exit_code", "verdicts", "accepted"), expected, strict=True)),
        "times": 1,
        "false_alarm_rate": 0.05,
        "detectable_median": row["detectable_slowdown"],
        "detectable_largest": row["detectable_slowdown"],
    }


@pytest.mark.parametrize("name", ["threshold", "require_power"])
@pytest.mark.parametrize("value", ["5", "0%", "-5%", "2000%", "x", ""])
def test_a_threshold_is_a_percentage(client: httpx.Client, recorded: Recorded, name: str, value: str) -> None:
    answer = client.get("/v1/compare", params={"a": recorded.whole, "b": recorded.whole, name: value})
    assert answer.status_code == 422
    assert f"{name} {value}: must be a percentage above 0%" in answer.json()["detail"]
