"""Operands of one operation, ready on the evaluator's side, with the slots that must come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ciphermark_contract import reference
from ciphermark_contract.interfaces import Row, Vector
from ciphermark_core.model import Case
from ciphermark_measure import data
from ciphermark_measure.session import Session

# An operation of a suite that is one of the contract with fixed steps.
_ROTATIONS = {"rotate_left": 1, "rotate_right": -1}
_TWO_CIPHERTEXTS = ("add", "sub", "mul")
_AT_SAME_SCALE = ("add_plain", "sub_plain")


@dataclass(frozen=True, slots=True)
class OperandSet:
    """One set of operands: the first operand's vectors, the rows, and the expected slots."""

    vectors: Sequence[Vector]
    rows: Sequence[Row]
    expected: Sequence[Vector]


def contract_operation(operation: str) -> str:
    """The contract's name of a suite's operation: ``rotate_left`` → ``rotate``."""
    return "rotate" if operation in _ROTATIONS else operation


def rotation_steps(operations: Sequence[str]) -> tuple[int, ...]:
    """The steps that these operations need rotation keys for."""
    return tuple(sorted({_ROTATIONS[name] for name in operations if name in _ROTATIONS}))


def build(session: Session, case: Case, seed: int, index: int) -> OperandSet:
    """The operand set number ``index`` of a case; everything encrypted afresh.

    Raises ``Exhausted`` where the operand itself cannot be made (a product for ``relinearize``, say).
    """
    slots = session.parameters.slots
    first = data.chunks(data.operand(case, seed, 2 * index), slots)
    second = data.chunks(data.operand(case, seed, 2 * index + 1), slots)
    pairs = list(zip(first, session.to_evaluator(first), second, strict=True))
    rows = [_row(session, case.operation, handle, other) for _, handle, other in pairs]
    expected = [_expected(session, case.operation, vector, other) for vector, _, other in pairs]
    return OperandSet(first, rows, expected)


def _row(session: Session, operation: str, handle: Any, other: Vector) -> Row:
    evaluator = session.evaluator
    if operation in _ROTATIONS:
        return (handle, _ROTATIONS[operation])
    if operation in _TWO_CIPHERTEXTS:
        return (handle, session.to_evaluator([other])[0])
    if operation == "mul_plain":
        return (handle, evaluator.encode(other, like=handle))
    if operation in _AT_SAME_SCALE:
        return (handle, evaluator.encode(other, like=handle, scale=evaluator.scale(handle)))
    if operation == "relinearize":
        return (evaluator.apply("mul", handle, session.to_evaluator([other])[0]),)
    if operation == "rescale":
        return (evaluator.apply("mul_plain", handle, evaluator.encode(other, like=handle)),)
    return (handle,)


def _expected(session: Session, operation: str, vector: Vector, other: Vector) -> Vector:
    slots, modulus = session.parameters.slots, session.parameters.plain_modulus
    a, b = reference.padded(vector, slots), reference.padded(other, slots)
    if operation in _ROTATIONS:
        return reference.apply("rotate", modulus, a, _ROTATIONS[operation])
    if operation in ("relinearize", "rescale"):
        return reference.apply("mul", modulus, a, b)
    if operation in ("negate", "square", "mod_switch", "rotate_columns"):
        return reference.apply(operation, modulus, a)
    return reference.apply(operation, modulus, a, np.asarray(b))
