"""OpenFHE's calls as the contract wants them: timed bare, with errors the contract knows."""

from __future__ import annotations

import numpy as np

from ciphermark_adapters.library_bound import LibraryBound
from ciphermark_adapters.openfhe.contexts import LIBRARY_ERRORS
from ciphermark_contract.interfaces import Exhausted, Unsupported, Vector
from ciphermark_core.model import Parameters

_EXHAUSTED = ("Too few towers", "Removing last element")
_KEYLESS = ("is not found", "are not generated", "Call EvalMultKeyGen")


class OpenfheBound(LibraryBound):
    """Calls of the library, its errors translated."""

    errors = LIBRARY_ERRORS

    @staticmethod
    def translated(error: Exception) -> Exception:
        text = str(error)
        if any(words in text for words in _EXHAUSTED):
            return Exhausted(f"OpenFHE: {text}")
        if any(words in text for words in _KEYLESS):
            return Unsupported(f"OpenFHE: {text}")
        return error


def checked(values: Vector, parameters: Parameters) -> Vector:
    """The vector with zeros up to all slots; raises ``ValueError`` for values that do not fit."""
    slots, modulus = parameters.slots, parameters.plain_modulus
    if values.ndim != 1 or len(values) > slots:
        raise ValueError(f"values of shape {values.shape} do not fit {slots} slots")
    full = np.zeros(slots, dtype=np.float64 if modulus is None else np.int64)
    full[: len(values)] = values
    if modulus is not None and not 0 <= full.min() <= full.max() < modulus:
        raise ValueError(f"values must lie in [0, {modulus})")
    return full
