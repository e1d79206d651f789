"""HElib's rules for digits and special primes, without HElib."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters.helib import limits
from ciphermark_core.model import ParameterSpec


@pytest.mark.parametrize(
    ("primes", "digits", "sizes"),
    [(8, 3, [3, 3, 2]), (7, 3, [3, 2, 2]), (4, 3, [2, 1, 1]), (3, 3, [1, 1, 1]), (5, 1, [5])],
)
def test_digits_are_as_even_as_can_be(primes: int, digits: int, sizes: list[int]) -> None:
    assert [len(digit) for digit in limits.split(primes, digits)] == sizes


@given(st.integers(1, 60), st.data())
def test_digits_have_every_prime_once_and_none_is_empty(primes: int, data: st.DataObject) -> None:
    digits = data.draw(st.integers(1, primes))
    found = limits.split(primes, digits)
    assert len(found) == digits
    assert [i for digit in found for i in digit] == list(range(primes))


@pytest.mark.parametrize(
    ("tuning", "primes", "first"),
    [("matched", 8, 8), ("recommended", 8, 3), ("recommended", 2, 2), ("recommended", 1, 1)],
)
def test_best_begins_with_the_default(tuning: str, primes: int, first: int) -> None:
    spec = ParameterSpec("ckks", 8192, scale_bits=40, tuning=tuning)  # type: ignore[arg-type]
    assert list(limits.choices(spec, primes)) == list(range(first, primes + 1))


@given(st.integers(2, 20), st.data())
def test_fewer_digits_never_want_fewer_special_bits(primes: int, data: st.DataObject) -> None:
    """A digit is at least as large, and the noise of one part less weighs less than half a prime of 54 bits."""
    digits = data.draw(st.integers(1, primes - 1))
    spec = ParameterSpec("bgv", 8192, plain_modulus=65537)
    fewer, more = (limits.special(spec, [54.0] * primes, n) for n in (digits, digits + 1))
    assert fewer[0] >= more[0]
    assert fewer[0] * fewer[1] >= more[0] * (more[1] - 7)
