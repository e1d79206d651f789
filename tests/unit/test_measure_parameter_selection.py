"""Which ring and which primes a request comes to, with a library whose habits are known."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ciphermark_contract.interfaces import Adapter, Evaluator, KeyOwner, KeyRequest, Unsupported
from ciphermark_core import primes
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec
from ciphermark_measure.parameter_selection import resolved, rings

SEARCH = ParameterSpec("ckks", 1024, scale_bits=35, depth=4, ring_dimension_is_minimum=True)


class Library(Adapter):
    """Takes primes of the sizes asked for, and special primes of its own size; keeps what it was asked."""

    def __init__(
        self, special_bits: int | None = None, min_data_bits: int = 0, shrinks: bool = False
    ) -> None:
        self.asked: list[ParameterSpec] = []
        self._special_bits = special_bits
        self._min_data_bits = min_data_bits
        self._shrinks = shrinks

    def info(self) -> LibraryInfo:
        raise NotImplementedError

    def resolve(self, spec: ParameterSpec) -> Parameters:
        self.asked.append(spec)
        assert spec.modulus_bits is not None
        *data, special = spec.modulus_bits
        if min(data) < self._min_data_bits:
            raise Unsupported(f"primes of {min(data)} bits are too few")
        sizes = [bits - 3 for bits in data] if self._shrinks and min(data) < 45 else data
        moduli = [primes.ntt_primes(bits, spec.ring_dimension, 1)[0] for bits in sizes]
        last = primes.ntt_primes(self._special_bits or special, spec.ring_dimension, 1)
        return Parameters(spec, spec.ring_dimension, tuple(moduli), last, spec.slots, spec.plain_modulus)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        raise NotImplementedError

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        raise NotImplementedError


def test_the_smallest_secure_ring_is_taken() -> None:
    library = Library()
    parameters = resolved(library, SEARCH)
    assert parameters.ring_dimension == 16384
    assert parameters.modulus_bits == (55, 35, 35, 35, 35, 55)
    assert parameters.security_2018 >= 128


def test_a_library_sees_concrete_requests_only() -> None:
    library = Library()
    resolved(library, SEARCH)
    for spec in library.asked:
        assert (spec.depth, spec.ring_dimension_is_minimum) == (None, False)
        assert spec.modulus_bits is not None


def test_no_ring_is_tried_that_the_data_primes_alone_overflow() -> None:
    """Libraries keep what they make of parameters: looking costs time and memory."""
    library = Library()
    resolved(library, SEARCH)
    assert [spec.ring_dimension for spec in library.asked] == [8192, 16384]


def test_the_primes_that_are_taken_decide() -> None:
    """215 bits are asked for at N = 8192 and 218 allowed; a special prime of 60 bits is five too many."""
    asked = ParameterSpec("ckks", 1024, scale_bits=35, depth=3, ring_dimension_is_minimum=True)
    assert resolved(Library(), asked).ring_dimension == 8192
    assert resolved(Library(special_bits=60), asked).ring_dimension == 16384


def test_larger_primes_are_asked_for_where_small_ones_are_too_few() -> None:
    spec = ParameterSpec("bgv", 16384, plain_modulus=65537, depth=2, security=128)
    parameters = resolved(Library(min_data_bits=40), spec)
    assert min(parameters.modulus_bits) == 40
    assert parameters.modulus_bits[:3] == (44, 40, 40)


def test_primes_smaller_than_the_noise_are_not_taken() -> None:
    spec = ParameterSpec("bgv", 16384, plain_modulus=65537, depth=2, security=128)
    parameters = resolved(Library(shrinks=True), spec)
    assert min(prime.bit_length() for prime in parameters.moduli) >= 33


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            ParameterSpec("ckks", 8192, scale_bits=35, depth=8),
            "above 218, the 2018 table's limit for 128 bits",
        ),
        (
            ParameterSpec("ckks", 1024, scale_bits=40, depth=25, ring_dimension_is_minimum=True),
            "no N from 1024 to 32768 will do; at N = 32768: a chain of 1120.0 bits",
        ),
        (ParameterSpec("bgv", 1024, (60, 60, 60), 65537, ring_dimension_is_minimum=True, security=256), None),
    ],
)
def test_what_is_not_secure_is_refused_with_the_reason(spec: ParameterSpec, words: str | None) -> None:
    if words is None:
        assert resolved(Library(), spec).security_2018 == 256
        return
    with pytest.raises(Unsupported, match=words):
        resolved(Library(), spec)


def test_without_security_the_ring_that_was_asked_for_is_taken() -> None:
    spec = ParameterSpec("ckks", 8192, scale_bits=35, depth=8, security=0)
    assert resolved(Library(), spec).ring_dimension == 8192


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (ParameterSpec("ckks", 8192), [8192]),
        (ParameterSpec("ckks", 1024, ring_dimension_is_minimum=True), [1024, 2048, 4096, 8192, 16384, 32768]),
        (ParameterSpec("ckks", 16384, ring_dimension_is_minimum=True), [16384, 32768]),
        (ParameterSpec("ckks", 65536, ring_dimension_is_minimum=True), [65536]),
    ],
)
def test_rings_end_where_the_table_does(spec: ParameterSpec, expected: list[int]) -> None:
    assert rings(spec) == expected
