"""Between the contract's order of slots and HElib's, and between rotations and automorphisms.

HElib's slot i holds the plaintext polynomial's value at ζ^e(i), ζ a primitive 2N-th root of unity; the automorphism
X → X^k puts into slot i what was in the slot of exponent k·e(i). The exponents modulo 2N are ±3^c, c < N/2: 3 and −1
generate all odd numbers modulo a power of two. So the contract's slot c of row 0 is that of the exponent 3^c, and of
row 1 that of −3^c; X → X^(3^s) turns each row left by s, X → X^(−1) swaps the rows. In ckks the slots of e and −e are
conjugates of each other: HElib keeps one of them, and there is one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Parameters

_GENERATOR = 3


def rotation(ring_dimension: int, steps: int) -> int:
    """The exponent of the automorphism that turns rows left by ``steps``."""
    return pow(_GENERATOR, steps % (ring_dimension // 2), 2 * ring_dimension)


def exponent(ring_dimension: int, element: int) -> int:
    """The exponent, modulo 2N, of the automorphism X → X^k; −1 swaps the rows."""
    return element % (2 * ring_dimension)


@dataclass(frozen=True)
class Slots:
    """The slots of a parameter set whose exponents in HElib's order are ``exponents``."""

    parameters: Parameters
    exponents: Sequence[int]

    @property
    def are_real(self) -> bool:
        """Whether slots hold reals (ckks)."""
        return self.parameters.plain_modulus is None

    def ordered(self, values: Vector) -> Vector:
        """The vector, zeros up to all slots, in HElib's order; raises ``ValueError`` for values that do not fit."""
        slots, modulus = self.parameters.slots, self.parameters.plain_modulus
        if values.ndim != 1 or len(values) > slots:
            raise ValueError(f"values of shape {values.shape} do not fit {slots} slots")
        full = np.zeros(slots, dtype=np.float64 if modulus is None else np.int64)
        full[self._places[: len(values)]] = values
        if modulus is not None and not 0 <= full.min() <= full.max() < modulus:
            raise ValueError(f"values must lie in [0, {modulus})")
        return full

    def contract_order(self, values: Vector) -> Vector:
        """A vector in HElib's order, in the contract's."""
        return values[self._places]

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        """HElib's index of each slot of the contract."""
        m = 2 * self.parameters.ring_dimension
        index = {exponent: i for i, exponent in enumerate(self.exponents)}
        row = [pow(_GENERATOR, c, m) for c in range(m // 4)]
        if self.are_real:
            return np.array([index[e] if e in index else index[m - e] for e in row])
        return np.array([index[e] for e in (*row, *(m - e for e in row))])
