"""What only Lattigo needs: bytes that Go would end the process for, long products, and centered plaintexts."""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_core.model import Scheme

from . import examples, harness
from .checks.values import right
from .harness import Subject

pytestmark = pytest.mark.variants("lattigo")


def test_lengths_that_are_no_ciphertext_are_refused(subject: Subject) -> None:
    """Lattigo allocates what a length asks for: with 2^60 words the process would end."""
    data = subject.evaluator.dump(subject.encrypted(subject.vector(0)), "none")
    row = subject.parameters.ring_dimension.to_bytes(8, "little")
    huge = data.replace(row, (1 << 60).to_bytes(8, "little"), 1)
    assert huge != data
    for damaged in (huge, data[:-8], data + bytes(8), b""):
        with pytest.raises((ValueError, RuntimeError)):
            subject.evaluator.load(damaged)


def test_keys_of_another_kind_are_refused(subject: Subject) -> None:
    header, relinearization, rotation, *others = subject.owner.public_material()
    for parts in (
        [header, rotation, relinearization, *others],
        [header, relinearization[:-1000], rotation, *others],
    ):
        with pytest.raises((ValueError, RuntimeError)):
            subject.adapter.evaluator(parts)


@pytest.mark.schemes("bgv", "ckks")
def test_a_product_of_three_polynomials_is_multiplied(deep: Subject) -> None:
    a, b, c = (deep.vector(number) for number in range(3))
    apply = deep.evaluator.apply
    x, y, z = (deep.encrypted(values) for values in (a, b, c))
    raw = apply("mul", x, y)
    if deep.scheme == "ckks":
        raw, z = apply("rescale", raw), apply("mod_switch", z)
    product = apply("mul", raw, z)
    assert deep.evaluator.polynomials(product) == 4
    if deep.scheme == "ckks":
        right(deep, product, a * b * c, operations=4)
    else:
        assert deep.owner.noise_budget_bits(deep.returned(product)) is not None


@pytest.mark.schemes("bfv", "bgv")
def test_the_noise_of_a_sum_grows_with_the_root_of_its_terms(variant: str, scheme: Scheme) -> None:
    """The 64 products of one ciphertext: 3 bits, and 6 were plaintexts not centered. Maxima over 4096 coefficients,
    which vary by less than a bit, are compared.
    """
    subject = harness.subject(variant, harness.SPECS[scheme])
    apply, x = subject.evaluator.apply, subject.encrypted(subject.vector(0))
    products = [
        apply("mul_plain", x, subject.evaluator.encode(subject.vector(number), like=x))
        for number in range(64)
    ]
    one, total = (
        subject.owner.noise_budget_bits(subject.returned(item))
        for item in (products[0], apply("add_many", *products))
    )
    assert one is not None
    assert total is not None
    assert one - total <= 4
    expected = sum(subject.vector(number).astype(object) for number in range(64)) * subject.vector(0)
    right(
        subject,
        apply("add_many", *products),
        (expected % subject.parameters.plain_modulus).astype(np.int64),
    )


def test_a_rotation_of_all_elements_is_that_of_numpy(subject: Subject) -> None:
    values = subject.vector(0)
    result = subject.evaluator.apply("rotate", subject.encrypted(values), -4)
    right(subject, result, examples.meaning(subject, "rotate", values, -4), operations=4)
