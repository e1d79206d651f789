"""bfv modulo a product of primes: every library computes residue by residue what it computes modulo one prime."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.residues import together
from ciphermark_contract.interfaces import KeyRequest, Unsupported
from ciphermark_core import primes
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_workloads.catalogue import WORKLOADS

from . import harness
from .cells import each, has, has_managed, is_driven_by_levels, where

pytestmark = [
    pytest.mark.schemes("bfv"),
    where(is_driven_by_levels),
    where(has("add", "add_plain", "mul_plain", "mul", "relinearize")),
]

FIRST, SECOND, THIRD = 12289, 40961, 65537  # each 1 modulo 2·1024 and 2·2048
RING = 2048


@cache
def _spec(variant: str) -> ParameterSpec:
    """A chain that a library has for one of the primes."""
    recommended_bits = (56, 56, 60) if registry.declaration(variant).chooses_primes else (50, 50, 50)
    return ParameterSpec("bfv", RING, recommended_bits, plain_modulus=FIRST * SECOND * THIRD, security=0)


def test_sums_and_products_are_those_modulo_the_product(variant: str, scheme: Scheme) -> None:
    spec = _spec(variant)
    modulus = spec.plain_modulus or 0
    subject = harness.subject_with(variant, spec, KeyRequest.of(relinearization=True))
    owner, evaluator, parameters = subject.owner, subject.evaluator, subject.parameters
    assert parameters.plain_modulus == modulus
    drawn = np.random.default_rng(7)
    a, b, c = (drawn.integers(0, modulus, parameters.slots) for _ in range(3))
    x, y = (subject.encrypted(values) for values in (a, b))
    total = evaluator.apply("add", x, y)
    product = evaluator.apply("relinearize", evaluator.apply("mul", x, y))
    scaled = evaluator.apply("mul_plain", x, evaluator.encode(c, like=x))
    shifted = evaluator.apply("add_plain", y, evaluator.encode(c, like=y))
    whole = [item.astype(object) for item in (a, b, c)]
    for found, expected in (
        (total, whole[0] + whole[1]),
        (product, whole[0] * whole[1]),
        (scaled, whole[0] * whole[2]),
        (shifted, whole[1] + whole[2]),
    ):
        returned = subject.returned(found)
        np.testing.assert_array_equal(owner.decrypt(returned), (expected % modulus).astype(np.int64))
        budget = owner.noise_budget_bits(returned)
        assert budget is None or budget > 0
    assert (evaluator.level(x), evaluator.polynomials(product)) == (evaluator.level(y), 2)


def _form(variant: str) -> str:
    return registry.declaration(variant).compressions[0]


def test_bytes_of_fewer_residues_are_refused(variant: str, scheme: Scheme) -> None:
    adapter, spec = harness.adapter(variant), _spec(variant)
    two = ParameterSpec("bfv", RING, spec.modulus_bits, plain_modulus=FIRST * SECOND, security=0)
    owners = [
        adapter.key_owner(adapter.resolve(item), KeyRequest.of(relinearization=True)) for item in (spec, two)
    ]
    encrypted = owners[1].dump(owners[1].encrypt(np.ones(4, dtype=np.int64)), _form(variant))
    with pytest.raises(ValueError, match="of 2 residues, and there are 3"):
        owners[0].load(encrypted)


def test_a_product_with_a_factor_that_gives_no_slots_is_refused(variant: str, scheme: Scheme) -> None:
    spec = _spec(variant)
    for modulus in (FIRST * 11, FIRST * FIRST):
        with pytest.raises(Unsupported, match="t = "):
            harness.adapter(variant).resolve(
                ParameterSpec("bfv", RING, spec.modulus_bits, plain_modulus=modulus, security=0)
            )


@where(has_managed("add", "add_plain", "mul", "mul_plain", "square", "rotate"))
@each("name", lambda _: ["digits", "digits-encrypted", "digits-one"])
def test_a_network_in_whole_numbers(variant: str, scheme: Scheme, name: str) -> None:
    """Logits are those of the network in whole numbers, to the last digit."""
    workload = WORKLOADS[name]
    image = workload.input(5, None)
    judgement = harness.judgement(harness.in_process(workload, variant, scheme, image), image)
    assert judgement.complaint is None
    assert judgement.results["logit_error"] == 0


@pytest.mark.variants("cleartext")
def test_residues_are_put_together(variant: str, scheme: Scheme) -> None:
    drawn = np.random.default_rng(1)
    moduli = (65537, 114689, 1073692673)
    values = drawn.integers(0, np.prod(moduli, dtype=np.int64), 1000)
    np.testing.assert_array_equal(together([values % m for m in moduli], moduli), values)
    assert primes.batching_factors(65537 * 114689, 8192) == (65537, 114689)
    assert primes.batching_factors(65537, 8192) == (65537,)
    assert primes.batching_factors(65537 * 3, 8192) == ()
