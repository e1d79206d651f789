"""The command ``predict``: what it refuses, and what it states of a table that is not of this host."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Ciphermark

from ciphermark_db.database import Database

# Seconds by level of operations of the matrix product, in ms.
MEDIANS_MS = {"add": (0.1, 0.2, 0.3), "mul_plain": (0.2, 0.4, 0.6), "rescale": (0.3, 0.6, 0.9)}
PREDICT = ("predict", "matrix-product", "side=4", "--variant", "openfhe")


@pytest.fixture(scope="module")
def ciphermark(tmp_path_factory: Any, new_url: Any, make: Any) -> Ciphermark:
    """Costs of another host, without those of operations with keys."""
    url = new_url()
    with Database.open(url) as database:
        database.migrate()
        for operation, medians in MEDIANS_MS.items():
            make.record(database, *make.costs(operation, {"openfhe": medians}))
    return Ciphermark(tmp_path_factory.mktemp("predict"), url)


def test_costs_of_another_host_are_refused_unless_they_are_accepted(ciphermark: Ciphermark) -> None:
    refused = ciphermark(*PREDICT, code=2).err
    assert "ciphermark calibrate --variant openfhe" in refused
    assert "--other-host" in refused

    out = " ".join(ciphermark(*PREDICT, "--other-host").out.split())
    assert "measured on another host" in out
    assert "rotate (CKKS, N = 8192, 3 primes)" in out
    assert "≥" in out


def test_a_variant_without_any_costs_is_told_to_calibrate(ciphermark: Ciphermark) -> None:
    refused = ciphermark("predict", "matrix-product", "--variant", "seal", "--other-host", code=2).err
    assert refused.strip() == "seal: no cost table on this host: ciphermark calibrate --variant seal"


def test_programs_get_bytes_memory_and_the_digest_of_the_table(ciphermark: Ciphermark) -> None:
    (row,) = json.loads(ciphermark(*PREDICT, "--other-host", "--format", "json").out)
    assert row["is_partial"]
    assert row["ring_dimension"] == 8192
    assert row["low_s"] < row["evaluation_s"] < row["high_s"]
    assert row["upload_bytes"] == 2 * (2 * 3 * 8 * 8192 + 113)
    assert len(row["table"]) == 64
    (again,) = json.loads(ciphermark(*PREDICT, "--other-host", "--format", "json").out)
    assert again["table"] == row["table"]


def test_a_network_has_units(ciphermark: Ciphermark) -> None:
    refused = ciphermark(*PREDICT, "--other-host", "--bandwidth", "20", code=2).err
    assert "write a number with its unit, such as 100 Mbit/s" in refused
    slow, fast = (
        json.loads(ciphermark(*PREDICT, "--other-host", "--format", "json", *network).out)[0]["end_to_end_s"]
        for network in (("--bandwidth", "8Mbit/s", "--round-trip", "1s"), ("--bandwidth", "8Gbit/s"))
    )
    assert slow > fast + 1.0


def test_programs_have_the_largest_error(ciphermark: Ciphermark) -> None:
    (row,) = json.loads(ciphermark(*PREDICT, "--other-host", "--format", "json").out)
    assert 0 < row["max_error"] < 1e-3
    assert row["budget_bits"] is None


def test_the_breakdown_has_steps_operations_and_levels(ciphermark: Ciphermark) -> None:
    out = ciphermark(*PREDICT, "--other-host", "--breakdown").out
    assert "openfhe: steps" in out
    assert any(line.split()[:2] == ["mul_plain", "2"] for line in out.splitlines())


def test_a_suite_is_predicted_case_by_case(ciphermark: Ciphermark) -> None:
    out = ciphermark("predict", "micro", "--variant", "openfhe", "--other-host").out
    assert "matrix-product-packed" in out
    assert "logistic" in out
    assert "no executable case of a workload" in ciphermark("predict", "primitives", code=2).err


def test_accelerators_need_no_costs(ciphermark: Ciphermark) -> None:
    machines = ("--machine", "craterlake", "--machine", "f1-plus")
    rows = json.loads(ciphermark("predict", "matrix-product", *machines, "--format", "json").out)
    assert [row["machine"] for row in rows] == ["craterlake", "f1-plus"]
    assert 0 < rows[0]["without_latency_s"] < rows[0]["time_s"] < rows[1]["time_s"]
    out = ciphermark("predict", "matrix-product", *machines).out
    assert "Inputs that are not published" in out
    (fast,) = json.loads(
        ciphermark("predict", "matrix-product", *machines[:2], "--set", "lanes=4096", "--format", "json").out
    )
    assert fast["time_s"] < rows[0]["time_s"]


def test_what_no_accelerator_takes_has_no_number(ciphermark: Ciphermark) -> None:
    assert "no machine 'lake'" in ciphermark("predict", "matrix-product", "--machine", "lake", code=2).err
    assert "are for --machine" in ciphermark("predict", "matrix-product", "--security", "80", code=2).err
    text = ciphermark("machines", "craterlake").out
    assert "fitted to the time of lola-mnist" in " ".join(text.split())
    assert "--schema shows" in ciphermark("machines", "craterlake", "--schema", code=2).err
    assert "register_file" in ciphermark("machines", "--schema").out
