"""Adding builds, and the search for the one where a case became slower: what is pure of both."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis import build_search
from ciphermark_analysis.build_search import Rule, rule_for, tail
from ciphermark_benchmark.cli import bisect
from ciphermark_benchmark.cli._builds import differences, suite_text
from ciphermark_benchmark.cli.bisect import Searched
from ciphermark_benchmark.cli.build import Request, require_possible
from ciphermark_benchmark.suite import files
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, LibraryInfo, Outcome, Sample, Trial

HERE = Path("somewhere")
KNOWN = ("seal", "openfhe", "mine")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request("a/b", "seal", HERE), "is not a valid name"),
        (Request("Seal", "seal", HERE), "is not a valid name"),
        (Request("seal@again", "seal", HERE), "is not a valid name"),
        (Request("", "seal", HERE), "is not a valid name"),
        (Request(".adding", "seal", HERE), "is not a valid name"),
        (Request("a" * 49, "seal", HERE), "is not a valid name"),
        (Request("seal", "seal", HERE), "the variant seal already exists"),
        (Request("mine", "seal", HERE), "the variant mine already exists"),
        (
            Request("x", "tenseal", HERE),
            "'tenseal' does not support added builds; libraries: helib, openfhe, seal",
        ),
        (Request("x", "openfhe", HERE), "--prefix does not apply to openfhe; options: --environment"),
        (Request("x", "helib", HERE, flags="-O1"), "--flags does not apply to helib; options: --prefix"),
        (Request("x", "seal", HERE, flags="-O1"), "omit --flags"),
        (Request("x", "seal", HERE, hexl=True), "omit --hexl"),
    ],
)
def test_what_cannot_be_added_is_told(request_: Request, said: str) -> None:
    with pytest.raises(UserError, match=said):
        require_possible(request_, KNOWN)


@pytest.mark.parametrize(
    "request_",
    [
        Request("seal-4.1.1", "seal", HERE),
        Request("x", "seal", compiler="clang++", flags="-O1", hexl=True),
        Request("x", "seal"),
        Request("x", "openfhe", environment=HERE),
        Request("x", "helib", HERE),
    ],
)
def test_what_can_be_added(request_: Request) -> None:
    require_possible(request_, KNOWN)
    assert all(value is None or not isinstance(value, Path) for value in request_.as_dict().values())


# The rule


@pytest.mark.parametrize(("n", "k"), [(1, 0), (1, 1), (8, 8), (11, 10), (30, 17)])
def test_the_tail_of_a_fair_coin(n: int, k: int) -> None:
    counted = sum(bin(throw).count("1") >= k for throw in range(2**n)) / 2**n if n < 12 else None
    assert counted is None or tail(n, k) == counted
    assert tail(n, k) == pytest.approx(1 - tail(n, n - k + 1)) or k == 0


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=40), st.floats(0.001, 0.2))
def test_a_side_is_claimed_at_its_level_only(ratios: list[float], level: float) -> None:
    side = Rule(level).side(ratios, 1.0)
    above, below = sum(r > 1 for r in ratios), sum(r < 1 for r in ratios)
    assert (side == "above") == (above > 0 and tail(len(ratios), above) <= level)
    assert side != "below" or tail(len(ratios), below) <= level


def test_a_look_lets_one_pair_dissent() -> None:
    rule = rule_for(5, 0.05)
    n = rule.processes
    assert rule.side([1.2] * (n - 1) + [0.9], 1.0) == "above"
    assert Rule(rule.level).side([1.2] * (n // 2) + [0.9] * (n // 2), 1.0) is None
    assert rule.level * (math.ceil(math.log2(4)) + 2) * build_search.LOOKS == pytest.approx(0.05)


# The search, over builds whose true times are known; a pair of processes differs by chance of its own.


class Simulated:
    """Measures builds of known times; ratios are spread by a factor, log-normally."""

    def __init__(self, times: Mapping[str, float], spread: float, seed: int) -> None:
        self.times, self.spread, self.chance = times, spread, random.Random(seed)
        self.looks: list[Sequence[str]] = []

    def __call__(self, builds: Sequence[str], processes: int) -> dict[str, list[float]]:
        self.looks.append(builds)
        first, *others = builds
        return {
            name: [
                self.times[name] / self.times[first] * math.exp(self.chance.gauss(0, self.spread))
                for _ in range(processes)
            ]
            for name in others
        }


def builds_of(*times: float) -> dict[str, float]:
    return {f"b{index}": time for index, time in enumerate(times)}


@pytest.mark.parametrize("step", range(1, 9))
@pytest.mark.parametrize("factor", [1.5, 1.2])
def test_the_step_is_found_in_few_looks(step: int, factor: float) -> None:
    """By chance it fails as often as a pair is off by more than 9 % at a spread of 1 %: never (beyond 8 sigma)."""
    times = builds_of(*([1.0] * step), *([factor] * (9 - step)))
    measure = Simulated(times, 0.01, step)
    found = build_search.search(list(times), measure)
    assert (found.verdict, found.before, found.after) == ("step", f"b{step - 1}", f"b{step}")
    assert found.step is not None
    assert found.step.median == pytest.approx(factor, rel=0.05)
    assert found.rest is None
    assert len(measure.looks) <= 1 + 3 + 1


def test_two_builds_are_compared_once() -> None:
    measure = Simulated(builds_of(1, 1.3), 0.01, 1)
    found = build_search.search(["b0", "b1"], measure)
    assert (found.verdict, found.before, found.after, len(measure.looks)) == ("step", "b0", "b1", 1)


@pytest.mark.parametrize("times", [(1, 1, 1, 1), (1, 0.8, 0.7, 0.7), (1, 1, 1.03, 1.03), (1, 2, 2, 1)])
def test_nothing_is_claimed_where_the_ends_do_not_differ(times: tuple[float, ...]) -> None:
    measure = Simulated(builds_of(*times), 0.004, 3)  # 1.03 is 4.8 sigma below the threshold of 1.05
    assert build_search.search(list(builds_of(*times)), measure).verdict == "no step"


def test_a_build_in_between_that_is_neither_is_reported() -> None:
    times = builds_of(1, 1, math.sqrt(1.5), 1.5, 1.5)
    found = build_search.search(list(times), Simulated(times, 0.02, 4))
    assert (found.verdict, found.before, found.after) == ("several steps", "b0", "b4")


def test_what_a_step_does_not_explain_is_told() -> None:
    times = builds_of(1, 1.1, 1.1, 1.8, 1.8)
    found = build_search.search(list(times), Simulated(times, 0.005, 5))
    assert (found.verdict, found.before, found.after) == ("step", "b2", "b3")
    assert found.rest == pytest.approx(1.1, rel=0.02)


def test_claims_err_no_more_than_stated() -> None:
    """Builds that are all at the threshold: every claim is an error, and the search makes the most tests that it can.

    Each of 2,000 searches errs with a probability of at most 0.05 / 5 (of the ends: two looks of ten tests at most).
    More than 60 of them do so with a probability below 1e-9 (binomial, p = 0.01: mean 20, 60 is 9 sigma away).
    """
    times = builds_of(1, *[1.05] * 8)
    verdicts = [
        build_search.search(list(times), Simulated(times, 0.03, seed)).verdict for seed in range(2000)
    ]
    assert sum(verdict != "no step" for verdict in verdicts) <= 60


# The case, and what two builds say differently


SUITE = """
name: some
experiments:
  - {kind: arithmetic, variants: [cleartext], schemes: [bfv], ring_dimension: [1024, 2048], operations: [add, mul]}
"""


def searchable_here(suite: str = SUITE) -> list[Searched]:
    from ciphermark_measure import probes

    builds = ["cleartext", "cleartext@b"]
    return bisect.searchable(files.parse(suite, "some.yaml"), suite, builds, probes.host_facts())


def test_a_search_is_for_one_case() -> None:
    found = searchable_here()
    assert len(found) == 4
    with pytest.raises(UserError, match="several cases") as error:
        bisect.chosen(found, "add")
    assert "N=1024" in str(error.value)
    with pytest.raises(UserError, match="no case with 'rotate'"):
        bisect.chosen(found, "rotate")
    with pytest.raises(UserError, match="no operation that all of these builds support"):
        bisect.chosen([], None)
    subject = bisect.chosen(found, "N=2048 modulus chain default add").subject
    text = suite_text("made", files.plain(SUITE, "some.yaml"), [subject], 7)
    suite = files.parse(text, "made.json")
    assert suite.budget.processes == 7
    from ciphermark_benchmark.runner import runs
    from ciphermark_benchmark.suite import plan
    from ciphermark_measure import probes

    cases = plan.cases(suite, runs.available(suite, probes.host_facts()))
    assert {item.case.comparison_group for item in cases} == {subject.case.comparison_group}
    assert {item.case.variant for item in cases} == {"cleartext", "cleartext@b"}


UNTIMED = """
name: some
experiments:
  - {kind: depth, variants: [cleartext], schemes: [bfv], ring_dimension: [1024], operations: [add]}
  - {kind: noise, variants: [cleartext], schemes: [bfv], ring_dimension: [1024], operations: [add]}
"""
WRITTEN = """
name: some
experiments:
  - {kind: serialization, variants: [cleartext], schemes: [bfv], ring_dimension: [1024], operations: [none]}
"""


def test_what_is_no_time_is_not_searched() -> None:
    assert searchable_here(UNTIMED) == []
    with pytest.raises(UserError, match="not depth, noise"):
        bisect.chosen(searchable_here(UNTIMED), "depth")
    both = searchable_here(UNTIMED + WRITTEN.partition("experiments:\n")[2])
    assert [item.stage for item in both] == ["dump", "load"]
    assert bisect.chosen(both, ", load").stage == "load"


def test_ratios_are_of_one_stage() -> None:
    case = searchable_here()[0].subject.case
    outcomes = [_outcome(replace(case, variant=name), 0, [(1.0, False), (1.0, False)]) for name in ("a", "b")]
    assert build_search.ratios(outcomes, ["a", "b"], "encrypt") == {"b": [1.0]}
    assert build_search.ratios(outcomes, ["a", "b"], "load") == {"b": []}


def test_what_two_builds_say_differently() -> None:
    a = LibraryInfo("SEAL", "a", "4.1.1", False, {"flags": "-O3", "hexl": "off", "old": "x"})
    b = LibraryInfo("SEAL", "b", "4.1.2", False, {"flags": "-O1", "hexl": "off"})
    assert differences(a, b) == [
        ("version", "4.1.1", "4.1.2"),
        ("flags", "-O3", "-O1"),
        ("old", "x", "not reported"),
    ]


def test_ratios_are_of_rounds_that_count_in_both() -> None:
    case = searchable_here()[0].subject.case
    outcomes = [
        _outcome(replace(case, variant="a"), 0, [(1.0, False), (2.0, False), (9.0, True)]),
        _outcome(replace(case, variant="b"), 0, [(2.0, False), (2.0, False), (1.0, False)]),
        _outcome(replace(case, variant="a"), 1, [(1.0, True)]),
        _outcome(replace(case, variant="b"), 1, [(3.0, False)]),
    ]
    assert build_search.ratios(outcomes, ["a", "b"], "evaluate") == {
        "b": [1.5, 3.0]
    }  # all of process 1, which has no round that counts


def test_ratios_are_of_corrected_times() -> None:
    case = searchable_here()[0].subject.case
    outcomes = [
        _outcome(replace(case, variant="a"), 0, [(1.0, False), (1.5, False)], [1.0, 1.5]),
        _outcome(replace(case, variant="b"), 0, [(2.8, False), (2.0, False)], [1.4, 1.0]),
    ]
    assert build_search.ratios(outcomes, ["a", "b"], "evaluate") == {"b": [2.0]}


def _outcome(
    case: Case, process: int, times: Sequence[tuple[float, bool]], slowdowns: Sequence[float] = (1.0,) * 3
) -> Outcome:
    trial = Trial(f"{case.variant}{process}", "run", case, process, 1, Budget())
    samples = [
        Sample("time", value, "evaluate", ordinal=n, is_disturbed=is_disturbed, slowdown=slowdowns[n])
        for n, (value, is_disturbed) in enumerate(times)
    ]
    warm_up = Sample("time", 100.0, "evaluate", ordinal=0, is_warmup=True)
    return Outcome(trial, "ok", "", 0.0, (warm_up, *samples, Sample("time", 50.0, "encrypt")))
