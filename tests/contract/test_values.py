"""Which vectors go in and come out: all slots, padded with zeros, to the borders of the plaintext space."""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_contract.interfaces import Unsupported

from . import cells, examples
from .checks.refusals import attempted
from .checks.values import compare, right
from .harness import Subject


def _edges(subject: Subject) -> np.ndarray:
    if subject.scheme == "ckks":
        return np.array([0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 1 / 3])
    last = subject.parameters.plain_modulus - 1
    return np.array([0, 1, last, last, 0, last // 2, last // 2 + 1], dtype=np.int64)


@pytest.mark.parametrize("length", [0, 1, 7, None])
def test_short_vectors_are_padded_with_zeros(subject: Subject, length: int | None) -> None:
    values = subject.vector(3, length)
    ciphertext = subject.encrypted(values)
    right(subject, ciphertext, examples.meaning(subject, "add", values, 0 * values))


def test_a_plaintext_is_padded_too(subject: Subject) -> None:
    a, b = subject.vector(0), subject.vector(1, 5)
    for operation in ("add_plain", "mul_plain"):
        ciphertext = subject.encrypted(a)
        expected = examples.meaning(subject, operation, a, b)
        if operation in subject.declared.operations[subject.scheme]:
            plaintext = subject.evaluator.encode(b, like=ciphertext)
            right(subject, subject.evaluator.apply(operation, ciphertext, plaintext), expected)
        if operation in subject.declared.managed[subject.scheme]:
            right(subject, subject.managed.apply(operation, ciphertext, b), expected)


def test_too_many_values_are_an_error(subject: Subject) -> None:
    values = subject.vector(0, subject.parameters.slots + 1)
    with pytest.raises(ValueError, match=r"\d"):
        subject.owner.encrypt(values)
    with pytest.raises(ValueError, match=r"\d"):
        subject.evaluator.encode(values)


def test_borders_of_the_plaintext_space(subject: Subject) -> None:
    a, b = _edges(subject), _edges(subject)[::-1]
    for operation in ("add", "sub", "mul", "add_plain", "sub_plain", "mul_plain"):
        if operation not in subject.declared.operations[subject.scheme]:
            continue
        ciphertext = subject.encrypted(a)
        is_plain = operation.endswith("_plain")
        other = subject.evaluator.encode(b, like=ciphertext) if is_plain else subject.encrypted(b)
        result = subject.evaluator.apply(operation, ciphertext, other)
        right(subject, result, examples.meaning(subject, operation, a, b))


@pytest.mark.parametrize("value", ["least", "greatest"])
def test_one_value_in_all_slots(subject: Subject, value: str) -> None:
    greatest = 1.0 if subject.scheme == "ckks" else subject.parameters.plain_modulus - 1
    values = np.full_like(subject.vector(0), 0 if value == "least" else greatest)
    ciphertext = subject.encrypted(values)
    right(subject, ciphertext, values)
    if "square" in subject.declared.operations[subject.scheme]:
        squared = subject.evaluator.apply("square", ciphertext)
        right(subject, squared, examples.meaning(subject, "square", values))


def test_encryption_and_decryption_are_bound_like_operations(subject: Subject) -> None:
    vectors = [subject.vector(seed, length) for seed, length in enumerate((None, 3, None))]
    encryption = subject.owner.bind("encrypt", [(values,) for values in vectors])
    assert encryption.run(2) > 0
    ciphertexts = encryption.results()
    decryption = subject.owner.bind("decrypt", [(ciphertext,) for ciphertext in ciphertexts])
    assert decryption.run(2) > 0
    for values, decrypted in zip(vectors, decryption.results(), strict=True):
        compare(subject, decrypted, examples.meaning(subject, "add", values, 0 * values))


@cells.where(cells.has_keys)
def test_encryption_is_not_deterministic(subject: Subject) -> None:
    values = subject.vector(0)
    both = [subject.owner.dump(subject.owner.encrypt(values), subject.compression) for _ in range(2)]
    assert both[0] != both[1]


@cells.where(cells.has("sub"))
def test_a_difference_of_equals_is_zero_or_refused(subject: Subject) -> None:
    """x − x has no randomness left: SEAL and what is built on it refuse such a result as transparent."""
    ciphertext = subject.encrypted(subject.vector(0))
    evaluator = subject.evaluator
    result, reason = attempted(lambda: evaluator.apply("sub", ciphertext, ciphertext))
    if result is None:
        assert "x - x" in reason
        with pytest.raises(Unsupported, match="x - x"):
            evaluator.bind("sub", [(ciphertext, ciphertext)]).run(1)
    else:
        right(subject, result, 0 * subject.vector(0))
