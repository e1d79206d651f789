"""The experiment ``bootstrapping``: its samples, its checks, and the refusal of keys that do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.budget import Budget
from ciphermark_core.model import BootstrappingParameters, Case, ParameterSpec, Trial
from ciphermark_measure import confinement
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments import KINDS, Setting
from ciphermark_measure.session import prepare

SPEC = ParameterSpec(
    "ckks",
    4096,
    (56, *[50] * 16, 60),
    scale_bits=50,
    security=0,
    secret_distribution="sparse ternary",
    bootstrapping=BootstrappingParameters(level_budget=(2, 2)),
)
CASE = Case("cleartext", "bootstrapping", "bootstrap", SPEC, SPEC.slots, "random")


def _session():
    return prepare("cleartext", SPEC, KINDS["bootstrapping"].experiment.keys(CASE))


def _findings(session):
    clock = MonotonicClock()
    trial = Trial("id", "run", CASE, 0, 7, Budget(min_samples=3, min_time_s=0.0))
    experiment = KINDS["bootstrapping"].experiment(Setting(session, trial, clock, resolution_ns(clock)))
    experiment.open()
    while experiment.phases and not experiment.turn():
        pass
    return experiment.close()


def test_levels_precision_keys_and_memory_are_samples() -> None:
    findings = _findings(_session())
    assert findings.status == "ok"
    values = {(item.metric, item.stage): item.value for item in findings.samples}
    assert (values["levels", "encrypt"], values["levels", "evaluate"]) == (0, 2)
    assert values["mean_precision", "evaluate"] > 40
    assert values["size", "evaluation_keys"] == 0
    assert values["peak_memory", "evaluate"] > 1 << 20
    assert ("time", "keygen") in values
    assert sum(item.metric == "time" and item.stage == "evaluate" for item in findings.samples) >= 3


def test_an_incorrect_result_ends_the_trial_untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _session()
    monkeypatch.setattr(session.owner, "decrypt", lambda ciphertext: ciphertext.values * 0.5)
    findings = _findings(session)
    assert findings.status == "incorrect"
    assert "slots differ from cleartext" in (findings.error or "")
    assert not [item for item in findings.samples if item.metric == "time" and item.stage == "evaluate"]


def test_keys_that_exceed_the_memory_are_refused_with_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = registry.load("cleartext")
    parameters = adapter.resolve(SPEC)
    assert parameters.bootstrapping is not None
    large = replace(parameters, bootstrapping=replace(parameters.bootstrapping, key_bytes=8 << 30))
    monkeypatch.setattr(type(adapter), "resolve", lambda _, spec: large)
    monkeypatch.setattr(confinement, "memory_limit", lambda: 4 << 30)
    with pytest.raises(
        Unsupported, match=r"keys take 8,192 MB, and the budget allows 4,096 MB \(memory_mb\)"
    ):
        _session()
