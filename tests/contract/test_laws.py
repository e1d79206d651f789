"""The laws of arithmetic hold on ciphertexts, whatever the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciphermark_contract.interfaces import Handle, Vector
from ciphermark_contract.operations import padded

from . import cells, examples
from .checks.values import right
from .harness import PLAIN_MODULUS, STEPS, Subject

FEW = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# Values modulo t; in ckks the same, spread over [−1, 1].
VALUES = st.lists(
    st.integers(0, PLAIN_MODULUS - 1) | st.sampled_from([0, 1, PLAIN_MODULUS - 1]), min_size=1, max_size=6
)


def _vector(subject: Subject, values: list[int]) -> Vector:
    if subject.scheme == "ckks":
        return np.array(values) / (PLAIN_MODULUS - 1) * 2.0 - 1.0
    return np.array(values, dtype=np.int64)


def _encrypted(subject: Subject, *lists: list[int]) -> list[Handle]:
    return [subject.encrypted(_vector(subject, values)) for values in lists]


def _equal(subject: Subject, left: Handle, right_side: Handle) -> None:
    right(subject, left, subject.decrypted(right_side), operations=4)


@cells.each("operation", lambda cell: [name for name in ("add", "mul") if name in cell.operations])
@FEW
@given(a=VALUES, b=VALUES)
def test_commutativity(subject: Subject, operation: str, a: list[int], b: list[int]) -> None:
    do = subject.evaluator.apply
    x, y = _encrypted(subject, a, b)
    _equal(subject, do(operation, x, y), do(operation, y, x))


@FEW
@given(a=VALUES, b=VALUES, c=VALUES)
def test_addition_is_associative(subject: Subject, a: list[int], b: list[int], c: list[int]) -> None:
    do = subject.evaluator.apply
    x, y, z = _encrypted(subject, a, b, c)
    _equal(subject, do("add", do("add", x, y), z), do("add", x, do("add", y, z)))


@cells.where(cells.has("mul"))
@FEW
@given(a=VALUES, b=VALUES, c=VALUES)
def test_multiplication_distributes_over_addition(
    subject: Subject, a: list[int], b: list[int], c: list[int]
) -> None:
    do = subject.evaluator.apply
    x, y, z = _encrypted(subject, a, b, c)
    _equal(subject, do("mul", x, do("add", y, z)), do("add", do("mul", x, y), do("mul", x, z)))


@cells.where(cells.has("sub"))
@FEW
@given(a=VALUES, b=VALUES)
def test_what_is_added_can_be_subtracted(subject: Subject, a: list[int], b: list[int]) -> None:
    do = subject.evaluator.apply
    x, y = _encrypted(subject, a, b)
    _equal(subject, do("sub", do("add", x, y), y), x)


@cells.where(cells.has("sub", "negate"))
@FEW
@given(a=VALUES, b=VALUES)
def test_subtraction_adds_the_negation(subject: Subject, a: list[int], b: list[int]) -> None:
    do = subject.evaluator.apply
    x, y = _encrypted(subject, a, b)
    _equal(subject, do("sub", x, y), do("add", x, do("negate", y)))
    _equal(subject, do("negate", do("negate", x)), x)


@cells.where(cells.has("square", "mul"))
@FEW
@given(a=VALUES)
def test_a_square_is_a_product(subject: Subject, a: list[int]) -> None:
    do = subject.evaluator.apply
    (x,) = _encrypted(subject, a)
    _equal(subject, do("square", x), do("mul", x, x))


@FEW
@given(a=VALUES, b=VALUES)
def test_a_plain_operand_counts_like_an_encrypted_one(subject: Subject, a: list[int], b: list[int]) -> None:
    do, evaluator = subject.evaluator.apply, subject.evaluator
    x, y = _encrypted(subject, a, [*b, 1])  # not all zero: a product with the plaintext 0 may be refused
    plain = evaluator.encode(_vector(subject, [*b, 1]), like=x)
    for operation in ("add", "sub", "mul"):
        if len(subject.able([operation, f"{operation}_plain"])) == 2:
            _equal(subject, do(f"{operation}_plain", x, plain), do(operation, x, y))


@cells.where(cells.has("rotate"))
@pytest.mark.parametrize("steps", [step for step in STEPS if step > 0])
@FEW
@given(a=VALUES)
def test_a_rotation_can_be_turned_back(subject: Subject, steps: int, a: list[int]) -> None:
    do = subject.evaluator.apply
    (x,) = _encrypted(subject, a)
    there = do("rotate", x, steps)
    moved = padded(_vector(subject, a), subject.parameters.slots)
    right(subject, there, examples.meaning(subject, "rotate", moved, steps), operations=4)
    _equal(subject, do("rotate", there, -steps), x)


@cells.where(cells.has("rotate_columns"))
@pytest.mark.schemes("bfv", "bgv")
@FEW
@given(a=VALUES)
def test_columns_swap_back(subject: Subject, a: list[int]) -> None:
    do = subject.evaluator.apply
    (x,) = _encrypted(subject, a)
    there = do("rotate_columns", x)
    full = padded(_vector(subject, a), subject.parameters.slots)
    right(subject, there, examples.meaning(subject, "rotate_columns", full))
    _equal(subject, do("rotate_columns", there), x)


@cells.where(cells.has("rotate", "relinearize", "mul"))
@FEW
@given(a=VALUES, b=VALUES)
def test_rotation_goes_through_operations(subject: Subject, a: list[int], b: list[int]) -> None:
    """rotate(x·y) = rotate(x)·rotate(y): the slots stay aligned."""
    do = subject.evaluator.apply
    x, y = _encrypted(subject, a, b)
    product = do("relinearize", do("mul", x, y))
    _equal(subject, do("rotate", product, 1), do("mul", do("rotate", x, 1), do("rotate", y, 1)))
