"""OpenFHE's bootstrapping: secrets, slots, order, iterations, and keys that go to another process."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.openfhe import bootstrapping_keys
from ciphermark_contract.interfaces import Exhausted, lowered
from ciphermark_contract.keys import KeyRequest
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import BootstrappingParameters, ParameterSpec, SecretDistribution

from . import harness
from .checks import levels

pytestmark = pytest.mark.variants("openfhe")

RING, SLOTS = 1024, 16
KEYS = KeyRequest.of(relinearization=True, rotations=(1,), bootstrapping=True)


def _spec(primes: int, **changes: object) -> ParameterSpec:
    """A chain of its own for each test, since equal ones share a context."""
    asked = replace(BootstrappingParameters((2, 2), SLOTS), **changes)  # type: ignore[arg-type]
    return ParameterSpec(
        "ckks",
        RING,
        (56, *[50] * primes, 60),
        scale_bits=50,
        security=0,
        tuning="recommended",
        secret_distribution="sparse ternary",
        bootstrapping=asked,
    )


WAYS = {
    "few slots": _spec(17),
    "slots first": _spec(18, slots_first=True),
    "encapsulated": replace(_spec(16), secret_distribution="sparse-encapsulated"),
    "encapsulated, slots first": replace(
        _spec(17, slots_first=True), secret_distribution="sparse-encapsulated"
    ),
    "dense": replace(
        _spec(20), modulus_bits=(56, *[55] * 20, 60), scale_bits=55, secret_distribution="uniform ternary"
    ),
    "two iterations": _spec(19, iterations=2, precision_bits=8),
    "two iterations, slots first": _spec(20, iterations=2, precision_bits=8, slots_first=True),
    "matrices, not Fourier transforms": _spec(21, level_budget=(1, 1)),
    # 2^4 slots and 3 levels leave a shorter last step: OpenFHE 1.5 bootstrapped such ciphertexts to noise
    "uneven budget": _spec(22, level_budget=(3, 3)),
}
DEPTHS = dict(zip(WAYS, (14, 12, 14, 12, 18, 15, 13, 12, 16), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_a_result_is_right_at_the_stated_level(variant: str, way: str) -> None:
    """Operands at the lowest level that it takes, and above the level of the result; a rotation of few slots."""
    subject = harness.subject_with(variant, WAYS[way], KEYS)
    own = subject.parameters.require_bootstrapping()
    assert (own.depth, subject.parameters.slots) == (DEPTHS[way], SLOTS)
    levels.effect(subject, "bootstrap")
    values, bootstrap = subject.vector(3), subject.evaluator.operations["bootstrap"]
    result = bootstrap(subject.encrypted(values))
    top = len(subject.parameters.moduli) - 1
    assert levels.state_of(subject, result) == (top - own.depth, subject.parameters.scale, 2)
    rotated = subject.evaluator.operations["rotate"](result, 1)
    error = np.abs(subject.decrypted(rotated) - np.roll(values, -1)).max()
    assert 0 < error < own.error


def test_parameter_sets_of_one_context_keep_their_own_precomputations(variant: str) -> None:
    """The second set-up replaces the first one in OpenFHE's context; the first evaluator still computes its own."""
    first, second = (
        harness.subject_with(variant, _spec(23, level_budget=budget), KEYS) for budget in ((2, 2), (1, 1))
    )
    for subject in (first, second, first):
        levels.effect(subject, "bootstrap")


def test_a_level_that_bootstrapping_does_not_take_is_exhausted(variant: str) -> None:
    for way in ("few slots", "slots first"):
        subject = harness.subject_with(variant, WAYS[way], KEYS)
        level = subject.parameters.require_bootstrapping().operand_level
        low = lowered(subject.evaluator, subject.encrypted(subject.vector(5)), level - 1)
        with pytest.raises(Exhausted, match=f"takes level {level}, and the operand is at {level - 1}"):
            subject.evaluator.apply("bootstrap", low)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"slots": 24}, "a power of two of slots"),
        ({"slots": 4096}, "from 2 to 512, not 4096"),
        ({"level_budget": (2, 5)}, "at most 4 for 16 slots, not 5"),
        ({"iterations": 2}, "2 with the precision_bits of the first"),
    ],
)
def test_a_bootstrapping_that_openfhe_does_not_offer_is_refused(
    variant: str, changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(Unsupported, match=reason):
        harness.adapter(variant).resolve(_spec(16, **changes))


def test_a_scale_too_small_for_an_error_below_an_eighth_is_refused(variant: str) -> None:
    coarse = replace(_spec(16), modulus_bits=(50, *[34] * 16, 60), scale_bits=34)
    with pytest.raises(Unsupported, match="request a larger scale"):
        harness.adapter(variant).resolve(coarse)


@pytest.mark.parametrize("way", ["slots first", "encapsulated"])
def test_keys_reach_another_process(variant: str, way: str) -> None:
    subject = harness.subject_with(variant, WAYS[way], KEYS)
    values = subject.vector(6)
    sent = subject.owner.dump(subject.owner.encrypt(values), "none")
    material = [*subject.owner.public_material()]
    stated = subject.parameters.require_bootstrapping().key_bytes
    assert stated is not None
    relinearization = len(subject.owner.dump_key("relinearization_keys", "none"))
    written = len(material[-1]) + relinearization
    assert 1 < written / stated < 1.05  # names of keys, and sizes
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        data = pool.apply(_bootstrapped_elsewhere, (variant, material, sent))
    error = np.abs(subject.owner.decrypt(subject.owner.load(data)) - values).max()
    assert 0 < error < subject.parameters.require_bootstrapping().error


def test_a_program_rotates_by_keys_of_bootstrapping(variant: str) -> None:
    adapter, parameters = harness.adapter(variant), harness.adapter(variant).resolve(WAYS["slots first"])
    owner = adapter.key_owner(parameters, KeyRequest.of(rotations=[1, 2, -1], bootstrapping=True))
    material = [*owner.public_material()]
    assert len(material) == 3  # the header, the key for −1, and those of bootstrapping
    evaluator, values = adapter.evaluator(material), np.linspace(-1, 1, parameters.slots)
    for step in (1, 2, -1):
        turned = evaluator.apply("rotate", owner.encrypt(values), step)
        assert np.abs(owner.decrypt(turned) - np.roll(values, -step)).max() < 1e-3


def test_released_keys_leave_the_process_and_those_of_others_stay(variant: str) -> None:
    import openfhe

    adapter, parameters = harness.adapter(variant), harness.adapter(variant).resolve(WAYS["slots first"])
    first, second = (adapter.key_owner(parameters, KeyRequest.of(rotations=[1])) for _ in range(2))
    _ = adapter.evaluator(second.public_material())
    before = {*openfhe.CryptoContext.GetAllEvalAutomorphismKeys()}
    first.release_evaluation_keys()
    after = {*openfhe.CryptoContext.GetAllEvalAutomorphismKeys()}
    values = np.linspace(-1, 1, parameters.slots)
    assert np.abs(first.decrypt(first.encrypt(values)) - values).max() < 1e-3
    assert len(before - after) == 1
    assert after <= before


@pytest.mark.parametrize("slots_first", [False, True])
def test_the_rotations_are_those_that_openfhe_makes_keys_for(variant: str, slots_first: bool) -> None:
    """Level budgets that divide the layers evenly, unevenly, and not at all."""
    import openfhe

    from ciphermark_adapters.openfhe import parameters

    asked = BootstrappingParameters(slots_first=slots_first)
    adapter, kind, ring = harness.adapter(variant), openfhe.CryptoContext, 512
    spec = ParameterSpec("ckks", ring, (50, 40, 60), scale_bits=40, security=0, tuning="recommended")
    context = parameters.context_of(adapter.resolve(spec))
    context.Enable(openfhe.FHE)
    for log_slots, budget in [(1, (1, 1)), (3, (3, 2)), (4, (3, 3)), (5, (1, 1)), (6, (4, 5)), (8, (2, 3))]:
        secret, slots = context.KeyGen().secretKey, 1 << log_slots
        context.EvalBootstrapSetup([*budget], [0, 0], slots, 10, False, slots_first)
        context.EvalBootstrapKeyGen(secret, slots)
        steps = bootstrapping_keys.rotations(ring, slots, replace(asked, level_budget=budget))
        wanted = {2 * ring - 1, *map(context.FindAutomorphismIndex, steps)}
        assert {*kind.GetExistingEvalAutomorphismKeyIndices(secret.GetKeyTag())} == wanted


@pytest.mark.parametrize("distribution", ["sparse ternary", "sparse-encapsulated"])
def test_secrets_have_the_stated_weight(variant: str, distribution: SecretDistribution) -> None:
    """Σ s_i² of a ternary secret is Σ s(ζ)·s(1/ζ)/N over the roots ζ, and 1/ζ is at the opposite place."""
    import openfhe

    from ciphermark_adapters.openfhe import parameters as parameter_sets

    spec = ParameterSpec(
        "ckks", RING, (50, 40, 60), scale_bits=40, security=0, secret_distribution=distribution
    )
    parameters = harness.adapter(variant).resolve(spec)
    secret = parameter_sets.context_of(parameters).KeyGen().secretKey
    key = json.loads(openfhe.Serialize(secret, openfhe.JSON))
    prime, values = parameters.moduli[0], next(_vectors(key))
    products = sum(a * b for a, b in zip(values, reversed(values), strict=True))
    assert products * pow(RING, -1, prime) % prime == parameters.hamming_weight == 192


def _vectors(item: Any) -> Iterator[list[int]]:
    """The polynomials of a key in OpenFHE's JSON form."""
    for name, value in item.items() if isinstance(item, dict) else enumerate(item):
        if name == "v" and isinstance(value, list) and len(value) == RING:
            yield [int(number) for number in value]
        elif isinstance(value, dict | list):
            yield from _vectors(value)


def _bootstrapped_elsewhere(variant: str, material: list[bytes], sent: bytes) -> bytes:
    evaluator = registry.load(variant).evaluator(iter(material))
    return evaluator.dump(evaluator.operations["bootstrap"](evaluator.load(sent)), "none")
