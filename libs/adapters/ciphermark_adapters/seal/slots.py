"""Which vectors and numbers a parameter set takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Parameters

_MOST = 2.0**62  # of a number as the native module has it: an integer of 64 bits


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a parameter set."""

    parameters: Parameters

    @property
    def are_real(self) -> bool:
        """Whether slots hold reals (ckks)."""
        return self.parameters.spec.scheme == "ckks"

    def checked(self, values: Vector) -> Vector:
        """The vector as the native module wants it; raises ``ValueError`` for values that do not fit."""
        found = self.typed(values)
        if not self.are_real and len(found) and not 0 <= found.min() <= found.max() < self._modulus:
            raise ValueError(f"values must lie in [0, {self._modulus})")
        return found

    def typed(self, values: Vector) -> Vector:
        """The vector with the numbers that the native module wants, in whatever range they are; raises ``ValueError``
        for a vector of too many.
        """
        if values.ndim != 1 or len(values) > self.parameters.slots:
            raise ValueError(f"values of shape {values.shape} do not fit {self.parameters.slots} slots")
        if self.are_real:
            return np.ascontiguousarray(values, dtype=np.float64)
        return np.ascontiguousarray(values.astype(np.int64, casting="safe", copy=False))

    def numbers(self, values: Sequence[float]) -> list[int]:
        """Numbers for all slots as the native module wants them: multiples of the scale, or residues of t around 0.
        Raises ``ValueError`` for those that do not fit.
        """
        if self.are_real:
            multiples = np.rint(np.asarray(values, dtype=np.float64) * (self.parameters.scale or 1.0))
            if not (np.abs(multiples) < _MOST).all():
                raise ValueError("numbers times the scale are below 2^62")
            return [int(multiple) for multiple in multiples]
        modulus = self._modulus
        if not all(float(value).is_integer() for value in values):
            raise ValueError("numbers of bfv and bgv are whole")
        return [(int(value) + modulus // 2) % modulus - modulus // 2 for value in values]

    @property
    def _modulus(self) -> int:
        """t (bfv, bgv)."""
        return self.parameters.plain_modulus or 0
