"""Estimates of suites from what a host has measured, and from typical times."""

from __future__ import annotations

import json

import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark import predicting
from ciphermark_benchmark.suite import estimate, files, plan, typical
from ciphermark_benchmark.suite.estimate import Measured
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_model.interpolation import Costs
from ciphermark_model.pricing import Pricer
from ciphermark_model.table import Cost, CostTable, Key
from ciphermark_workloads.catalogue import WORKLOADS

ARITHMETIC = {"kind": "arithmetic", "variants": ["seal"], "schemes": ["ckks"], "ring_dimension": [8192]}
CHAIN = {"modulus_bits": [60, 40, 40, 60], "scale_bits": 40}
LEARNED = {"kind": "micro", "variants": ["seal", "seal-hexl"], "workloads": ["matrix-product-packed"]}


def suite_of(experiment: dict[str, object]) -> Suite:
    text = {
        "name": "x",
        "budget": {"processes": 1, "min_samples": 10, "min_time_s": 0},
        "experiments": [experiment],
    }
    return files.parse(json.dumps(text), "test")


def cases(suite: Suite, costs: dict[str, Costs] | None = None) -> list[PlannedCase]:
    available = {name: Availability(registry.declaration(name)) for name in suite.variants}
    return plan.cases(suite, available, costs=costs or {})


def costs_of(entries: dict[Key, float]) -> Costs:
    medians = {key: Cost(seconds, seconds, seconds) for key, seconds in entries.items()}
    return Costs(CostTable("host", "seal", "build", medians))


def parts(planned: list[PlannedCase], suite: Suite, **measured: object) -> dict[str, float]:
    return {**estimate.of_plan(planned, suite.trial_budget, Measured(**measured)).parts}


def test_a_trial_goes_by_the_cost_of_its_operation() -> None:
    """Ten samples and some executions around them take as many times as long as the operation."""
    suite = suite_of(ARITHMETIC | CHAIN | {"operations": ["mul"], "levels": [1]})
    planned = cases(suite)
    add, mul = Key("add", "ckks", 8192, 2), Key("mul", "ckks", 8192, 2)
    client = {Key("encrypt", "ckks", 8192, 3): 1e-3, Key("decrypt", "ckks", 8192, 3, count=2): 1e-3}
    fast, slow = (
        parts(planned, suite, costs={"seal": costs_of({mul: seconds} | client)}) for seconds in (0.01, 1.01)
    )
    assert 15 < slow["cost tables"] - fast["cost tables"] < 30
    assert slow["typical times"] == fast["typical times"]
    assert parts(planned, suite, costs={"seal": costs_of({add: 0.01})})["cost tables"] == 0
    assert parts(planned, suite)["cost tables"] == 0


def test_what_a_table_lacks_is_typical_on_the_scale_of_the_table() -> None:
    suite = suite_of(ARITHMETIC | CHAIN | {"operations": ["rotate(1)"], "levels": [1]})
    planned = cases(suite)
    usual_s = typical.operation_s("mul", "ckks", 8192, 3, 0)

    def scaled_s(factor: float) -> float:
        table = costs_of({Key("mul", "ckks", 8192, 3): factor * usual_s})
        return parts(planned, suite, costs={"seal": table})["scaled typical times"]

    one_s, ten_s = scaled_s(1), scaled_s(10)
    assert 0 < one_s < ten_s < 10 * one_s
    assert parts(planned, suite)["scaled typical times"] == 0


def test_keys_go_by_those_that_a_host_has_made() -> None:
    suite = suite_of(ARITHMETIC | CHAIN | {"operations": ["rotate(1)", "rotate(2)", "rotate(4)"]})
    planned = cases(suite)
    usual, fast = parts(planned, suite), parts(planned, suite, key_factors={"seal": 0.5})
    keys_s = usual["typical times"] - fast["typical times"]
    assert keys_s > 0
    assert fast["recorded setup"] == pytest.approx(keys_s / 2)
    assert parts(planned, suite, key_factors={"openfhe": 0.5}) == usual


def test_a_pass_is_predicted_where_the_table_has_its_operations() -> None:
    suite = suite_of(LEARNED)
    subject = predicting.subject(WORKLOADS["matrix-product-packed"], None, "seal")
    pricer = Pricer(costs_of({}), subject.declared, subject.parameters, subject.switching, 1)
    lacking = pricer.priced(subject.stages[0].program).lacking
    usual, (whole, other), (partial, _) = (
        cases(suite, costs)
        for costs in (
            {},
            {"seal": costs_of(dict.fromkeys(lacking, 1.0))},
            {"seal": costs_of(dict.fromkeys([*lacking][1:], 1.0))},
        )
    )
    assert [item.pass_time and item.pass_time.source for item in (*usual, whole, other, partial)] == [
        "typical times",
        "typical times",
        "cost tables",
        "typical times",
        "scaled typical times",
    ]
    assert whole.pass_time is not None
    nodes = len(subject.stages[0].program.nodes)
    assert nodes / 2 < whole.pass_time.seconds < 2 * nodes  # of a second each, and a scaled client
    found = parts([whole], suite)
    assert found["cost tables"] > 10 * whole.pass_time.seconds


def test_a_slower_host_takes_longer_where_it_has_measured_nothing() -> None:
    found = estimate.Estimate({"cost tables": 4.0, "typical times": 3.0}).on_host(2.0)
    assert found.parts == {"cost tables": 4.0, "typical times": 6.0}
    assert found.seconds == 10.0
