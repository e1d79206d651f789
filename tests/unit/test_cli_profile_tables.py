"""`ciphermark profile`: the suite that it composes, its tables, and the file for speedscope."""

from __future__ import annotations

import json

import pytest

from ciphermark_benchmark.cli import profile
from ciphermark_benchmark.suite import files
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, Outcome, ParameterSpec, Sample, Trial
from ciphermark_measure.probes import asked
from ciphermark_present import speedscope

STACKS = "evaluate;mul;ntt 6\nevaluate;mul 3\nevaluate;libc 1\n"


def composed(target: str, *variants: str, probes: tuple[str, ...] = ("allocations",)):
    path, text = profile._suite(target, variants, probes, None, 4096)
    return files.parse(text, str(path))


@pytest.mark.parametrize(
    ("target", "kind", "variants"),
    [
        ("mul", "arithmetic", ()),
        ("rotate(3)", "rotation", ("openfhe", "seal")),
        ("lmc-plain", "learning", ()),
    ],
)
def test_an_operation_or_a_workload_becomes_a_suite_with_probes(target, kind, variants) -> None:
    suite = composed(target, *variants)
    (experiment,) = suite.experiments
    assert (experiment.kind, suite.probes) == (kind, ["allocations"])
    assert experiment.variants == ([*variants] or ["seal"])
    assert suite.trial_budget.probes == ("allocations",)


def test_a_suite_keeps_its_experiments_and_gets_the_probes() -> None:
    path, text = profile._suite("quick", (), asked(), None, 4096)
    suite = files.parse(text, str(path))
    assert tuple(suite.probes) == asked()
    assert len(suite.experiments) == len(files.load(path)[0].experiments)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UserError, match="no probe 'joules': there are allocations"):
        profile._probes(["joules"])
    with pytest.raises(UserError, match="cannot read the suite"):
        composed("no-such-thing")


def outcome(variant: str, value: float, **fields: object) -> Outcome:
    case = Case(variant, "arithmetic", "mul", ParameterSpec("ckks", 4096), 2048, "random")
    samples = tuple(Sample("heap_allocations", value + each, "evaluate", ordinal=each) for each in range(3))
    timed = Sample("time", 1.0, "evaluate")
    trial = Trial("id", "run", case, 0, 1, Budget())
    return Outcome(trial, "ok", "2026-01-01T00:00:00+00:00", 1.0, (*samples, timed), **fields)


def test_a_table_has_a_column_for_each_variant_and_the_hottest_functions_follow() -> None:
    outcomes = [outcome("seal", 0.0, stacks={"evaluate": STACKS}), outcome("openfhe", 35.0)]
    values, hottest = profile.tables(outcomes)
    assert [head.text for head in values.heads] == ["per execution", "openfhe", "seal"]
    assert values.rows == (("heap allocations", "36", "1"),)
    assert hottest.rows == (("ntt", "60%"), ("mul", "30%"), ("libc", "10%"))


def test_reasons_are_printed_once() -> None:
    outcomes = [outcome(name, 0.0, unmeasured={"energy": "no powercap"}) for name in ("seal", "openfhe")]
    assert list(profile.unmeasured(outcomes)) == ["Not measured: energy: no powercap"]


def test_speedscope_gets_all_samples() -> None:
    document = json.loads(json.dumps(speedscope.document({"a": STACKS, "b": "rotate;ntt 2\nno stack\n"})))
    names = [frame["name"] for frame in document["shared"]["frames"]]
    first, second = document["profiles"]
    stacks = [[names[frame] for frame in sample] for sample in first["samples"]]
    assert stacks == [["evaluate", "mul", "ntt"], ["evaluate", "mul"], ["evaluate", "libc"]]
    assert (first["weights"], first["endValue"]) == ([6, 3, 1], 10)
    assert ([names[frame] for frame in second["samples"][0]], second["endValue"]) == (["rotate", "ntt"], 2)


def test_shares_are_those_of_the_function_itself() -> None:
    assert speedscope.own_shares(STACKS) == {"ntt": 0.6, "mul": 0.3, "libc": 0.1}
    assert speedscope.own_shares("") == {}
