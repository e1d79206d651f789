"""Two builds compared over a suite: the rule, its error and power over simulated builds, and what a suite measures."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis import build_comparison, build_search
from ciphermark_analysis.build_comparison import Compared, rule_for_family
from ciphermark_analysis.build_search import Rule, tail
from ciphermark_analysis.estimates import Estimate
from ciphermark_benchmark.cli import compare_builds
from ciphermark_benchmark.cli._builds import Bench, label
from ciphermark_benchmark.cli.compare_builds import Result, _exit_code, _Family, _is_regression
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.suite import files, plan
from ciphermark_core.budget import Budget
from ciphermark_core.model import Outcome, Sample, Trial
from ciphermark_measure import probes


class Simulated:
    """Measures results of known ratios; pairs of processes are spread by a factor, log-normally. Tests have fixed
    seeds: none of them fails by chance.
    """

    def __init__(self, ratios: Mapping[str, float], spread: float, seed: int) -> None:
        self.ratios, self.spread, self.chance = ratios, spread, random.Random(seed)
        self.looks: list[Collection[str] | None] = []

    def __call__(self, names: Collection[str] | None, processes: int) -> dict[str, list[float]]:
        self.looks.append(names)
        return {
            name: [ratio * math.exp(self.chance.gauss(0, self.spread)) for _ in range(processes)]
            for name, ratio in self.ratios.items()
            if names is None or name in names
        }


def compared(measure: Simulated, error: float = 0.05) -> dict[str, str]:
    processes = rule_for_family(len(measure.ratios), error).processes
    return {item.name: item.verdict for item in build_comparison.compare(measure, processes, error)}


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=40), st.floats(0.001, 0.2), st.floats(0.5, 2))
def test_the_interval_holds_what_the_sign_test_does_not_exclude(
    ratios: list[float], level: float, threshold: float
) -> None:
    interval = Rule(level).interval(ratios)
    if interval.low is not None and interval.high is not None:
        above = sum(ratio > threshold for ratio in ratios)
        assert (interval.low > threshold) == (tail(len(ratios), above) <= level)
        assert interval.low <= interval.median <= interval.high
    else:
        assert tail(len(ratios), len(ratios)) > level


@pytest.mark.parametrize("factor", [1.25, 1.15])
def test_a_planted_slowdown_is_found_among_results_that_did_not_change(factor: float) -> None:
    """Pairs are spread by 2%: 1.15 lies 4.5 deviations beyond the threshold, and 1 lies 2.4 deviations within it."""
    measure = Simulated({**{f"r{n}": 1.0 for n in range(40)}, "planted": factor}, 0.02, 7)
    verdicts = compared(measure)
    assert verdicts.pop("planted") == "slower"
    assert set(verdicts.values()) <= {"unchanged", "undecided"}


def test_undecided_results_alone_are_measured_once_more() -> None:
    measure = Simulated({"same": 1.0, "slow": 1.5, "between": 1.05}, 0.01, 1)
    verdicts = compared(measure)
    assert verdicts == {"same": "unchanged", "slow": "slower", "between": "undecided"}
    assert measure.looks == [None, ["between"]]


@pytest.mark.parametrize(("results", "processes"), [(4, 13), (40, 16)])
def test_the_error_is_divided_by_results_directions_and_looks(results: int, processes: int) -> None:
    rule = rule_for_family(results, 0.05)
    assert rule.level == pytest.approx(0.05 / (results * 2 * 2))
    assert rule.processes == processes  # as docs/how-to/ci-gate.md states


def test_claims_of_a_family_err_no_more_than_stated() -> None:
    """Twenty results exactly at the threshold: each claim but *undecided* is an error.

    The probability of one in a comparison is 0.05 at most; of 400 comparisons more than 46 have one with a probability
    below 1e-6 (binomial, mean 20).
    """
    ratios = {f"r{n}": 1.05 if n % 2 else 1 / 1.05 for n in range(20)}
    wrong = sum(set(compared(Simulated(ratios, 0.03, seed)).values()) != {"undecided"} for seed in range(400))
    assert wrong <= 46


SUITE = """
name: some
budget: {min_samples: 5}
experiments:
  - {kind: arithmetic, variants: [seal], schemes: [bfv], ring_dimension: [1024], operations: [add, mul]}
  - {kind: depth, variants: [seal], schemes: [bfv], ring_dimension: [1024], operations: [add]}
  - {kind: serialization, variants: [seal], schemes: [bfv], ring_dimension: [2048], operations: [none]}
  - {kind: micro, variants: [seal], workloads: [matrix-product]}
"""
BUILDS = ("cleartext", "cleartext@b")


def family() -> _Family:
    able, _ = compare_builds.timed(files.parse(SUITE, "some.yaml"), SUITE, BUILDS, probes.host_facts())
    bench = Bench(SimpleNamespace(), SimpleNamespace(), lambda _: None)  # type: ignore[arg-type]
    return _Family(bench, able, files.plain(SUITE, "some.yaml"), BUILDS, Budget())


def cases_of(text: str) -> dict[str, list[str]]:
    suite = files.parse(text, "made.json")
    cases: dict[str, list[str]] = {}
    for item in plan.cases(suite, runs.available(suite, probes.host_facts())):
        cases.setdefault(label(item.case), []).append(item.case.variant)
    return cases


def test_every_timed_case_of_a_suite_is_measured_with_both_builds_and_nothing_else() -> None:
    whole = family()
    text = whole.text(None, 7)
    assert set(cases_of(text)) == {label(subject.case) for subject in whole.able}
    assert all(variants == list(BUILDS) for variants in cases_of(text).values())
    measured = {subject.case.experiment for subject in whole.able}
    assert measured == {"arithmetic", "serialization", "micro"}
    assert files.parse(text, "made.json").budget.processes == 7
    assert files.parse(text, "made.json").budget.min_samples == 5


def test_another_look_measures_what_is_undecided() -> None:
    whole = family()
    product = next(label(s.case) for s in whole.able if s.case.operation == "mul")
    assert list(cases_of(whole.text([Result(product, "evaluate")], 3))) == [product]
    shared = compare_builds.result_of(whole.able[0].case, Sample("time", 1.0, "encrypt"))
    assert shared is not None
    assert list(cases_of(whole.text([shared], 3))) == [label(whole.able[0].case)]  # one case tells it


def test_results_are_of_cases_or_of_what_they_share() -> None:
    add, mul = (s.case for s in family().able[:2])
    assert compare_builds.result_of(add, Sample("time", 1.0, "evaluate")) == Result(label(add), "evaluate")
    assert compare_builds.result_of(add, Sample("time", 1.0, "decrypt")) == compare_builds.result_of(
        mul, Sample("time", 1.0, "decrypt")
    )
    assert compare_builds.result_of(add, Sample("time", 1.0, "compute", party="server")) is None


def outcome(case, variant: str, status: str) -> Outcome:
    trial = Trial(f"{variant}{status}", "run", replace(case, variant=variant), 0, 1, Budget())
    return Outcome(trial, status, "", 0.0, error="lost")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("base", "head", "code"),
    [
        ("ok", "ok", 2),
        ("ok", "crashed", 1),
        ("ok", "incorrect", 1),
        ("crashed", "crashed", 2),
        ("crashed", "ok", 2),
    ],
)
def test_a_case_that_fails_with_the_head_alone_is_a_regression(base: str, head: str, code: int) -> None:
    whole = family()
    outcomes = [outcome(whole.able[0].case, BUILDS[0], base), outcome(whole.able[0].case, BUILDS[1], head)]
    whole.failures |= {(f.case, f.variant): f for f in compare_builds.failures(outcomes)}
    assert _exit_code([], whole) == code
    assert any(_is_regression(whole, item) for item in whole.failures.values()) == (code == 1)


def results(*verdicts: str, high: float | None = 1.12) -> list[Compared[Result]]:
    """Head by base, with an interval from 0.9 to ``high``, or none."""
    ratio = Estimate(20, 1.0, None if high is None else 0.9, high)
    return [Compared(Result("case", "operation"), ratio, verdict) for verdict in verdicts]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [(["unchanged", "faster"], 0), (["undecided", "slower"], 1), ([], 2), (["undecided", "unchanged"], 3)],
)
def test_exit_codes(verdicts: list[str], code: int) -> None:
    assert _exit_code(results(*verdicts), family()) == code


@pytest.mark.parametrize(
    ("items", "power", "code"),
    [
        (results("undecided"), 1.13, 0),
        (results("undecided"), 1.11, 3),
        (results("undecided", high=None), 1.5, 3),
        (results("undecided", "slower"), 1.5, 1),
    ],
)
def test_an_undecided_result_is_accepted_that_rules_out_the_required_slowdown(
    items: list[Compared[Result]], power: float, code: int
) -> None:
    assert _exit_code(items, replace(family(), power=power)) == code


@pytest.mark.parametrize(("is_uncorrected", "ratio"), [(False, 1.0), (True, 1.5)])
def test_ratios_are_of_corrected_times_unless_asked_otherwise(is_uncorrected: bool, ratio: float) -> None:
    """The head took 1.5 times as long, beside a reference kernel that did; a disturbed round took 9 times as long."""
    case = family().able[0].case

    def taken(variant: str, times: list[float], slowdown: float) -> Outcome:
        samples = tuple(
            Sample("time", value, "evaluate", ordinal=place, slowdown=slowdown, is_disturbed=value > 5)
            for place, value in enumerate(times)
        )
        return replace(outcome(case, variant, "ok"), samples=samples)

    outcomes = [taken(BUILDS[0], [1.0] * 3, 1.0), taken(BUILDS[1], [1.5, 1.5, 9.0], 1.5)]
    named = build_search.named_ratios(
        outcomes, *BUILDS, compare_builds.result_of, is_uncorrected=is_uncorrected
    )
    assert named == {Result(label(case), "evaluate"): [pytest.approx(ratio)]}
    assert build_search.named_ratios(
        outcomes[::-1], *BUILDS[::-1], compare_builds.result_of, is_uncorrected=is_uncorrected
    ) == {Result(label(case), "evaluate"): [pytest.approx(1 / ratio)]}
