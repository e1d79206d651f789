"""What ``suite explain`` shows of cases: each by its number, in the width of a terminal, without loss."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli import suite
from ciphermark_benchmark.suite import files, plan, shipped
from ciphermark_present import terminal


@cache
def planned(name):
    suite, _ = files.load(shipped.path(name))
    variants = {variant for item in suite.experiments for variant in item.variants}
    return plan.cases(suite, {name: Availability(registry.declaration(name)) for name in variants})


@pytest.mark.parametrize("name", ["inference", "quick"])
def test_every_case_and_every_reason_stands_in_eighty_columns(name):
    cases = planned(name)
    lines = list(terminal.lines(suite.as_table(cases), 80))
    assert max(map(len, lines)) <= 80
    numbered = [line.split()[0] for line in lines if re.match(r" *\d+  ?\S", line)]
    assert numbered == [str(number) for number in range(1, len(cases) + 1)]
    text = " ".join(" ".join(lines).split())
    for reason in {item.reason for item in cases if item.reason}:
        assert " ".join(reason.split()) in text


def test_what_all_cases_have_in_common_is_said_once():
    cases = planned("inference")
    table = suite.as_table(cases)
    assert table.about == "All cases: experiment inference · vector length 1 · data random"
    heads = [head.text for head in table.heads]
    told = [
        "case",
        "operation",
        "variant",
        "scheme",
        "N",
        "modulus chain",
        "scale, t",
        "threads",
        "party MB",
        "server MB",
    ]
    assert heads == [*told, "skipped"]
    assert [row[0] for row in table.rows] == [str(number) for number in range(1, len(cases) + 1)]


def test_a_single_case_has_all_of_its_columns_and_nothing_skipped_has_none():
    table = suite.as_table([replace(planned("inference")[0], reason=None)])
    heads = [head.text for head in table.heads]
    assert table.about == ""
    assert heads[:4] == ["case", "operation", "experiment", "variant"]
    assert "skipped" not in heads
    assert "tuning" not in heads


RESOLVED = """
name: resolved
experiments:
  - {kind: arithmetic, variants: [seal, openfhe], schemes: [ckks], ring_dimension: smallest-secure, vector_length: [16],
     modulus_bits: for-depth, depth: 8, scale_bits: 30, operations: [mul], security: {bits: 128, table: 2024}}
  - {kind: arithmetic, variants: [seal, openfhe], schemes: [bfv], ring_dimension: [8192], vector_length: [16],
     operations: [mul]}
"""


def test_requests_are_shown_with_what_they_come_to():
    parsed = files.parse(RESOLVED, "resolved.yaml")
    here = {name: Availability(registry.declaration(name)) for name in parsed.variants}
    cases = plan.cases(parsed, here)
    table = suite.as_table(cases)
    rows = [dict(zip((head.text for head in table.heads), row, strict=True)) for row in table.rows]
    shown = [
        (row["N requested"], row["depth"], row["N"], row["modulus chain"], row["security"]) for row in rows
    ]
    newer, older = "128 bits (2024)", "128 bits (2018)"
    assert shown == [
        ("smallest-secure", "8", "16384", "34,30×8,34", newer),
        ("smallest-secure", "8", "≥16384", "≈34,30×8,34", newer),
        ("", "", "8192", "43,43,44,44,44", older),
        ("", "", "8192", "default", older),
    ]
    resolved = [suite.as_dict(item)["resolved"] for item in cases]
    assert resolved[1] == {
        "ring_dimension": 16384,
        "modulus_bits": (34, *[30] * 8, 34),
        "is_estimate": True,
        "results_below_bits": 3.0,
    }
    assert resolved[3] is None
    assert [row["margin"] for row in rows] == ["results < 2^3", "≈results < 2^3", "", ""]


KEPT = """
name: kept
experiments:
  - {kind: arithmetic, variants: [seal], schemes: [bfv, bgv], ring_dimension: smallest-secure, vector_length: [16],
     modulus_bits: for-depth, depth: 1, plain_modulus: {bits: 20}, operations: [mul]}
"""


def test_chains_for_a_depth_state_the_budget_that_they_keep():
    """At the end of these two SEAL reports what tests/contract/test_chains.py compares with them."""
    parsed = files.parse(KEPT, "kept.yaml")
    cases = plan.cases(parsed, {"seal": Availability(registry.declaration("seal"))})
    table = suite.as_table(cases)
    rows = [dict(zip((head.text for head in table.heads), row, strict=True)) for row in table.rows]
    assert [(row["modulus chain"], row["margin"]) for row in rows] == [
        ("32,32,32", "4 bits of noise budget"),
        ("35,35,35", "5 bits of noise budget"),
    ]
    assert "N 4096" in table.about
    kept = [suite.as_dict(item)["resolved"]["budget_left_bits"] for item in cases]
    assert kept == [pytest.approx(3.5, abs=0.2), pytest.approx(4.6, abs=0.2)]
