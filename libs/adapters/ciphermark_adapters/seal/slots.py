"""Which vectors a parameter set takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Parameters


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
        if values.ndim != 1 or len(values) > self.parameters.slots:
            raise ValueError(f"values of shape {values.shape} do not fit {self.parameters.slots} slots")
        if self.are_real:
            return np.ascontiguousarray(values, dtype=np.float64)
        integers = np.ascontiguousarray(values.astype(np.int64, casting="safe", copy=False))
        if len(integers) and not 0 <= integers.min() <= integers.max() < (self.parameters.plain_modulus or 0):
            raise ValueError(f"values must lie in [0, {self.parameters.plain_modulus})")
        return integers
