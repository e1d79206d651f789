"""Journals of earlier versions are read as what they meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ciphermark_core import legacy_format, wire
from ciphermark_core.key_switching import KeySwitching, one_digit_per_prime
from ciphermark_core.model import Accuracy, Sample

HEADER, *LINES = (Path(__file__).parent / "legacy_format/journal.jsonl").read_bytes().splitlines()


def test_a_repetition_that_was_a_chain() -> None:
    outcome = legacy_format.outcome(LINES[0])
    case = outcome.trial.case
    assert (case.experiment, dict(case.dimensions)) == ("repetition", {"repetitions": 3})
    assert case.parameters.ring_dimension_is_minimum
    assert outcome.parameters is not None
    assert outcome.parameters.spec == case.parameters
    assert outcome.parameters.key_switching == one_digit_per_prime(
        outcome.parameters.moduli, outcome.parameters.special_moduli
    )
    assert outcome.samples[1] == Sample("time", 0.25, "evaluate", ordinal=1, repetitions=3)


def test_phases_are_stages_with_parties_and_steps() -> None:
    samples = legacy_format.outcome(LINES[1]).samples
    assert [(item.stage, item.party, item.step) for item in samples] == [
        ("train", None, None),
        ("train", None, "encrypt"),
        ("infer", "server", None),
        ("infer", None, "returned"),
    ]
    assert [item.unit for item in samples] == ["s", "s", "bytes", "bytes"]
    assert [item.phase for item in samples] == ["train", "train.encrypt", "infer.server", "infer.returned"]


def test_a_trial_without_samples() -> None:
    outcome = legacy_format.outcome(LINES[2])
    assert (outcome.status, outcome.error, outcome.samples, outcome.parameters) == (
        "unsupported",
        "no",
        (),
        None,
    )


def test_earlier_words_for_the_host_key_switching_and_forms_of_plaintexts() -> None:
    document = json.loads(LINES[3])
    document["trial"]["case"]["operation"] = "mul_plain_prepared"
    document["facts"] = {"anchor_s": 4e-5, "anchor_kernel": 2.0, "quiet_samples": 2.0}
    document["parameters"]["key_switching"] = {"method": "hybrid", "digits": 2}
    outcome = legacy_format.outcome(json.dumps(document).encode())
    assert outcome.trial.case.operation == "mul_plain_ntt"
    assert outcome.facts == {
        "reference_kernel_s": 4e-5,
        "reference_kernel_version": 2.0,
        "undisturbed_samples": 2.0,
    }
    assert outcome.parameters is not None
    assert outcome.parameters.key_switching == KeySwitching("hybrid", 2)
    assert [sample.slowdown for sample in outcome.samples] == [1.0, 1.0, 1.0, 1.25]


def test_words_that_others_took_the_place_of() -> None:
    outcome = legacy_format.outcome(LINES[3])
    case, budget = outcome.trial.case, outcome.trial.budget
    assert (case.parameters.tuning, case.vector_length, case.data_pattern) == ("recommended", 16, "constant")
    assert dict(case.dimensions) == {"max_repetitions": 64}
    assert (budget.min_samples, budget.max_ci_half_width) == (8, 0.02)
    assert (budget.max_samples, budget.max_time_s) == (24, 0.4)
    assert (outcome.status, outcome.accuracy) == ("budget_exhausted", Accuracy(2.0, 3, 0.0))
    assert [(item.metric, item.stage) for item in outcome.samples] == [
        ("depth", "evaluate"),
        ("is_at_max_repetitions", "evaluate"),
        ("peak_memory", "keygen"),
        ("time", "evaluate"),
    ]
    assert outcome.facts == {"loops_evaluate": 4.0, "half_width_evaluate": 0.01, "is_composite": 1.0}
    assert outcome.parameters is not None
    assert (outcome.parameters.spec, outcome.programs[0].stage) == (case.parameters, "evaluate")


def test_the_step_of_keys_and_the_inputs_of_a_pass() -> None:
    outcome = legacy_format.outcome(LINES[4])
    assert outcome.status == "timeout"
    assert [item.phase for item in outcome.samples] == ["prepare.keygen", "infer.evaluate"]
    assert dict(outcome.trial.case.dimensions) == {"data_set": "boston", "inputs_per_pass": 8}


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_what_is_written_anew_reads_the_same(line: bytes) -> None:
    outcome = legacy_format.outcome(line)
    assert legacy_format.outcome(wire.to_line(outcome)) == outcome


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"trial": 3}', b'{"trial": {"case": []}}', HEADER])
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"outcome|JSON|truncated|Expected"):
        legacy_format.outcome(line)
