"""The laws of arithmetic hold on ciphertexts, whatever the values."""

from __future__ import annotations

import itertools

import pytest

from ciphermark_contract.interfaces import Handle, Vector

from . import cells, examples
from .checks.values import right
from .harness import PLAIN_MODULUS, STEPS, Subject


def _vectors(subject: Subject, count: int) -> list[Vector]:
    """Random values in all slots, the borders of the plaintext space among them, in every combination."""
    vectors = [subject.vector(seed) for seed in range(count)]
    borders = (0.0, 1.0, -1.0) if subject.scheme == "ckks" else (0, 1, PLAIN_MODULUS - 1)
    for vector, values in zip(
        vectors, zip(*itertools.product(borders, repeat=count), strict=True), strict=True
    ):
        vector[: len(values)] = values
    return vectors


def _encrypted(subject: Subject, count: int) -> list[Handle]:
    return [subject.encrypted(vector) for vector in _vectors(subject, count)]


def _equal(subject: Subject, left: Handle, right_side: Handle) -> None:
    right(subject, left, subject.decrypted(right_side), operations=4)


@cells.each("operation", lambda cell: [name for name in ("add", "mul") if name in cell.operations])
def test_commutativity(subject: Subject, operation: str) -> None:
    do = subject.evaluator.apply
    x, y = _encrypted(subject, 2)
    _equal(subject, do(operation, x, y), do(operation, y, x))


def test_addition_is_associative(subject: Subject) -> None:
    do = subject.evaluator.apply
    x, y, z = _encrypted(subject, 3)
    _equal(subject, do("add", do("add", x, y), z), do("add", x, do("add", y, z)))


@cells.where(cells.has("mul"))
def test_multiplication_distributes_over_addition(subject: Subject) -> None:
    do = subject.evaluator.apply
    x, y, z = _encrypted(subject, 3)
    _equal(subject, do("mul", x, do("add", y, z)), do("add", do("mul", x, y), do("mul", x, z)))


@cells.where(cells.has("sub"))
def test_what_is_added_can_be_subtracted(subject: Subject) -> None:
    do = subject.evaluator.apply
    x, y = _encrypted(subject, 2)
    _equal(subject, do("sub", do("add", x, y), y), x)


@cells.where(cells.has("sub", "negate"))
def test_subtraction_adds_the_negation(subject: Subject) -> None:
    do = subject.evaluator.apply
    x, y = _encrypted(subject, 2)
    _equal(subject, do("sub", x, y), do("add", x, do("negate", y)))
    _equal(subject, do("negate", do("negate", x)), x)


@cells.where(cells.has("square", "mul"))
def test_a_square_is_a_product(subject: Subject) -> None:
    do = subject.evaluator.apply
    (x,) = _encrypted(subject, 1)
    _equal(subject, do("square", x), do("mul", x, x))


def test_a_plain_operand_counts_like_an_encrypted_one(subject: Subject) -> None:
    do, evaluator = subject.evaluator.apply, subject.evaluator
    x, y = _encrypted(subject, 2)
    plain = evaluator.encode(_vectors(subject, 2)[1], like=x)
    for operation in ("add", "sub", "mul"):
        if len(subject.able([operation, f"{operation}_plain"])) == 2:
            _equal(subject, do(f"{operation}_plain", x, plain), do(operation, x, y))


@cells.where(cells.has("rotate"))
@pytest.mark.parametrize("steps", [step for step in STEPS if step > 0])
def test_a_rotation_can_be_turned_back(subject: Subject, steps: int) -> None:
    do = subject.evaluator.apply
    (x,) = _encrypted(subject, 1)
    there = do("rotate", x, steps)
    (values,) = _vectors(subject, 1)
    right(subject, there, examples.meaning(subject, "rotate", values, steps), operations=4)
    _equal(subject, do("rotate", there, -steps), x)


@cells.where(cells.has("rotate_columns"))
@pytest.mark.schemes("bfv", "bgv")
def test_columns_swap_back(subject: Subject) -> None:
    do = subject.evaluator.apply
    (x,) = _encrypted(subject, 1)
    there = do("rotate_columns", x)
    right(subject, there, examples.meaning(subject, "rotate_columns", *_vectors(subject, 1)))
    _equal(subject, do("rotate_columns", there), x)


@cells.where(cells.has("rotate", "relinearize", "mul"))
def test_rotation_goes_through_operations(subject: Subject) -> None:
    """rotate(x·y) = rotate(x)·rotate(y): the slots stay aligned."""
    do = subject.evaluator.apply
    x, y = _encrypted(subject, 2)
    product = do("relinearize", do("mul", x, y))
    _equal(subject, do("rotate", product, 1), do("mul", do("rotate", x, 1), do("rotate", y, 1)))
