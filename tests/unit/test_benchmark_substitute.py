"""Where a host has no counters, callgrind counts the instructions of one call, and the reason says so."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ciphermark_benchmark.runner import substitute
from ciphermark_core.model import Case, ParameterSpec
from ciphermark_measure.instruction_count import counted, small
from ciphermark_measure.protocol import Profiled

CASE = Case(
    "cleartext", "arithmetic", "mul", ParameterSpec("ckks", 16384, (60, 40, 60), scale_bits=40), 9, "random"
)
NONE = Profiled(unmeasured={"counters": "no counters", "energy": "no powercap"})


def test_a_case_becomes_small_with_fresh_operands() -> None:
    own = small(replace(CASE, threads=2, dimensions={"level": 1}))
    assert own.parameters == ParameterSpec("ckks", 4096, scale_bits=30)
    assert (own.vector_length, own.threads, own.dimensions) == (2048, 1, {})
    fits = ParameterSpec("bfv", 2048, (54,), plain_modulus=12289)
    assert small(replace(CASE, parameters=fits)).parameters == fits


def test_dumps_of_one_and_of_two_executions_give_one(tmp_path: Path) -> None:
    for number, instructions in enumerate((1_784_082, 1_784_069, 3_562_851), 1):
        text = f"version: 1\nsummary: {instructions}\n\ntotals: {instructions + 66}\n"
        (tmp_path / f"callgrind.{number}").write_text(text)
    assert counted(tmp_path) == 1_778_782


def test_a_count_is_a_sample_and_the_reason_calls_it_a_substitute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(substitute, "_counted", lambda case: (7, "substitute: exact instructions"))
    profile = substitute.with_substitute(NONE, CASE)
    assert [(s.metric, s.value, s.phase) for s in profile.samples] == [
        ("callgrind_instructions", 7.0, "evaluate")
    ]
    assert profile.unmeasured == {
        "counters": "no counters; substitute: exact instructions at N = 4096",
        "energy": "no powercap",
    }


def test_without_a_count_there_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    substitute._counted.cache_clear()
    profile = substitute.with_substitute(NONE, CASE)
    assert profile.samples == ()
    assert profile.unmeasured["counters"] == (
        "no counters; valgrind, which counts instructions, is not installed: no substitute at N = 4096"
    )
    substitute._counted.cache_clear()


@pytest.mark.parametrize(
    ("profile", "case"),
    [
        (Profiled(), CASE),
        (NONE, replace(CASE, experiment="depth")),
        (NONE, replace(CASE, experiment="learning")),
    ],
)
def test_nothing_is_substituted(profile: Profiled, case: Case) -> None:
    assert substitute.with_substitute(profile, case) is profile


@pytest.mark.extended
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_callgrind_counts_a_call() -> None:
    """A product of 2,048 numbers takes an instruction for each pair of them or more, and no hundred."""
    count, _ = substitute._counted.__wrapped__(substitute.msgspec.json.encode(small(CASE)).decode())
    assert count is not None
    assert 1024 <= count < 204_800
