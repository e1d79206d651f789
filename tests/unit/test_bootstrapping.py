"""Secret distributions and bootstrapping as data: keys of cases, verdicts, key requests, levels and tolerances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_contract import checking, requests
from ciphermark_contract.interfaces import Exhausted, Unsupported
from ciphermark_contract.keys import NO_KEYS, Bootstrapping, KeyRequest
from ciphermark_contract.operations import OPERATIONS, Ring, Shape
from ciphermark_core.model import BootstrappingParameters, Case, ParameterSpec
from ciphermark_measure.parameter_selection import reason_against

PLAIN = ParameterSpec("ckks", 4096, (56, *[50] * 16, 60), scale_bits=50, security=0)
ASKED = BootstrappingParameters(level_budget=(2, 2))
SPEC = replace(PLAIN, secret_distribution="sparse ternary", bootstrapping=ASKED)
PARAMETERS = registry.load("cleartext").resolve(SPEC)
ROW = OPERATIONS["bootstrap"]


def _key(spec: ParameterSpec) -> str:
    return Case("seal", "arithmetic", "add", spec, 8, "random").key


def test_keys_of_cases_change_only_where_the_new_fields_are_set() -> None:
    assert _key(ParameterSpec("bfv", 4096, (36, 36, 37), 65537)) == "6a1845dc48880c42ea02d4c16b33f29d"
    others = [
        replace(PLAIN, secret_distribution="sparse-encapsulated"),
        replace(PLAIN, hamming_weight=64),
        replace(PLAIN, bootstrapping=ASKED),
        replace(PLAIN, bootstrapping=replace(ASKED, iterations=2, precision_bits=10)),
        replace(PLAIN, bootstrapping=replace(ASKED, slots_first=True)),
    ]
    assert len({_key(spec) for spec in [PLAIN, *others]}) == 6


@pytest.mark.parametrize("distribution", ["sparse ternary", "sparse-encapsulated"])
def test_the_security_of_a_sparse_secret_is_unknown(distribution: str) -> None:
    dense = registry.load("cleartext").resolve(ParameterSpec("ckks", 8192, (60, 40, 60), scale_bits=40))
    assert (dense.security_2018, dense.security_2024) == (128, 128)
    sparse = replace(dense, secret_distribution=distribution)
    assert (sparse.security_2018, sparse.security_2024) == (None, None)
    assert "no table rates it" in (
        reason_against(replace(dense.spec, security=128), 8192, 160.0, distribution) or ""
    )
    assert reason_against(replace(dense.spec, security=0), 8192, 160.0, distribution) is None


def test_a_library_refuses_what_it_has_no_setting_for() -> None:
    with pytest.raises(Unsupported, match="no setting for a sparse ternary secret"):
        requests.resolved(SPEC, PARAMETERS.moduli, PARAMETERS.special_moduli)
    with pytest.raises(Unsupported, match="no bootstrapping here"):
        requests.resolved(replace(PLAIN, bootstrapping=ASKED), PARAMETERS.moduli, PARAMETERS.special_moduli)
    with pytest.raises(Unsupported, match="has the Hamming weight 192"):
        requests.resolved(replace(SPEC, hamming_weight=64), (), (), {"sparse ternary": 192})
    with pytest.raises(Unsupported, match="consumes 14 levels, and the modulus chain has 12"):
        registry.load("cleartext").resolve(replace(SPEC, modulus_bits=(56, *[50] * 12, 60)))


def test_a_short_chain_has_the_depth_of_the_library_that_takes_fewest_levels() -> None:
    short = registry.load("cleartext").resolve(replace(SPEC, modulus_bits=(56, *[50] * 14, 60)))
    assert short.require_bootstrapping().depth == 12 < PARAMETERS.require_bootstrapping().depth


def test_key_requests_carry_the_parameters_of_bootstrapping() -> None:
    own, other = KeyRequest.of(bootstrapping=True), KeyRequest.of(bootstrapping=ASKED)
    assert own.bootstrapping == Bootstrapping()
    assert own | other == other == other | own
    assert other.has(own)
    assert not own.has(other)
    assert not NO_KEYS.has(own)
    with pytest.raises(ValueError, match="two parameter sets"):
        other | KeyRequest.of(bootstrapping=replace(ASKED, iterations=2, precision_bits=9))
    keys = KeyRequest.of(True, (4, 0, -1, 4), (3,))
    assert (keys.steps, keys.elements, bool(keys.switching)) == ((-1, 4), (3,), False)
    assert keys.of_kinds(KeyRequest.of(rotations=(1,))) == KeyRequest.of(rotations=(-1, 4))


def test_a_result_is_at_the_top_less_the_depth() -> None:
    assert PARAMETERS.bootstrapping is not None
    low = Shape(0, PARAMETERS.scale)
    assert ROW.shape_after(PARAMETERS, low) == Shape(16 - 14, PARAMETERS.scale)
    deeper = replace(PARAMETERS, bootstrapping=replace(PARAMETERS.bootstrapping, depth=15, operand_level=1))
    assert ROW.shape_after(deeper, replace(low, level=1)).level == 1
    with pytest.raises(Exhausted, match="takes level 1"):
        ROW.shape_after(deeper, low)
    with pytest.raises(Unsupported, match="write bootstrapping"):
        ROW.shape_after(replace(PARAMETERS, bootstrapping=None), low)


def test_fewer_slots_are_those_of_a_smaller_ring() -> None:
    few = registry.load("cleartext").resolve(replace(SPEC, bootstrapping=replace(ASKED, slots=16)))
    assert (few.slots, few.ring_dimension, Ring.of(few).slots) == (16, 4096, 16)
    assert few.spec.bootstrapping is not None
    assert few.spec.bootstrapping.text == "level budget 2 + 2, 16 slots"


def test_slots_first_decodes_at_the_level_of_the_operand() -> None:
    first = replace(ASKED, slots_first=True)
    assert first.text == "level budget 2 + 2, slots first"
    resolved = registry.load("cleartext").resolve(replace(SPEC, bootstrapping=first)).bootstrapping
    assert resolved is not None
    assert (resolved.depth, resolved.operand_level) == (12, 2)


def test_the_tolerance_is_that_of_the_operation() -> None:
    assert PARAMETERS.bootstrapping is not None
    coarse = replace(PARAMETERS, bootstrapping=replace(PARAMETERS.bootstrapping, error=0.01))
    assert 0.01 < checking.tolerance(coarse, 1, ROW) < 0.011
    assert checking.tolerance(coarse) == checking.tolerance(PARAMETERS) < 1e-6


@pytest.mark.parametrize(("value", "words"), [(-1.25, r"1\.25"), (np.nan, "nan"), (np.inf, "inf")])
def test_values_outside_the_unit_interval_are_refused(value: float, words: str) -> None:
    ring = Ring.of(PARAMETERS)
    values = np.array([-1.0, 1.0, 0.5])
    assert ROW.meaning(ring, values) is values
    with pytest.raises(Unsupported, match=r"values in \[−1, 1\], and one of these is " + words):
        ROW.meaning(ring, np.array([0.5, value]))
