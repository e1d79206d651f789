"""Batches and parameters of a suite: what was asked for is what was measured, and a batch has a time per input."""

from __future__ import annotations

import pytest
from command import Ciphermark

LOGISTIC = {
    "kind": "micro",
    "variants": ["seal"],
    "workloads": ["logistic"],
    "options": {"degree": [7], "values": [64]},
    "ring_dimension": [4096],
    "modulus_bits": [50, 40, 40, 40, 50],
    "scale_bits": 40,
    "security": "none",
    "inputs_per_pass": [1, 3],
}
THREADS = LOGISTIC | {"variants": ["seal", "cleartext"], "inputs_per_pass": [1], "threads": [2]}


@pytest.fixture(scope="module")
def measured(tmp_path_factory, new_url):
    ciphermark = Ciphermark(tmp_path_factory.mktemp("batches") / "data", new_url())
    ciphermark("run", str(ciphermark.suite(LOGISTIC, THREADS)), code=None)
    return ciphermark, ciphermark.outcomes()


def _batch(outcome):
    return outcome["trial"]["case"]["dimensions"].get("inputs_per_pass", 1)


def _values(outcome, metric):
    """Of the whole stage, pass by pass."""
    return [
        sample["value"]
        for sample in outcome["samples"]
        if (sample["metric"], sample["stage"]) == (metric, "compute")
        and not sample["step"]
        and not sample["party"]
    ]


def test_what_was_asked_for_was_executed(measured):
    _, outcomes = measured
    found = sorted(
        (item["trial"]["case"]["variant"], _batch(item), item["trial"]["case"]["threads"], item["status"])
        for item in outcomes
    )
    assert found == [
        ("cleartext", 1, 2, "unsupported"),
        ("seal", 1, 1, "ok"),
        ("seal", 1, 2, "ok"),
        ("seal", 3, 1, "ok"),
    ]
    for item in outcomes:
        asked = item["trial"]["case"]["parameters"]
        assert (asked["ring_dimension"], asked["modulus_bits"]) == (4096, LOGISTIC["modulus_bits"])
        assert (asked["scale_bits"], asked["security"]) == (40, 0)
        if item["status"] == "ok":
            resolved = item["parameters"]
            primes = resolved["moduli"] + resolved["special_moduli"]
            assert [prime.bit_length() for prime in primes] == LOGISTIC["modulus_bits"]


def test_a_batch_has_a_time_per_input(measured):
    _, outcomes = measured
    for item in outcomes:
        times, amortized = _values(item, "time"), _values(item, "amortized_time")
        if _batch(item) == 1:
            assert amortized == []
        elif item["status"] == "ok":
            assert len(times) == 4  # one warm-up
            assert amortized == pytest.approx([time / 3 for time in times])


def test_one_program_computes_on_all_inputs(measured):
    _, outcomes = measured
    digests = {
        program["digest"]
        for item in outcomes
        if item["trial"]["case"]["variant"] == "seal"
        for program in item["programs"]
    }
    assert len(digests) == 1
    sizes = {_batch(item): _values(item, "plaintext_size")[0] for item in outcomes if item["status"] == "ok"}
    assert sizes == {1: 512.0, 3: 1536.0}


def test_results_tell_the_time_per_input(measured):
    ciphermark, _ = measured
    rows = ciphermark.rows(
        "select variant, (dimensions ->> 'inputs_per_pass')::int as inputs_per_pass, direction, median from results "
        "where metric = 'amortized_time' and party is null and step is null"
    )
    assert [(row["variant"], row["inputs_per_pass"], row["direction"]) for row in rows] == [
        ("seal", 3, "lower")
    ]
    assert all(row["median"] > 0 for row in rows)
