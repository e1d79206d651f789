"""Right or wrong: decrypted slots against the cleartext reference."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ciphermark_adapters.contract import Vector
from ciphermark_core.words import Accuracy, Parameters

# Declared tolerance of one ckks operation. Fresh noise in a slot is about N · 2^4 at scale 1 (3.2 · √(4N/3)
# per coefficient, √N in the embedding, 4σ over the slots); five more bits cover one operation and key switching.
_TOLERANCE_BITS = 9
# Precision at which a ckks result of a deep computation still counts as right.
LEAST_PRECISION_BITS = 10.0


def tolerance(parameters: Parameters) -> float:
    """Largest right error of one operation, relative to max(1, max |expected|): 0 for bfv and bgv,
    N · 2^9 / scale for ckks."""
    if parameters.scale is None:
        return 0.0
    return parameters.ring_dimension * 2.0**_TOLERANCE_BITS / parameters.scale


def accuracy(actual: Sequence[Vector], expected: Sequence[Vector], tolerance: float) -> Accuracy:
    """Compare vectors, one per ciphertext, over the slots of ``expected``.

    Slots that are not finite are wrong. The tolerance is relative to max(1, max |expected|).
    """
    got = np.concatenate([a[: len(e)] for a, e in zip(actual, expected, strict=True)])
    want = np.concatenate(list(expected))
    if len(got) != len(want):
        return Accuracy(math.inf, len(want), tolerance, None if tolerance == 0 else -math.inf)
    if tolerance == 0:
        wrong = int(np.count_nonzero(got != want))
        return Accuracy(float(np.max(np.abs(got - want))), wrong, 0.0)
    error = np.abs(got - want)
    error[~np.isfinite(error)] = np.inf
    magnitude = max(1.0, float(np.max(np.abs(want))))
    worst = float(np.max(error))
    precision = -math.log2(worst / magnitude) if 0 < worst < math.inf else (-1074.0 if worst else 1074.0)
    return Accuracy(worst, int(np.count_nonzero(error > tolerance * magnitude)), tolerance, precision)


def is_right(found: Accuracy) -> bool:
    """No slot is wrong."""
    return found.wrong_slots == 0
