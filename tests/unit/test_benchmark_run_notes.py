from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_benchmark import run_notes
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, LibraryInfo, Outcome, Parameters, ParameterSpec, Trial
from ciphermark_core.run import Host, Run

HOST = Host("f", "h", "c", (), {}, 1, 1, "os", "k", None, None, None, None, None, 1, 0.0, 0.0)
RUN = Run("run", "mine", "", 1, "2026-01-01T00:00:00+00:00", HOST, "0")
SEAL = LibraryInfo("SEAL", "seal", "4.1.2", False, {})


def outcome(status="ok", error=None, operation="add", variant="seal", **changes):
    case = Case(variant, "arithmetic", operation, ParameterSpec("bfv", 4096), 4096, "random")
    trial = Trial("id", "run", case, 0, 1, Budget())
    return Outcome(trial, status, "2026-01-01T00:00:00+00:00", 1.0, error=error, **changes)


def test_reasons_are_told_once_with_their_count_most_frequent_first():
    outcomes = [
        outcome(),
        outcome("crashed", "SIGSEGV", operation="mul"),
        outcome("unsupported", "no rotation", variant="tenseal"),
        outcome("unsupported", "no rotation", variant="tenseal"),
    ]
    assert run_notes.reasons(outcomes) == [
        ("unsupported: tenseal, add: no rotation", 2),
        ("crashed: seal, mul: SIGSEGV", 1),
    ]


def test_a_reason_of_several_operations_is_told_once():
    outcomes = [
        outcome("unsupported", "no AVX-512", operation=name)
        for name in ("add", "mul", "add", "square", "negate")
    ]
    assert run_notes.reasons(outcomes) == [("unsupported: seal, add, mul, square and 1 more: no AVX-512", 5)]


def of_depth(status):
    case = replace(outcome().trial.case, experiment="depth")
    return replace(outcome(status), trial=replace(outcome().trial, case=case))


def at_level(level, status="budget_exhausted"):
    trial = replace(outcome().trial, case=replace(outcome().trial.case, dimensions={"level": level}))
    return replace(outcome(status), trial=trial)


@pytest.mark.parametrize(
    ("outcomes", "conclusion"),
    [
        ([outcome()], "as planned"),
        ([outcome(), outcome("unsupported")], "as planned"),
        ([of_depth("budget_exhausted"), of_depth("ok")], "as planned"),
        ([at_level(0)], "as planned"),
        ([at_level(1)], "failures"),
        ([at_level(0, "incorrect")], "failures"),
        *(
            ([outcome(), outcome(status)], "failures")
            for status in ("incorrect", "crashed", "out_of_memory", "timeout", "budget_exhausted")
        ),
        ([outcome("crashed")], "failures"),
        ([outcome("unsupported"), outcome("unsupported")], "nothing executed"),
        ([outcome("cancelled")], "nothing executed"),
        ([], "nothing executed"),
    ],
)
def test_a_run_comes_to_what_its_worst_trial_does(outcomes, conclusion):
    assert run_notes.conclusion(outcomes) == conclusion


def test_a_good_run_has_no_reasons_and_no_caveats():
    assert run_notes.reasons([outcome(library=SEAL)]) == []
    assert run_notes.caveats(RUN, [outcome(library=SEAL)]) == []


def test_what_the_host_warns_of_is_a_caveat():
    run = replace(RUN, host=replace(HOST, warnings=("turbo is on",)))
    assert run_notes.caveats(run, []) == ["turbo is on"]


def test_more_threads_than_cores_are_a_caveat():
    crowded = outcome()
    case = replace(crowded.trial.case, threads=3)
    crowded = replace(crowded, trial=replace(crowded.trial, case=case))
    (caveat,) = run_notes.caveats(RUN, [outcome(), crowded])
    assert caveat.startswith("3 threads on 1 core: ")
    assert "request at most 1" in caveat


@pytest.mark.parametrize(("is_elsewhere", "count"), [(0.0, 0), (1.0, 1)])
def test_parties_on_another_machine_are_a_caveat(is_elsewhere, count):
    found = run_notes.caveats(RUN, [outcome(facts={"is_elsewhere": is_elsewhere})])
    assert len([text for text in found if "on another machine than the worker" in text]) == count


def test_a_debug_build_is_a_caveat_told_once():
    debug = replace(SEAL, is_debug=True)
    assert run_notes.caveats(RUN, [outcome(library=debug), outcome(library=debug)]) == [
        "seal is a debug build: its times are not meaningful"
    ]


@pytest.mark.parametrize(
    ("scheme", "ring_dimension", "prime", "is_told"),
    [
        ("ckks", 8192, (1 << 25) + 1, True),
        ("ckks", 4096, (1 << 25) + 1, False),
        ("ckks", 8192, (1 << 30) + 1, False),
        ("bfv", 8192, (1 << 25) + 1, False),
    ],
)
def test_small_primes_are_a_caveat(scheme, ring_dimension, prime, is_told):
    spec = ParameterSpec(scheme, ring_dimension)
    scale = 2.0**25 if scheme == "ckks" else None
    made = Parameters(spec, ring_dimension, (1 << 59, prime), (1 << 59,), spec.slots, scale=scale)
    found = run_notes.caveats(RUN, [outcome(parameters=made)])
    assert any("primes under 30 bits" in item for item in found) is is_told


def measured(variant, operation, metric="time", status="ok", experiment="arithmetic"):
    names = ("variant", "operation", "metric", "status", "experiment")
    return dict(zip(names, (variant, operation, metric, status, experiment), strict=True))


def notes(rows):
    return [str(note) for note in run_notes.notes(rows)]


def test_a_note_is_needed_where_its_subject_is():
    (note,) = run_notes.notes([measured("pyfhel", "rotate(1)", experiment="rotation")])
    row = {"variant": "pyfhel", "operation": "rotate(-1)"}
    assert note.is_needed("operation", [row])
    assert not note.is_needed("operation", [row | {"operation": "mul"}, row | {"variant": "seal"}])


def test_notes_are_those_of_what_was_measured_once_per_library():
    first, second = notes(
        [
            measured("seal", "mul"),
            measured("seal-hexl", "mul"),
            measured("seal", "mul", metric="noise_budget"),
            measured("seal", "mul_plain", status="crashed"),
            measured("tenseal", "add"),
        ]
    )
    assert first == "seal, seal-hexl · mul: without relinearization and rescaling"
    assert second.startswith("tenseal · add: allocates a new vector")


def test_what_a_library_adds_is_told_beside_its_precision():
    (note,) = notes([measured("openfhe", "add", metric="precision", experiment="noise")])
    assert note.startswith("openfhe · precision: while decoding, OpenFHE adds noise")
    assert not [text for text in notes([measured("openfhe", "add")]) if "precision" in text]


def test_objects_that_are_not_written_are_told_with_the_reason():
    found = notes([measured("openfhe", "none", metric="size", experiment="serialization")])
    (note,) = [text for text in found if "seeded" in text]
    assert note.startswith("openfhe · no ciphertext_seeded, no public_key_seeded, ")
    assert note.endswith("in full")
