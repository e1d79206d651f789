"""``weighted_sum`` yields what products with constants and additions yield one by one, to the last residue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported
from ciphermark_contract.tracing import fresh_inputs, trace
from ciphermark_core.model import ParameterSpec, Scheme

from . import harness
from .cells import has, where
from .harness import Subject

pytestmark = [
    pytest.mark.schemes("bfv", "bgv", "ckks"),
    where(has("weighted_sum")),
    pytest.mark.variants("seal", "seal-hexl", "lattigo"),
]

# Primes whose products are taken in 32 bits (up to 29), in 52 (up to 50) and in 64; the smallest ring has fewer places
# than a block of sums.
CHAINS = {
    "28 and 34 bits": (1024, (34, 28, 29, 34)),
    "40 and 50 bits": (1024, (40, 50, 50)),
    "60 bits": (1024, (60, 51, 60)),
    "a ring of 64": (64, (50, 28, 60)),
}
SCALE_BITS = 20
# Multiples of it are whole at the scale: how a library rounds others is no matter here.
UNIT = 2.0**-8


@cache
def _made(variant: str, scheme: Scheme, chain: str) -> Subject:
    ring, bits = CHAINS[chain]
    plain = {"scale_bits": SCALE_BITS} if scheme == "ckks" else {"plain_modulus": 12289}
    spec = ParameterSpec(scheme, ring, bits, security=0, **plain)
    return harness.subject_with(variant, spec, KeyRequest.of(relinearization=True))


def _numbers(subject: Subject, count: int) -> list[float]:
    """One is 0, in ckks some are negative; SEAL's bfv lifts a negative constant to another one with the same slots."""
    is_real = subject.parameters.scale is not None
    drawn = np.random.default_rng(count).integers(-2000 if is_real else 1, 2000, size=count)
    drawn[0] = 0
    return [int(number) * (UNIT if is_real else 1) for number in drawn]


def _one_by_one(subject: Subject, several: Sequence[Handle], numbers: Sequence[float]) -> Handle:
    evaluator, slots = subject.evaluator, subject.parameters.slots
    total = None
    for item, number in zip(several, numbers, strict=True):
        if number:
            plaintext = evaluator.encode(np.full(slots, number), like=item)
            product = evaluator.apply("mul_plain", item, plaintext)
            total = product if total is None else evaluator.apply("add", total, product)
    return total


def _ciphertexts(subject: Subject, count: int) -> list[Handle]:
    return [subject.encrypted(subject.vector(i)) for i in range(count)]


def _bytes(subject: Subject, handle: Handle) -> bytes:
    return subject.evaluator.dump(handle, "none")


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("terms", [2, 3, 7])
def test_residues_are_those_of_single_operations(
    variant: str, scheme: Scheme, chain: str, terms: int
) -> None:
    subject = _made(variant, scheme, chain)
    several, numbers = _ciphertexts(subject, terms), _numbers(subject, terms)
    total = subject.evaluator.apply("weighted_sum", *several, *numbers)
    assert _bytes(subject, total) == _bytes(subject, _one_by_one(subject, several, numbers))


@pytest.mark.parametrize("chain", CHAINS)
def test_sums_are_reduced_before_they_overflow(variant: str, scheme: Scheme, chain: str) -> None:
    """3000 terms: of products at primes of 28, 50 and 60 bits 2^8, 2^28 and 2^8 fill the word that takes them. The same
    terms again and again are as often the sum of few."""
    subject = _made(variant, scheme, chain)
    several, numbers, times = _ciphertexts(subject, 3), _numbers(subject, 3), 1000
    total = subject.evaluator.apply("weighted_sum", *several * times, *numbers * times)
    once = subject.evaluator.apply("weighted_sum", *several, *numbers)
    assert _bytes(subject, total) == _bytes(subject, subject.times(once, times))


@pytest.mark.parametrize("sums", [2, 5, 33])
@pytest.mark.parametrize("threads", [1, 2])
def test_several_sums_of_a_program_are_those_of_single_operations(
    variant: str, scheme: Scheme, sums: int, threads: int
) -> None:
    """Sums of the same ciphertexts that follow one another are made in one pass, and others are not: a sum of two comes
    between, and what is made of sums takes the right ones."""
    subject = _made(variant, scheme, "28 and 34 bits")
    several = _ciphertexts(subject, 4)
    rows = [_numbers(subject, 4 + row)[-4:] for row in range(sums)]

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        some = [evaluator.apply("weighted_sum", *inputs, *row) for row in rows]
        other = evaluator.apply("weighted_sum", *inputs[:2], *rows[0][:2])
        more = [evaluator.apply("weighted_sum", *inputs, *row) for row in rows[:2]]
        return [*some, evaluator.apply("add", some[-1], other), evaluator.apply("add", *more), some[0]]

    evaluator = subject.evaluator
    traced = trace(circuit, subject.parameters, fresh_inputs(subject.parameters, 4))
    prepared = evaluator.prepare_constants(traced.program, traced.constants)
    bound = evaluator.bind_program(traced.program, several, prepared, threads)
    expected = [_bytes(subject, item) for item in circuit(evaluator, several)]
    for _ in range(3):
        bound.run(2)
        assert [_bytes(subject, item) for item in bound.results()] == expected


def test_what_has_no_sum_is_refused(variant: str, scheme: Scheme) -> None:
    """Another level, numbers that no residue stands for, and, by SEAL, a sum without randomness."""
    subject = _made(variant, scheme, "40 and 50 bits")
    evaluator, (x, y) = subject.evaluator, _ciphertexts(subject, 2)
    with pytest.raises(ValueError, match="mismatch"):
        evaluator.apply("weighted_sum", x, evaluator.apply("mod_switch", y), 1, 1)
    if variant.startswith("seal"):
        with pytest.raises(Unsupported, match="without randomness"):
            evaluator.apply("weighted_sum", x, y, 0, 0)
    wrong, complaint = (2.0**50, "below 2") if scheme == "ckks" else (0.5, "whole")
    with pytest.raises(ValueError, match=complaint):
        evaluator.apply("weighted_sum", x, y, 1, wrong)
