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


@pytest.mark.parametrize("name", ["inference", "quick", "retrieval", "tenseal-ml"])
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
    assert table.about == "all cases: experiment inference · size 1 · data random"
    heads = [head.text for head in table.heads]
    told = ["case", "operation", "variant", "scheme", "N", "chain", "scale, t", "threads", "server MB"]
    assert heads == [*told, "skipped"]
    assert [row[0] for row in table.rows] == [str(number) for number in range(1, len(cases) + 1)]


def test_a_single_case_has_all_of_its_columns_and_nothing_skipped_has_none():
    table = suite.as_table([replace(planned("inference")[0], reason=None)])
    heads = [head.text for head in table.heads]
    assert table.about == ""
    assert heads[:4] == ["case", "operation", "experiment", "variant"]
    assert "skipped" not in heads
    assert "division" not in heads
