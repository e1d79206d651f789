"""How long a suite takes: what its last run took, or an estimate."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli.suite import as_dict
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import durations
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_benchmark.suite import estimate, files, plan, shipped
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, Outcome, ParameterSpec, Trial
from ciphermark_core.run import Host, Run
from ciphermark_measure.interference import reference_kernel

TEXT = """\
name: mine
seed: 1
experiments:
  - {kind: arithmetic, variants: [seal], schemes: [bfv], ring_dimension: [4096], operations: [add, mul, rescale]}
"""
SUITE = files.parse(TEXT, "mine.yaml")
PLANNED = plan.cases(SUITE, {"seal": Availability(registry.declaration("seal"))})
HOST = Host("f", "h", "c", (), {}, 1, 1, "os", "k", None, None, None, None, None, 1, 0.0, 0.0)
OF_PLAN = estimate.of_plan(PLANNED, SUITE.budget.budget)
ESTIMATE = durations.Duration(OF_PLAN.seconds, is_estimate=True, parts=OF_PLAN.parts)


def outcome(number: int, minute: int, duration_s: float) -> Outcome:
    case = Case("seal", "arithmetic", "add", ParameterSpec("bfv", 4096), number + 1, "random")
    trial = Trial(f"trial-{number}", "run-1", case, 0, 1, Budget())
    return Outcome(trial, "ok", f"2026-01-01T00:{minute:02}:00+00:00", duration_s)


def recorded(
    data_directory: DataDirectory, count: int, run_id: str = "run-1", host: Host = HOST, **of_run: str
) -> None:
    """A recorded run of so many trials, of which the n-th begins in the n-th minute and takes 30 s."""
    fields = {"suite_text": TEXT, "started_at": "2026-01-01T00:00:00+00:00", **of_run}
    run = Run(run_id, "mine", fields["suite_text"], 1, fields["started_at"], host, "0")
    journal = Journal.create(data_directory, Header(run, "mine.yaml", (), trials=3))
    for number in range(count):
        journal.append(outcome(number, number, 30.0))
    journal.retire(data_directory)


@pytest.fixture
def data_directory(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path, None)


def expected(data_directory: DataDirectory) -> durations.Duration:
    return durations.expected(data_directory, TEXT, HOST, OF_PLAN)


def test_without_a_run_it_is_an_estimate(data_directory: DataDirectory) -> None:
    assert expected(data_directory) == ESTIMATE
    words = durations.in_words(ESTIMATE.seconds)
    assert ESTIMATE.in_words == f"Estimated time: {words} on an idle host (100% by typical times)"


def test_an_estimate_states_what_it_rests_on() -> None:
    parts = {"cost tables": 75.0, "recorded setup": 0.1, "scaled typical times": 0.0, "typical times": 24.9}
    duration = durations.Duration(100.0, is_estimate=True, parts=parts)
    assert duration.in_words.endswith(" on an idle host (75% by cost tables, 25% by typical times)")


def test_what_the_last_whole_run_took_is_known(data_directory: DataDirectory) -> None:
    recorded(data_directory, 3)
    found = expected(data_directory)
    assert found == durations.Duration(150.0, is_estimate=False)
    assert found.in_words == "Last run on this host: 2.5 min"


@pytest.mark.parametrize(
    "of_another",
    [{"suite_text": f"{TEXT}# not the same\n"}, {"host": replace(HOST, fingerprint="other")}, {"count": 2}],
    ids=["another text", "another host", "not whole"],
)
def test_other_runs_tell_nothing(data_directory: DataDirectory, of_another) -> None:
    recorded(data_directory, **({"count": 3} | of_another))
    assert expected(data_directory) == ESTIMATE


def test_a_job_of_this_data_directory_tells_as_much(data_directory: DataDirectory) -> None:
    recorded(data_directory.of_jobs, 3)
    assert not expected(data_directory).is_estimate


def test_a_journal_that_cannot_be_read_is_passed_over(data_directory: DataDirectory) -> None:
    data_directory.recorded.mkdir(parents=True)
    (data_directory.recorded / "broken.jsonl").write_text("{}\n")
    (data_directory.recorded / "empty.jsonl").write_text("")
    assert expected(data_directory) == ESTIMATE


def test_rests_are_no_work() -> None:
    begun = "2026-01-01T00:00:00+00:00"
    side_by_side = [outcome(0, 1, 120.0), outcome(1, 1, 60.0), outcome(2, 2, 90.0)]
    assert durations.worked_s(begun, side_by_side) == 210.0
    assert durations.worked_s(begun, [outcome(0, 1, 60.0), outcome(1, 50, 60.0)]) == 180.0
    assert durations.worked_s(begun, []) == 0.0


def test_several_suites_are_asked_for_at_once(data_directory: DataDirectory) -> None:
    recorded(data_directory, 3)
    took = durations.of_texts(data_directory, HOST, {TEXT: 1.0, "another": 7.0})
    assert took == {TEXT: durations.Duration(150.0, False), "another": durations.Duration(7.0, True)}


_SLOW = (
    "cryptoracle",
    "inference",
    "inference-large",
    "primitives-large",
    "retrieval",
    "seal-vs-openfhe",
    "tenseal-ml",
)  # to plan


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.extended] * (name in _SLOW)) for name in shipped.names()],
)
def test_a_shipped_suite_states_what_its_plan_comes_to(name: str) -> None:
    suite, text = files.load(shipped.path(name))
    variants = {variant for experiment in suite.experiments for variant in experiment.variants}
    available = {variant: Availability(registry.declaration(variant)) for variant in variants}
    cases = plan.cases(suite, available)
    planned_s = estimate.of_plan(cases, suite.budget.budget).seconds
    assert shipped.estimated_s(text) == pytest.approx(planned_s, rel=0.25)
    assert any(item.reason is None for item in cases)
    assert all(item.reason is None or len(item.reason) > 10 for item in cases)
    assert all(item["vector_length"] > 0 for item in map(as_dict, cases))  # as `suite explain` shows them


def test_an_estimate_goes_by_the_reference_kernel_of_the_host(data_directory: DataDirectory) -> None:
    level = {"cpu_model": "c", "kernel": reference_kernel.KERNEL, "ns": 107_400.0, "at": time.time()}
    (data_directory.folder / "reference_kernel.json").write_text(json.dumps(level))
    assert expected(data_directory).seconds == pytest.approx(2 * ESTIMATE.seconds)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "1 s"),
        (1.2, "1 s"),
        (20.4, "20 s"),
        (89.9, "90 s"),
        (90, "1.5 min"),
        (390, "6.5 min"),
        (600, "10 min"),
        (5399, "90 min"),
        (5400, "1.5 h"),
        (36000, "10.0 h"),
    ],
)
def test_in_words(value, text):
    assert durations.in_words(value) == text
