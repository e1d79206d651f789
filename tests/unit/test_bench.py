"""What the benches take for granted of programs beside them, which compile for minutes: that they are called alike."""

from __future__ import annotations

import importlib
import io
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import bench.baseline
from bench import __main__ as program
from bench import aa, gate
from bench.results import BenchResult, Target
from ciphermark_analysis.build_comparison import Compared
from ciphermark_analysis.estimates import Estimate
from ciphermark_benchmark.cli import compare_builds
from ciphermark_benchmark.cli.compare_builds import Result
from ciphermark_benchmark.suite import files
from ciphermark_contract.operations import OPERATIONS, read
from ciphermark_present.console import Terminal

NATIVE = Path(bench.baseline.__file__).parent / "native"


@pytest.mark.parametrize(
    ("source", "pattern"), [("plain_loop.cpp", r'\{ "(\S+)", loop'), ("plain_loop.go", r'case "(\S+)":')]
)
def test_the_plain_loops_have_the_operations_that_they_are_asked_for(source, pattern):
    asked = {*bench.baseline.OPERATIONS, "rescale"}
    assert {read(name).name for name in asked} <= set(OPERATIONS)
    assert asked <= set(re.findall(pattern, (NATIVE / source).read_text()))


def test_every_section_is_in_a_file_of_its_name():
    assert all(callable(importlib.import_module(f"bench.{name}").section) for name in program.SECTIONS)


def test_a_section_that_fails_does_not_stop_the_others(monkeypatch, capsys):
    def fail(progress):
        yield BenchResult("before", 1.0, "s", Target(most=0.5))
        raise RuntimeError("no compiler")

    monkeypatch.setattr("bench.loop.section", fail)
    monkeypatch.setattr(
        "bench.storage.section", lambda progress: iter([BenchResult("after", 1.0, "s", Target(most=2))])
    )
    monkeypatch.setattr("sys.argv", ["bench", "loop", "storage"])
    with pytest.raises(SystemExit, match="sections that failed: loop"):
        program.main()
    printed = capsys.readouterr().out
    assert re.search(r"loop: before +1 s +target ≤ 0.5 s +MISSED", printed)
    assert re.search(r"storage: after +1 s +target ≤ 2 s +met", printed)
    assert "no compiler" in printed
    assert "1 targets met, 1 missed" in printed


@pytest.mark.parametrize(
    ("is_planted", "verdict", "false_at"),
    [
        (True, "slower", [0]),
        (True, "faster", [0, 5, 10, 25]),
        (True, "unchanged", [10, 25]),
        (True, "undecided", []),
        (True, "failed", [0, 5, 10, 25]),
        (False, "failed", [0, 5, 10, 25]),
        (False, "slower", [0, 5, 10, 25]),
        (False, "faster", [0, 5, 10, 25]),
        (False, "unchanged", []),
        (False, "undecided", []),
    ],
)
def test_a_gate_is_false_where_it_contradicts_what_was_planted(is_planted, verdict, false_at):
    claim = gate.Claim(is_planted, verdict)
    assert [percent for percent in gate.PLANTED if gate.is_false(claim, percent)] == false_at


@pytest.mark.parametrize(("gates", "alarms"), [(1, 1), (3, 1), (24, 4), (200, 18)])
def test_gates_may_make_as_many_false_alarms_as_their_rate_explains(gates, alarms):
    assert gate.tolerated(gates) == alarms
    rate, drawn = 0.05, range(alarms + 1, gates + 1)
    assert sum(math.comb(gates, k) * rate**k * (1 - rate) ** (gates - k) for k in drawn) <= 0.01


def test_suites_of_the_sections_are_valid():
    for text in (
        aa.SUITE.format(seed=1),
        gate.SUITE.format(seed=1, variant="seal", samples=10, min_time_s=0.1),
    ):
        assert files.parse(text, "bench").experiments


def test_verdicts_are_read_off_the_table_that_is_printed(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    case = "arithmetic bfv N=4096 modulus chain default {}, size 4096, random, threads 1, matched"
    results = [
        Compared(Result(case.format("mul_plain"), "evaluate"), Estimate(13, 1.1, 1.06, 1.2), "slower"),
        Compared(Result(case.format("mul_plain"), "decrypt"), Estimate(13, 1.0, 0.99, 1.01), "unchanged"),
        Compared(Result(case.format("mul"), "evaluate"), Estimate(13, 1.0, 0.9, 1.1), "undecided"),
    ]
    family = SimpleNamespace(
        failures={}, builds=("a", "b"), power=None, bench=SimpleNamespace(libraries={}, run_ids=["r"])
    )
    output = io.StringIO()
    compare_builds._show(Terminal(file=output, highlight=False), family, results, [], True)
    assert list(gate.claims_of_table(output.getvalue())) == [
        gate.Claim(True, "slower"),
        gate.Claim(False, "undecided"),
        gate.Claim(False, "unchanged"),
    ]
