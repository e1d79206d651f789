"""Values are right: exactly for bfv and bgv, within the declared tolerance for ckks."""

from __future__ import annotations

import numpy as np

from ciphermark_contract import checking
from ciphermark_contract.interfaces import Handle, Vector
from ciphermark_contract.operations import OPERATIONS

from ..harness import Subject
from . import noise_bound


def right(
    subject: Subject, ciphertext: Handle, expected: Vector, operations: int = 1, operation: str = "mul"
) -> None:
    """The ciphertext decrypts to ``expected``: exactly, or within the tolerance of ``operation``, so many times."""
    compare(subject, subject.decrypted(ciphertext), expected, operations, operation)


def compare(
    subject: Subject, actual: Vector, expected: Vector, operations: int = 1, operation: str = "mul"
) -> None:
    """Decrypted slots are ``expected``: all of them, in the contract's type."""
    parameters = subject.parameters
    assert actual.shape == (parameters.slots,), f"decrypt gives {actual.shape}, not all slots"
    kind = np.float64 if subject.scheme == "ckks" else np.int64
    assert actual.dtype == kind, f"decrypt gives {actual.dtype}, not {np.dtype(kind)}"
    _require_within(
        actual, expected, operations * checking.tolerance(parameters, operation=OPERATIONS[operation])
    )


def right_product(subject: Subject, ciphertext: Handle, expected: Vector) -> None:
    """The same of a product that was rescaled while it had three polynomials."""
    error = noise_bound.rescaled_product(subject.parameters) if subject.scheme == "ckks" else 0.0
    _require_within(subject.decrypted(ciphertext), expected, error)


def _require_within(actual: Vector, expected: Vector, error: float) -> None:
    found = checking.accuracy([actual], [expected], error)
    assert checking.is_right(found), f"{found.incorrect_slots} slots are wrong, error {found.max_abs_error}"
