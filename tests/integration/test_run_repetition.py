"""Chains of operations through the command line: time, memory, modulus chains for a depth, and honest refusals."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import installed
import pytest
from processes import PATIENCE_OF_RUNS_S

VARIANTS = [name for name in ("seal", "openfhe") if installed.availability(name).is_installed]
COMMON = {
    "kind": "repetition",
    "variants": VARIANTS,
    "plain_modulus": {"value": 65537},
    "vector_length": [16],
}
MULTIPLICATIONS = COMMON | {
    "variants": VARIANTS[:1],
    "schemes": ["bgv", "ckks"],
    "scale_bits": 35,
    "ring_dimension": "smallest-secure",
    "modulus_bits": "for-depth",
    "operations": ["mul"],
    "repetitions": [2],
}
ADDITIONS = COMMON | {
    "schemes": ["bgv"],
    "ring_dimension": [8192],
    "modulus_bits": [55, 45, 55],
    "operations": ["add"],
    "repetitions": [5, 30],
}
THREADS = ADDITIONS | {"repetitions": [5], "threads": [2]}
TOO_SMALL = MULTIPLICATIONS | {"ring_dimension": [4096], "repetitions": [4]}


@pytest.fixture(scope="module")
def executed(
    tmp_path_factory: pytest.TempPathFactory, new_url: Any
) -> tuple[Any, dict[tuple[Any, ...], Any]]:
    from command import Ciphermark

    if not VARIANTS:
        pytest.skip("neither SEAL nor OpenFHE is installed")
    ciphermark = Ciphermark(tmp_path_factory.mktemp("repetition") / "data", new_url())
    suite = ciphermark.suite(MULTIPLICATIONS, ADDITIONS, THREADS, TOO_SMALL, memory_mb=4096, timeout_s=300)
    told = ciphermark("run", str(suite), timeout_s=PATIENCE_OF_RUNS_S).err
    assert ": repetition, BGV, smallest secure N, mul × 2, 16 values: " in told
    assert ": repetition, BGV, N = 8192, add × 30, 16 values: " in told
    found = {}
    for outcome in ciphermark.outcomes():
        case = outcome["trial"]["case"]
        spec = case["parameters"]
        ring = "smallest-secure" if spec.get("ring_dimension_is_minimum") else spec["ring_dimension"]
        place = (
            case["variant"],
            spec["scheme"],
            case["operation"],
            case["dimensions"]["repetitions"],
            ring,
            case["threads"],
        )
        found[place] = outcome
    return ciphermark, found


def of(outcome: Any, metric: str) -> dict[str, list[float]]:
    values = defaultdict(list)
    for sample in outcome["samples"]:
        if sample["metric"] == metric and not sample["is_warmup"]:
            values[sample["stage"]].append(sample["value"])
    return dict(values)


def test_every_chain_comes_out_right(executed: Any) -> None:
    outcomes = executed[1]
    right = {place for place, outcome in outcomes.items() if outcome["status"] == "ok"}
    expected = {
        (variant, scheme, "mul", 2, "smallest-secure", 1)
        for variant in VARIANTS[:1]
        for scheme in ("bgv", "ckks")
    }
    expected |= {(variant, "bgv", "add", count, 8192, 1) for variant in VARIANTS for count in (5, 30)}
    expected |= {(name, "bgv", "add", 5, 8192, 2) for name in VARIANTS if name == "openfhe"}
    assert right == expected, {place: outcomes[place]["error"] for place in expected - right}


def test_time_memory_and_what_is_left_are_recorded(executed: Any) -> None:
    for (_, scheme, _, count, _, _), outcome in executed[1].items():
        if outcome["status"] != "ok":
            continue
        assert len(of(outcome, "time")["evaluate"]) >= 3
        assert {s["repetitions"] for s in outcome["samples"] if s["metric"] == "time"} == {count}
        peaks = of(outcome, "peak_memory")
        assert peaks.keys() == {"keygen", "evaluate", "process"}
        assert peaks["process"] >= peaks["evaluate"] > [20e6]
        if scheme == "ckks":
            assert of(outcome, "precision")["evaluate"][0] >= 10


def test_the_smallest_ring_is_secure_by_the_primes_that_are_taken(executed: Any) -> None:
    rows = executed[0].rows(
        "select c.variant, c.scheme, c.chain_depth as depth, c.requested_ring_dimension as least, "
        "c.ring_dimension, c.security_2018, c.log_qp "
        "from trial as t join case_info as c on c.case_info_id = t.case_info_id "
        "where c.ring_dimension_is_minimum"
    )
    assert len(rows) == 2
    for row in rows:
        assert row["least"] == 1024
        assert row["security_2018"] >= 128
        assert row["ring_dimension"] in (4096, 8192)
        assert row["depth"] == 2


def test_a_ring_that_is_too_small_is_told(executed: Any) -> None:
    refused = {place: outcome for place, outcome in executed[1].items() if place[4] == 4096}
    assert len(refused) == 2
    for outcome in refused.values():
        assert outcome["status"] == "unsupported"
        assert "above 109, the 2018 table's limit for 128 bits" in outcome["error"]


def test_threads_that_a_library_cannot_have_are_told(executed: Any) -> None:
    for place, outcome in executed[1].items():
        if place[5] == 2 and place[0] == "seal":
            assert outcome["status"] == "unsupported"
            assert "2 threads" in outcome["error"]
