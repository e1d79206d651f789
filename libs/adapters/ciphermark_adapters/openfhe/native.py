"""Ciphertexts read from bytes, made over into ones that the OpenFHE library itself made.

The polynomials of a ciphertext that the wrapper deserializes belong to the wrapper's own instances of OpenFHE's
templates, which its wheel (1.6.1.0.22.4) has compiled without optimization. Whatever copies such a ciphertext, every
addition for one, is many times slower (about 0.7 ms instead of 0.05 ms at N = 8192): figures would be those of the
wheel's build, not of OpenFHE. Added to a zero that the library made, they are the library's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ciphermark_contract.interfaces import Handle


class Naturalizer:
    """Copies loaded ciphertexts, bit by bit, into ciphertexts of the library."""

    def __init__(self, context: Any, *, is_real: bool) -> None:
        self._context = context
        self._is_real = is_real
        self._zeros: dict[tuple[int, int], Handle] = {}

    def copied(self, loaded: Handle) -> Handle:
        """The same ciphertext: polynomials, level, scale and key tag."""
        result = self._zero(loaded.GetLevel(), loaded.NumberCiphertextElements()).Clone()
        result.SetKeyTag(loaded.GetKeyTag())
        result.SetNoiseScaleDeg(loaded.GetNoiseScaleDeg())
        result.SetScalingFactor(loaded.GetScalingFactor())
        result.SetScalingFactorInt(loaded.GetScalingFactorInt())
        result.SetSlots(loaded.GetSlots())
        self._context.EvalAddInPlace(result, loaded)
        return result

    def _zero(self, level: int, polynomials: int) -> Handle:
        """A ciphertext of zeros, exactly: the difference of one with itself, under a key that is thrown away."""
        key = level, polynomials
        if key not in self._zeros:
            self._zeros[key] = self._made(level, polynomials)
        return self._zeros[key]

    def _made(self, level: int, polynomials: int) -> Handle:
        context = self._context
        if polynomials > 2:
            return context.EvalMultNoRelin(self._zero(level, polynomials - 1), self._zero(level, 2))
        if level > 0:
            return context.LevelReduce(self._zero(0, 2), None, level)
        encode = context.MakeCKKSPackedPlaintext if self._is_real else context.MakePackedPlaintext
        plaintext = encode(np.zeros(1, dtype=np.float64 if self._is_real else np.int64))
        some = context.Encrypt(context.KeyGen().publicKey, plaintext)
        return context.EvalSub(some, some)
