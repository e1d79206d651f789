"""Operands of every operation, with the slots that must come out by the cleartext reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ciphermark_contract import reference
from ciphermark_contract.interfaces import Handle, Row, Vector

from .harness import STEPS, Subject

TWO_CIPHERTEXTS = ("add", "sub", "mul")
WITH_PLAIN = ("add_plain", "sub_plain", "mul_plain")


@dataclass(frozen=True, slots=True)
class Example:
    """One row of operands, what must come out, and what each ciphertext of the row holds."""

    row: Row
    expected: Vector
    ciphertexts: Sequence[tuple[Handle, Vector]]


def primitive(subject: Subject, operation: str, seed: int) -> Example:
    """An example of a primitive operation: plaintext operands are encoded."""
    evaluator = subject.evaluator
    a, b = subject.vector(2 * seed), subject.vector(2 * seed + 1)
    x = subject.encrypted(a)
    if operation in TWO_CIPHERTEXTS:
        return _pair(subject, operation, (x, a), (subject.encrypted(b), b))
    if operation in WITH_PLAIN:
        scale = None if operation == "mul_plain" else evaluator.scale(x)
        row = (x, evaluator.encode(b, like=x, scale=scale))
        return Example(row, meaning(subject, operation, a, b), [(x, a)])
    if operation == "relinearize":
        product = evaluator.apply("mul", x, subject.encrypted(b))
        expected = meaning(subject, "mul", a, b)
        return Example((product,), expected, [(product, expected)])
    if operation == "rescale":
        product = evaluator.apply("mul_plain", x, evaluator.encode(b, like=x))
        expected = meaning(subject, "mul", a, b)
        return Example((product,), expected, [(product, expected)])
    return _single(subject, operation, (x, a), seed)


def managed(subject: Subject, operation: str, seed: int) -> Example:
    """An example of a managed operation: plaintext operands are vectors."""
    a, b = subject.vector(2 * seed), subject.vector(2 * seed + 1)
    x = subject.encrypted(a)
    if operation in TWO_CIPHERTEXTS:
        return _pair(subject, operation, (x, a), (subject.encrypted(b), b))
    if operation in WITH_PLAIN:
        return Example((x, b), meaning(subject, operation, a, b), [(x, a)])
    return _single(subject, operation, (x, a), seed)


def plausible(subject: Subject, operation: str) -> Row:
    """Operands of the right kinds for an operation that must be refused."""
    x = subject.encrypted(subject.vector(0))
    if operation in TWO_CIPHERTEXTS:
        return (x, subject.encrypted(subject.vector(1)))
    if operation in WITH_PLAIN:
        return (x, subject.evaluator.encode(subject.vector(1), like=x))
    return (x, STEPS[0]) if operation == "rotate" else (x,)


def meaning(subject: Subject, operation: str, a: Vector, *others: Any) -> Vector:
    """The reference's result on full slots."""
    slots = subject.parameters.slots
    full = [reference.padded(item, slots) if hasattr(item, "dtype") else item for item in (a, *others)]
    return reference.apply(operation, subject.parameters.plain_modulus, *full)


def _pair(subject: Subject, operation: str, left: tuple[Any, Vector], right: tuple[Any, Vector]) -> Example:
    (x, a), (y, b) = left, right
    return Example((x, y), meaning(subject, operation, a, b), [left, right])


def _single(subject: Subject, operation: str, operand: tuple[Any, Vector], seed: int) -> Example:
    x, a = operand
    if operation == "rotate":
        steps = STEPS[seed % len(STEPS)]
        return Example((x, steps), meaning(subject, operation, a, steps), [operand])
    return Example((x,), meaning(subject, operation, a), [operand])
