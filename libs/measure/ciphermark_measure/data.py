"""Operand vectors: seeded, different for every operand and every set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Case

# Factors of ckks stay within [0.9, 1], so that a product repeated to the end of any chain neither grows nor vanishes.
_LEAST_FACTOR = 0.9


def operand(case: Case, seed: int, index: int, *, more: int = 0, is_factor: bool = False) -> Vector:
    """The vector number ``index`` of a case: ``case.size`` values; those with ``more`` > 0 are further ones of it.

    bfv, bgv: integers in [1, t). ckks: reals in [−1, 1], or in [0.9, 1] for a factor that is
    multiplied repeatedly. Pattern ``same`` repeats one value.
    """
    generator = np.random.default_rng([seed, index, *([more] if more > 0 else [])])
    count = 1 if case.data_pattern == "same" else case.size
    values: Vector
    if case.parameters.scheme != "ckks":
        assert case.parameters.plain_modulus is not None
        values = generator.integers(1, case.parameters.plain_modulus, count, dtype=np.int64)
    else:
        values = generator.uniform(_LEAST_FACTOR if is_factor else -1.0, 1.0, count)
    return np.resize(values, case.size)


def chunks(values: Vector, slots: int) -> Sequence[Vector]:
    """The vector cut into pieces of at most ``slots`` values, one per ciphertext."""
    return [values[start : start + slots] for start in range(0, len(values), slots)]
