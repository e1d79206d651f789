"""Journals of earlier versions are read as what they meant."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ciphermark_core import legacy_format, wire
from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.model import Sample

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
    assert outcome.samples[1] == Sample("time", 0.25, "operation", ordinal=1, repetitions=3)


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
    first = legacy_format.outcome(LINES[0])
    case = replace(first.trial.case, operation="mul_plain_ntt")
    facts = {"reference_kernel_s": 4e-5, "reference_kernel_version": 2.0, "undisturbed_samples": 2.0}
    now = replace(first, trial=replace(first.trial, case=case), facts=facts)
    document = json.loads(wire.to_line(now))
    document["trial"]["case"]["operation"] = "mul_plain_prepared"
    document["facts"] = {"anchor_s": 4e-5, "anchor_kernel": 2.0, "quiet_samples": 2.0}
    switching = document["parameters"]["key_switching"]
    switching["digits"] = switching.pop("decomposition_digits")
    for sample in document["samples"]:
        sample["slow_down"] = sample.pop("slowdown")
    assert legacy_format.outcome(json.dumps(document).encode()) == now


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_what_is_written_anew_reads_the_same(line: bytes) -> None:
    outcome = legacy_format.outcome(line)
    assert legacy_format.outcome(wire.to_line(outcome)) == outcome


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"trial": 3}', b'{"trial": {"case": []}}', HEADER])
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"outcome|JSON|truncated|Expected"):
        legacy_format.outcome(line)
