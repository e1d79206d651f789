"""What parties tell of a store and of an answer beside times: by the formulas, once, and in no sum of a stage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.descriptor import Value
from ciphermark_core.model import EXACT_SCHEMES, Sample, Scheme
from ciphermark_measure.parties import messages
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import recommended

from . import harness
from .cells import Cell, each, has_managed, where
from .checks.parties import Parties
from .checks.rings import small_ring

pytestmark = [pytest.mark.schemes(*EXACT_SCHEMES), where(has_managed("add", "mul_plain", "rotate"))]

# At N = 1024, with plaintexts that all differ: three blocks of 9 columns; 12 plaintexts of 60 elements each; 12 of 73.
PLAINTEXTS: Mapping[str, tuple[Mapping[str, Value], int]] = {
    "fast-pir": ({"elements": 2 * 512 + 100, "element_bytes": 33}, 3 * 9),
    "mul-pir": ({"elements": 11 * 60 + 7, "element_bytes": 33}, 12),
    "seal-pir": ({"elements": 11 * 73 + 7, "element_bytes": 33}, 12),
}


class _Passes(NamedTuple):
    """What was told of the first pass and of the second, by the server and by the client."""

    evaluated: list[messages.Evaluated]
    scored: list[messages.Scored]
    made: messages.KeysMade


def _passes(folder: Path, variant: str, scheme: Scheme, name: str) -> _Passes:
    (options, _), ring = PLAINTEXTS[name], small_ring(variant, scheme)
    workload = WORKLOADS[name].with_options(options)
    spec = recommended(workload, scheme, registry.declaration(variant), ring)
    parties = Parties(folder, variant, name, options, parameters=spec)
    passes = _Passes([], [], parties.keys)
    for seed in (1, 2):
        _, back, scored = parties.passed(seed)
        assert scored.complaint is None
        passes.evaluated.append(back)
        passes.scored.append(scored)
    return passes


def _of(samples: tuple[Sample, ...], metric: str) -> list[float]:
    return [sample.value for sample in samples if sample.metric == metric]


def _workloads(cell: Cell) -> list[str]:
    return [
        name
        for name in PLAINTEXTS
        if cell.scheme in WORKLOADS[name].schemes
        and all(cell.declared.has(each, cell.scheme) for each in WORKLOADS[name].operations(cell.scheme))
    ]


@each("name", _workloads)
def test_the_store_and_the_noise_are_told(variant: str, scheme: Scheme, name: str, tmp_path: Path) -> None:
    """The store's plaintexts have as many polynomials as data primes where the library takes them in NTT form,
    else one; beside them stand the monomials of an expansion, at most one for each of its 4 rounds, where there is no
    call for X^k. Each is told in the first pass alone, and the noise in every one.
    """
    passes = _passes(tmp_path, variant, scheme, name)
    parameters, declared = passes.made.parameters, registry.declaration(variant)
    primes = len(parameters.moduli) if declared.has("mul_plain_ntt", scheme) else 1
    polynomials = [
        size / (8 * parameters.ring_dimension) for size in _of(passes.evaluated[0].samples, "store_size")
    ]
    expected = PLAINTEXTS[name][1] * primes
    extra = 0 if name == "fast-pir" or declared.has("mul_monomial", scheme) else 4 * primes
    # A library that manages levels takes vectors where ciphertexts are multiplied: no plaintext has a size then.
    is_managed = not declared.drives_levels(scheme) and "mul" in WORKLOADS[name].operations(scheme)
    assert [expected <= size <= expected + extra for size in polynomials] == [True] * (not is_managed)
    bandwidths = _of(passes.evaluated[0].samples, "memory_bandwidth")
    assert [value > 0 for value in bandwidths] == [True] * (not is_managed)
    assert _of(passes.evaluated[1].samples, "store_size") == []
    assert _of(passes.evaluated[1].samples, "memory_bandwidth") == []
    owner = harness.adapter(variant).key_owner(parameters, KeyRequest.of(relinearization=True))
    tells = owner.noise_budget_bits(owner.encrypt(np.ones(8, dtype=np.int64))) is not None
    for scored in passes.scored:
        budgets = _of(scored.samples, "noise_budget")
        assert [value > 0 for value in budgets] == [True] * tells


@pytest.mark.variants("seal")
def test_what_the_store_is_measured_by_is_in_no_sum(variant: str, scheme: Scheme, tmp_path: Path) -> None:
    (first, second) = _passes(tmp_path, variant, scheme, "fast-pir").evaluated
    for reply, is_first in ((first, True), (second, False)):
        times = {sample.phase: sample.value for sample in reply.samples if sample.metric == "time"}
        assert ("answer.check" in times) == is_first
        own = times.pop("answer.server")
        times.pop("answer.check", None)
        assert own == pytest.approx(sum(times.values()))
