"""Every way in which a library can misbehave costs the trial that it spoils, and nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache

import pytest
from command import TINY, Ciphermark

# What hangs is given this long; all others have to be done by then, on a host that may stop for a while.
TIMEOUT_S = 60
# Deed -> status of mul, and what its error text must say. None: no error.
IN_MUL = {
    "good": ("ok", None),
    "debug": ("ok", None),
    "babbles": ("ok", None),
    "throws": ("crashed", ["RuntimeError: scale out of bounds (in mul)"]),
    "segfaults": ("crashed", ["the worker died of SIGSEGV"]),
    "segfaults-with-threads": ("crashed", ["the worker died of SIGSEGV"]),
    "aborts": ("crashed", ["the worker died of SIGABRT"]),
    "hangs": ("timeout", [f"took longer than the {TIMEOUT_S} s that budget.timeout_s allows"]),
    "eats-memory": ("out_of_memory", ["the memory limit was reached"]),
    "gives-up": ("out_of_memory", ["ran out of memory (SIGABRT; 400 MB allowed", "std::bad_alloc"]),
    "exits": ("crashed", ["the worker died of exit code 0"]),
    "exits-politely": ("crashed", ["the worker died of exit code 3"]),
    "scribbles": ("crashed", ["the worker answers nonsense", "}{ garbage"]),
    "wrong": (
        "incorrect",
        [
            "1 of 1024 slots differ from cleartext",
            "largest error 1",
            "a longer modulus chain gives the same incorrect result",
        ],
    ),
    "runs-dry": ("budget_exhausted", ["a longer modulus chain gives the correct result"]),
    "wrong-later": ("incorrect", ["evaluate: the result of the last sample is wrong in 1 slots"]),
    "short": ("incorrect", ["1024 of 1024 slots differ"]),
    "not-a-number": ("incorrect", ["1024 of 1024 slots differ"]),
    "caches": ("incorrect", ["results look cached", "times as long as"]),
    "slow-clock": ("incorrect", ["evaluate: the loop reports 0.", "times the time that passed around it"]),
    "coarse-clock": ("incorrect", ["evaluate: the loop reports 0 times the time that passed around it"]),
}
# Deed -> status of every operation.
EVERYWHERE = {
    "no-keys": ("crashed", ["RuntimeError: no entropy for keys (in key_owner)"]),
    "dies-making-keys": ("crashed", ["the worker died of SIGSEGV"]),
    "no-import": ("crashed", ["ImportError: libplanted.so.1: cannot open shared object file"]),
    "missing": (
        "unsupported",
        ["module a_module_that_nobody_has is not installed; pip install a-module-that"],
    ),
    "elsewhere": ("unsupported", ["this CPU lacks a_flag_that_no_cpu_has; use a host whose CPU has it"]),
}
OPERATIONS = ("mul", "sub")  # in this order: what follows the deed must be as if nothing had been
# In `make test` one deed of each kind. What results and clocks are judged by has tables of its own in tests/unit
# (test_measure_checking, test_measure_caching, test_measure_clock); other signals and codes end a worker the same way.
LONGER = {
    *("good", "segfaults-with-threads", "aborts", "gives-up", "exits", "exits-politely", "runs-dry", "short"),
    *("not-a-number", "wrong-later", "caches", "slow-clock", "coarse-clock", "no-keys", "dies-making-keys"),
}


def deeds(table):
    """The deeds of a table as parameters; most have the mark of `make test-all`."""
    return [pytest.param(deed, marks=[pytest.mark.extended] * (deed in LONGER)) for deed in table]


class Misbehaved:
    """A run of these deeds side by side: what was printed, and its outcomes by variant and operation."""

    def __init__(self, ciphermark, chosen):
        variants = [f"planted-{deed}" for deed in chosen]
        suite = ciphermark.suite(
            TINY | {"variants": variants, "operations": OPERATIONS}, timeout_s=TIMEOUT_S, memory_mb=400
        )
        self.ciphermark = ciphermark
        self.done = ciphermark(
            "run", str(suite), "--json", str(ciphermark.data_directory / "outcomes.jsonl"), code=1
        )
        lines = (ciphermark.data_directory / "outcomes.jsonl").read_text().splitlines()
        self.outcomes = {}
        for outcome in map(json.loads, lines):
            case = outcome["trial"]["case"]
            assert (case["variant"], case["operation"]) not in self.outcomes
            self.outcomes[case["variant"], case["operation"]] = outcome
        assert set(self.outcomes) == {(name, operation) for name in variants for operation in OPERATIONS}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, new_url):
    """Makes the run of all deeds of `make test`, or of those that only `make test-all` asks for."""

    @cache
    def made(is_longer):
        ciphermark = Ciphermark(tmp_path_factory.mktemp("misbehaviour") / "data", new_url())
        return Misbehaved(
            ciphermark, [deed for deed in (*IN_MUL, *EVERYWHERE) if (deed in LONGER) == is_longer]
        )

    return made


@pytest.fixture(scope="module")
def outcome_of(runs):
    """The outcome of a deed by operation."""
    return lambda deed, operation: runs(deed in LONGER).outcomes[f"planted-{deed}", operation]


@pytest.fixture(scope="module")
def misbehaved(runs):
    return runs(False)


@pytest.mark.parametrize("deed", deeds(IN_MUL))
def test_a_deed_costs_its_own_trial(outcome_of, deed):
    status, words = IN_MUL[deed]
    outcome = outcome_of(deed, "mul")
    assert outcome["status"] == status, outcome["error"]
    if words is None:
        assert outcome["error"] is None
    else:
        for word in words:
            assert word in outcome["error"]


@pytest.mark.parametrize("deed", deeds(IN_MUL))
def test_a_deed_costs_no_other_trial(outcome_of, deed):
    """Not even one that is executed after it."""
    outcome = outcome_of(deed, "sub")
    assert (outcome["status"], outcome["error"]) == ("ok", None)
    assert outcome["started_at"] >= outcome_of(deed, "mul")["started_at"]
    taken = [item for item in outcome["samples"] if item["metric"] == "time" and not item["is_warmup"]]
    stages = Counter(item["stage"] for item in taken)
    assert stages["evaluate"] >= 3


@pytest.mark.parametrize("deed", deeds(EVERYWHERE))
def test_a_variant_that_cannot_begin_has_an_outcome_for_every_case(outcome_of, deed):
    status, words = EVERYWHERE[deed]
    for operation in OPERATIONS:
        outcome = outcome_of(deed, operation)
        assert outcome["status"] == status
        for word in words:
            assert word in outcome["error"]
        assert outcome["samples"] == []


@pytest.mark.parametrize("deed", deeds(["wrong-later", "caches", "slow-clock"]))
def test_a_wrong_result_keeps_its_samples_where_it_was_found_late(outcome_of, deed):
    """They are stored, and shown nowhere: what was wrong from the start was never timed."""
    assert all(item["metric"] != "time" for item in outcome_of("wrong", "mul")["samples"])
    assert any(item["metric"] == "time" for item in outcome_of(deed, "mul")["samples"])


def test_the_database_has_every_outcome_with_its_reason(misbehaved):
    rows = misbehaved.ciphermark.rows(
        "select c.variant, c.operation, t.status, t.error from trial t join case_info c using (case_info_id)"
    )
    assert {(row["variant"], row["operation"]): (row["status"], row["error"]) for row in rows} == {
        place: (outcome["status"], outcome["error"]) for place, outcome in misbehaved.outcomes.items()
    }
    assert len(rows) == len(misbehaved.outcomes)


def test_no_figure_of_a_failed_trial_is_shown(misbehaved):
    rows = misbehaved.ciphermark.rows(
        "select variant, operation, status, median from results where median is not null and status <> 'ok'"
    )
    assert rows == []
    ranked = misbehaved.ciphermark.rows("select distinct variant from ranking where operation = 'mul'")
    assert {row["variant"] for row in ranked} == {"planted-debug", "planted-babbles"}


def test_the_run_ends_well_and_tells_what_failed(misbehaved):
    done = misbehaved.done
    counts = Counter(outcome["status"] for outcome in misbehaved.outcomes.values())
    _, _, told = " ".join(done.out.split()).partition("Outcomes: ")  # which may take two lines
    for status, count in counts.items():
        assert f"{count} {status}" in told
    assert "planted-throws, mul: RuntimeError" in told
    # For the same reason in all operations, which are named together.
    assert re.search(r"planted-missing, mul[^:]*: module a_module", told)
    assert "planted-debug is a debug build: its times are not meaningful" in done.out
    assert all("/" in line.partition(":")[0] for line in done.err.splitlines())  # one per comparison


def test_what_a_library_prints_does_not_reach_the_user(misbehaved):
    assert "garbage" not in misbehaved.done.err
    assert "from C" not in misbehaved.done.out + misbehaved.done.err


def test_deeds_in_other_experiments(ciphermark):
    ckks = {"kind": "arithmetic", "schemes": ["ckks"], "ring_dimension": [4096], "operations": ["mul"]}
    depth = {"kind": "depth", "schemes": ["bfv"], "ring_dimension": [4096], "operations": ["mul"]}
    depth |= {"vector_length": [16], "max_repetitions": 4}
    repetition = depth | {"kind": "repetition", "repetitions": [3]}
    del repetition["max_repetitions"]
    short = {"modulus_bits": [30], "variants": ["planted-wrong", "planted-runs-dry"]}
    suite = ciphermark.suite(
        ckks | {"variants": ["planted-wrong"]},
        depth | {"variants": ["planted-throws", "planted-good"]},
        depth | short,
        repetition | short,
        repetition | {"modulus_bits": [30], "repetitions": [1], "variants": ["planted-caches"]},
        depth | {"kind": "noise", "variants": ["planted-segfaults"]},
    )
    ciphermark("run", str(suite), code=1)
    found = {}
    for outcome in ciphermark.outcomes():
        case = outcome["trial"]["case"]
        found[case["experiment"], case["variant"].removeprefix("planted-")] = (
            outcome["status"],
            outcome["error"],
        )
    assert "1 of 2048 slots differ from cleartext" in found["arithmetic", "wrong"][1]
    assert found["depth", "good"] == ("ok", None)
    assert found["depth", "throws"] == ("crashed", "RuntimeError: scale out of bounds (in mul)")
    # a library that errs is wrong, whatever the experiment; one that ran out of noise budget is not
    for kind in ("depth", "repetition"):
        assert found[kind, "wrong"][0] == "incorrect"
        assert "a longer modulus chain gives the same incorrect result" in found[kind, "wrong"][1]
        assert found[kind, "runs-dry"][0] == "budget_exhausted"
    assert found["repetition", "caches"][0] == "incorrect"
    assert "results look cached" in found["repetition", "caches"][1]
    # cleartext has no noise to tell of, and that is found out before the first operation
    assert found["noise", "segfaults"] == ("unsupported", "Planted reports no noise budget in bfv")
