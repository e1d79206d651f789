"""Shipped runs state tunings by today's rules, so that they are compared with new runs."""

from __future__ import annotations

import pytest

from ciphermark_adapters import registry
from ciphermark_benchmark import archive
from ciphermark_benchmark.reference_runs import FOLDER


@pytest.mark.parametrize("name", ["bootstrapping", "deep"])
def test_the_tuning_of_each_case_is_one_that_its_library_offers(name: str) -> None:
    _, outcomes = archive.read(FOLDER / f"{name}.jsonl.xz")
    for item in outcomes:
        spec = item.trial.case.parameters
        assert registry.declaration(item.trial.case.variant).reason_against_tuning(spec) is None
        assert item.parameters is None or item.parameters.spec == spec
    assert {item.trial.case.variant for item in outcomes} == {"lattigo", "openfhe"}
