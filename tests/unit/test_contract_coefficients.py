"""Coefficients and slots of one polynomial."""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_contract.operations import Ring
from ciphermark_contract.operations.coefficients import coefficients_of, slots_of
from ciphermark_contract.operations.meaning import shifted, smallest_root

LARGE = 1152921504606830593  # a prime of 60 bits, 1 modulo 2^14


def _drawn(ring: Ring, *shape: int) -> np.ndarray:
    assert ring.modulus is not None
    return np.random.default_rng(5).integers(ring.modulus, size=(*shape, ring.dimension))


@pytest.mark.parametrize("ring", [Ring(16, 97), Ring(8, 65537, 5), Ring(16, LARGE)])
def test_a_slot_is_the_value_at_its_power_of_the_root(ring: Ring) -> None:
    assert ring.modulus is not None
    coefficients = _drawn(ring)
    root = smallest_root(ring.dimension, ring.modulus)
    values = [
        sum(int(c) * pow(root, e * j, ring.modulus) for j, c in enumerate(coefficients)) % ring.modulus
        for e in ring.exponents
    ]
    assert slots_of(ring, coefficients).tolist() == values


@pytest.mark.parametrize("ring", [Ring(16, 97), Ring(4096, 65537), Ring(8, 65537, 5), Ring(16, LARGE)])
def test_there_and_back_for_many_polynomials_at_once(ring: Ring) -> None:
    coefficients = _drawn(ring, 3, 2)
    slots = slots_of(ring, coefficients)
    assert slots.dtype == np.int64
    assert np.array_equal(slots[2, 1], slots_of(ring, coefficients[2, 1]))
    assert np.array_equal(coefficients_of(ring, slots), coefficients)


def test_a_product_with_a_power_of_x_moves_coefficients_and_changes_their_sign_at_the_end() -> None:
    ring = Ring(16, 97)
    coefficients = _drawn(ring)
    moved = np.concatenate([-coefficients[-3:], coefficients[:-3]]) % 97
    assert np.array_equal(coefficients_of(ring, shifted(ring, slots_of(ring, coefficients), 3)), moved)


def test_ckks_has_no_coefficients_modulo_t() -> None:
    with pytest.raises(ValueError, match="no coefficients modulo t"):
        slots_of(Ring(16, None), np.zeros(16))
