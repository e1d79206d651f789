"""What adapters of Python wrappers around SEAL share: calls timed bare, and errors that the contract knows."""

from __future__ import annotations

import numpy as np

from ciphermark_adapters.library_bound import LibraryBound
from ciphermark_contract.interfaces import Exhausted, Unsupported, Vector

_EXHAUSTED = ("scale out of bounds", "end of modulus switching chain reached")
_TRANSPARENT = "result ciphertext is transparent"
_MISFIT = (
    "scale mismatch",
    "encrypted1 and encrypted2",
    "encrypted and plain",
    "encrypted_ntt and plain_ntt",
    "Galois key not present",
)


class SealBound(LibraryBound):
    """Calls of the library, its errors translated."""

    errors = (ValueError, RuntimeError)  # what the wrappers raise for SEAL's C++ exceptions

    @staticmethod
    def translated(error: Exception) -> Exception:
        text = str(error)
        if text in _EXHAUSTED:
            return Exhausted(f"SEAL: {text}")
        if text == _TRANSPARENT:
            return Unsupported(f"SEAL refuses results without randomness, such as x - x: {text}")
        if text.startswith(_MISFIT):
            return Unsupported(f"SEAL: {text}; operands must have one level and one scale, rotations a key")
        return error


def padded(values: Vector, slots: int) -> Vector:
    """The vector with zeros up to all slots, in memory that C++ takes: contiguous and writable."""
    if len(values) == slots:
        return np.require(values, requirements=("C", "W"))
    full = np.zeros(slots, dtype=values.dtype)
    full[: len(values)] = values
    return full
