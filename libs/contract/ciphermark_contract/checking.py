"""Correctness: decrypted slots against the cleartext reference."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np

from ciphermark_contract.bound import Vector
from ciphermark_contract.operations import OPERATIONS, Operation
from ciphermark_core.model import Accuracy, Parameters

# Represents an error without bound: JSON has no infinity.
UNBOUNDED = sys.float_info.max
# Precision of a result without any error: the smallest float is 2^-1074.
_MAX_BITS = 1074.0


def tolerance(
    parameters: Parameters, ciphertexts: int = 2, operation: Operation = OPERATIONS["mul"]
) -> float:
    """Maximum error of a correct result of one operation, relative to max(1, max |expected|): 0 for bfv and bgv.

    For ckks it is the bound of the operation's noise model for ``ciphertexts`` operands, which noise exceeds less than
    once in 10^9 times (see :mod:`.noise_bound`). The bound of ``mul`` covers all operations that rescale, relinearize
    or rotate once.

    At scales with any precision it is far below the difference to an incorrect slot: 2^-7.6 at N = 4096 with a
    scale of 30 bits, and 2^-16 at N = 8192 and 2^-13 at N = 32768 with 40 bits.
    """
    return 0.0 if parameters.scale is None else operation.error(parameters, ciphertexts)


def accuracy(
    actual: Sequence[Vector], expected: Sequence[Vector], tolerance: float, *, is_absolute: bool = False
) -> Accuracy:
    """Compare vectors, one per ciphertext, over the slots of ``expected``.

    Slots that are not finite are incorrect. The tolerance is relative to max(1, max |expected|) unless ``is_absolute``.
    """
    got = np.concatenate([a[: len(e)] for a, e in zip(actual, expected, strict=True)])
    want = np.concatenate(list(expected))
    is_exact = tolerance == 0
    if len(got) != len(want):
        return Accuracy(UNBOUNDED, len(want), tolerance, None if is_exact else _precision_bits(UNBOUNDED))
    error = np.abs(got - want)
    worst = float(np.max(error)) if np.all(np.isfinite(error)) else UNBOUNDED
    if is_exact:
        return Accuracy(worst, int(np.count_nonzero(got != want)), tolerance)
    magnitude = max(1.0, float(np.max(np.abs(want))))
    largest = tolerance if is_absolute else tolerance * magnitude
    wrong = int(np.count_nonzero(~(error <= largest)))  # NaN is not within anything
    return Accuracy(worst, wrong, tolerance, _precision_bits(worst / magnitude))


def _precision_bits(relative_error: float) -> float:
    return -math.log2(relative_error) if relative_error else _MAX_BITS


def is_right(found: Accuracy) -> bool:
    """Whether no slot is incorrect."""
    return found.incorrect_slots == 0
