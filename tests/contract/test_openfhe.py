"""What is particular to OpenFHE: plaintext moduli with which it decrypts wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_core import primes
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import ParameterSpec

from . import harness
from .checks.refusals import attempted
from .checks.values import right

pytestmark = pytest.mark.variants("openfhe")

RING = 1024
ENCRYPTIONS = 10


def _batching(below: int) -> Iterator[int]:
    """The plaintext moduli below a number that give slots, the largest first."""
    step = 2 * RING
    candidates = range((below - 2) // step * step + 1, 1, -step)
    return filter(primes.is_prime, candidates)


def _require_right(variant: str, spec: ParameterSpec) -> None:
    """Random slots and the largest ones come back, and so do sums."""
    subject = harness.subject_of(registry.declaration(variant), harness.adapter(variant), spec)
    modulus = subject.parameters.plain_modulus
    assert modulus is not None
    for seed in range(ENCRYPTIONS):
        values = subject.vector(seed) if seed % 2 else np.full(RING, modulus - 1)
        ciphertext = subject.encrypted(values)
        right(subject, ciphertext, values)
        right(subject, subject.evaluator.apply("add", ciphertext, ciphertext), 2 * values % modulus)


def _bfv(count: int, plain_modulus: int) -> ParameterSpec:
    return ParameterSpec("bfv", RING, (56,) * (count + 1), plain_modulus, security=0)


@pytest.mark.parametrize("count", [2, 4, 7])
def test_bfv_is_right_up_to_its_largest_plaintext_modulus(variant: str, count: int) -> None:
    """Two residues for each prime, modulo t, add up to 2^53 at most; where they may be more the modulus is refused."""
    limit, adapter = 2**52 // count, harness.adapter(variant)
    largest = next(t for t in _batching(limit) if attempted(lambda t=t: adapter.resolve(_bfv(count, t)))[0])
    assert largest > 0.99 * limit
    _require_right(variant, _bfv(count, largest))
    for above in islice(_batching(limit + limit // 64), 3):
        with pytest.raises(Unsupported, match="rounds with doubles while decrypting"):
            adapter.resolve(_bfv(count, above))


def test_a_bfv_plaintext_modulus_with_an_inverse_rounded_up_is_refused(variant: str) -> None:
    """With 4 primes, 198 of 400 encryptions of t − 1 under the first came back wrong; under the second none."""
    wrong, right_one = 1124800394905601, 1124800395132929
    with pytest.raises(Unsupported, match="rounds with doubles while decrypting"):
        harness.adapter(variant).resolve(_bfv(4, wrong))
    _require_right(variant, _bfv(4, right_one))


def test_a_bfv_plaintext_modulus_above_the_primes_is_refused(variant: str) -> None:
    spec = ParameterSpec("bfv", RING, (40,) * 6, primes.batching_modulus(44, RING), security=0)
    with pytest.raises(Unsupported, match="must be below"):
        harness.adapter(variant).resolve(spec)


def test_bgv_is_right_up_to_32_bits_of_plaintext_modulus(variant: str) -> None:
    chain = (56, 56, 56)
    _require_right(variant, ParameterSpec("bgv", RING, chain, primes.batching_modulus(32, RING), security=0))
    for bits in (33, 40):
        spec = ParameterSpec("bgv", RING, chain, primes.batching_modulus(bits, RING), security=0)
        with pytest.raises(Unsupported, match="plaintext moduli of at most 32 bits"):
            harness.adapter(variant).resolve(spec)
