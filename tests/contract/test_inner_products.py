"""The fused ``multiply_accumulate`` yields what products and additions yield one by one, to the last residue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from ciphermark_contract.interfaces import Handle, KeyRequest, Unsupported
from ciphermark_contract.operands import prepared, restored, transformed
from ciphermark_core.model import ParameterSpec, Scheme

from . import harness
from .cells import has, where
from .checks.values import right
from .harness import Subject

pytestmark = [
    pytest.mark.schemes("bfv", "bgv"),
    where(has("multiply_accumulate", "mul_plain_ntt")),
    pytest.mark.variants("seal", "seal-hexl"),
]

# Primes of at most 50 bits, which sums of 52-bit halves take, and larger ones; several for data, so that there
# is a level below the top. The smallest ring has fewer places than a block of sums.
CHAINS = {
    "50 bits": (1024, (50, 50, 50, 55)),
    "40 and 60 bits": (1024, (40, 60, 60)),
    "a ring of 64": (64, (50, 58, 60)),
}


@cache
def _made(variant: str, scheme: Scheme, chain: str) -> Subject:
    """Without rotations: the smallest ring has too few slots for the steps of other tests."""
    ring, bits = CHAINS[chain]
    spec = ParameterSpec(scheme, ring, bits, plain_modulus=12289, security=0)
    return harness.subject_with(variant, spec, KeyRequest.of(relinearization=True))


def _factors(subject: Subject, count: int) -> list[Handle]:
    return [transformed(subject.evaluator, subject.encrypted(subject.vector(i))) for i in range(count)]


def _plaintexts(subject: Subject, like: Handle, count: int) -> list[Handle]:
    return [prepared(subject.evaluator, subject.vector(100 + i), like) for i in range(count)]


def _one_by_one(subject: Subject, factors: Sequence[Handle], plaintexts: Sequence[Handle]) -> Handle:
    apply = subject.evaluator.apply
    total = apply("mul_plain_ntt", factors[0], plaintexts[0])
    for factor, plaintext in zip(factors[1:], plaintexts[1:], strict=True):
        total = apply("add", total, apply("mul_plain_ntt", factor, plaintext))
    return total


def _bytes(subject: Subject, handle: Handle) -> bytes:
    return subject.evaluator.dump(handle, "none")


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("terms", [2, 3, 7, 64])
def test_residues_are_those_of_single_operations(
    variant: str, scheme: Scheme, chain: str, terms: int
) -> None:
    subject = _made(variant, scheme, chain)
    factors = _factors(subject, terms)
    plaintexts = _plaintexts(subject, factors[0], terms)
    fused = subject.evaluator.apply("multiply_accumulate", *factors, *plaintexts)
    assert _bytes(subject, fused) == _bytes(subject, _one_by_one(subject, factors, plaintexts))


@pytest.mark.parametrize("chain", ["50 bits", "40 and 60 bits"])
def test_sums_are_reduced_before_they_overflow(variant: str, scheme: Scheme, chain: str) -> None:
    """9000 terms are more than twice what low halves of 52 bits take (2^12), and of products at a prime of 60 bits, on
    average a quarter of its square, 2^10 are at 2^128. The same terms again and again: as often the sum of few."""
    subject = _made(variant, scheme, chain)
    factors, times = _factors(subject, 3), 3000
    plaintexts = _plaintexts(subject, factors[0], 3)
    fused = subject.evaluator.apply("multiply_accumulate", *factors * times, *plaintexts * times)
    expected = subject.times(_one_by_one(subject, factors, plaintexts), times)
    assert _bytes(subject, fused) == _bytes(subject, expected)


@where(has("mod_switch", "relinearize"))
def test_products_of_three_polynomials_and_lower_levels(variant: str, scheme: Scheme) -> None:
    """A product has a correction factor of its own in bgv one level down: then SEAL's calls balance it."""
    subject = _made(variant, scheme, "50 bits")
    apply, x, y = subject.evaluator.apply, *(subject.encrypted(subject.vector(i)) for i in (1, 2))
    x, y = apply("mod_switch", x), apply("mod_switch", y)
    product = apply("mul", x, y)
    for factors in ([product, product], [x, apply("relinearize", product)]):
        forms = [transformed(subject.evaluator, factor) for factor in factors]
        plaintexts = _plaintexts(subject, forms[0], 2)
        fused = apply("multiply_accumulate", *forms, *plaintexts)
        assert _bytes(subject, fused) == _bytes(subject, _one_by_one(subject, forms, plaintexts))
        expected = sum(
            subject.decrypted(factor).astype(object) * subject.vector(100 + i)
            for i, factor in enumerate(factors)
        )
        right(subject, restored(subject.evaluator, fused), np.array(expected % 12289, dtype=np.int64))


def test_operands_that_do_not_fit_are_refused(variant: str, scheme: Scheme) -> None:
    """Another level, or a product without randomness: neither is a sum of what is at hand."""
    subject = _made(variant, scheme, "50 bits")
    apply, (x, y) = subject.evaluator.apply, _factors(subject, 2)
    p, q = _plaintexts(subject, x, 2)
    lower = transformed(subject.evaluator, apply("mod_switch", subject.encrypted(subject.vector(3))))
    with pytest.raises(ValueError, match="mismatch"):
        apply("multiply_accumulate", x, lower, p, q)
    zero = prepared(subject.evaluator, np.zeros(1024, dtype=np.int64), x)
    with pytest.raises(Unsupported, match="without randomness"):
        apply("multiply_accumulate", x, y, zero, zero)
