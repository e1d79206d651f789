"""`ciphermark profile`, from the command to rows, over a workload and an operation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Ciphermark

from ciphermark_measure import probes

pytestmark = pytest.mark.extended


@pytest.fixture
def ciphermark(new_url: Callable[[], str], tmp_path: Path) -> Ciphermark:
    return Ciphermark(tmp_path / "data", new_url())


def test_an_operation_has_values_or_reasons(ciphermark: Ciphermark, tmp_path: Path) -> None:
    chosen = [name for name in probes.asked() if name != "energy"]  # which would wait for an idle minute
    options = [part for name in chosen for part in ("--probe", name)]
    file = tmp_path / "add.json"
    done = ciphermark("profile", "add", "--n", "4096", *options, "--speedscope", str(file))
    assert "add, CKKS, N = 4096: evaluate" in done.out
    rows = ciphermark.rows("select distinct probe, metric is null as is_reason, unmeasured from profiles")
    for name in chosen:
        own = [row for row in rows if row["probe"] == name]
        reason = probes.reasons_against([name]).get(name)
        assert {row["is_reason"] for row in own} >= ({True} if reason else {False}), name
        assert all(reason in row["unmeasured"] for row in own if reason and row["is_reason"])
    stages = [row["stage"] for row in ciphermark.rows("select distinct stage from stacks")]
    assert len(json.loads(file.read_text())["profiles"]) == len(stages)


def test_the_program_of_a_workload_has_values(ciphermark: Ciphermark) -> None:
    ciphermark("profile", "lmc-plain", "--scheme", "bfv", "--probe", "allocations")
    rows = ciphermark.rows("select distinct phase from profiles where metric = 'minor_faults'")
    assert rows == [{"phase": "infer"}]
    assert ciphermark.rows("select count(*) as n from results where metric = 'time' and phase = 'infer'") == [
        {"n": 1}
    ]
