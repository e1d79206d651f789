"""Values are right: exactly for bfv and bgv, within the declared tolerance for ckks."""

from __future__ import annotations

import numpy as np

from ciphermark_contract.interfaces import Handle, Vector
from ciphermark_measure import checking

from ..harness import Subject


def right(subject: Subject, ciphertext: Handle, expected: Vector, operations: int = 1) -> None:
    """The ciphertext decrypts to ``expected``: exactly, or within the tolerance of that many operations."""
    compare(subject, subject.decrypted(ciphertext), expected, operations)


def compare(subject: Subject, actual: Vector, expected: Vector, operations: int = 1) -> None:
    """Decrypted slots are ``expected``: all of them, in the contract's type."""
    parameters = subject.parameters
    assert actual.shape == (parameters.slots,), f"decrypt gives {actual.shape}, not all slots"
    kind = np.float64 if subject.scheme == "ckks" else np.int64
    assert actual.dtype == kind, f"decrypt gives {actual.dtype}, not {np.dtype(kind)}"
    found = checking.accuracy([actual], [expected], operations * checking.tolerance(parameters))
    assert checking.is_right(found), f"{found.wrong_slots} slots are wrong, error {found.max_abs_error}"
