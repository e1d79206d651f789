"""Code for both sides: bytes, scales, loops over the library's calls, public material.

The polynomials of a ciphertext that the wrapper deserializes belong to the wrapper's own instances of OpenFHE's
templates, which its wheel (1.6.1.0.22.4) has compiled without optimization. Copying such a ciphertext, as every
addition does, is many times slower: about 0.7 ms instead of 0.05 ms at N = 8192. Times would be those of the wheel's
build, not of OpenFHE. Adding a zero that the library created gives a library ciphertext: see :class:`Naturalizer`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import openfhe

from ciphermark_adapters.bindings import LibraryBound
from ciphermark_adapters.openfhe.parameters import LIBRARY_ERRORS
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Exhausted, Handle, Unsupported, Vector
from ciphermark_contract.keys import KeyRequest
from ciphermark_core.model import Parameters


def dump(ciphertext: Handle, compression: str) -> bytes:
    """OpenFHE's BINARY format."""
    requests.require_uncompressed(compression, "OpenFHE")
    data: bytes = openfhe.Serialize(ciphertext, openfhe.BINARY)
    return data


def load(data: bytes) -> Handle:
    """Read a ciphertext; raises ``RuntimeError`` or ``ValueError`` for damaged bytes."""
    ciphertext = openfhe.DeserializeCiphertextString(data, openfhe.BINARY)
    if ciphertext is None:
        raise ValueError("the data contains no OpenFHE ciphertext")
    return ciphertext


def nominal_scale(ciphertext: Handle, parameters: Parameters) -> float:
    """The ckks scale that OpenFHE records: a power of the parameter set's scale."""
    scale: float = (parameters.scale or 1.0) ** ciphertext.GetNoiseScaleDeg()
    return scale


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
        """An exact encryption of zeros: the difference of a ciphertext with itself, under a temporary key."""
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


_EXHAUSTED = ("Too few towers", "Removing last element", "Not enough levels to perform Bootstrapping")
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
    """The vector padded with zeros to all slots; raises ``ValueError`` for values that do not fit."""
    slots, modulus = parameters.slots, parameters.plain_modulus
    if values.ndim != 1 or len(values) > slots:
        raise ValueError(f"values of shape {values.shape} do not fit {slots} slots")
    full = np.zeros(slots, dtype=np.float64 if modulus is None else np.int64)
    full[: len(values)] = values
    if modulus is not None and not 0 <= full.min() <= full.max() < modulus:
        raise ValueError(f"values must lie in [0, {modulus})")
    return full


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """Context and keys in OpenFHE's BINARY format; an absent key is ``None``. Keys of rotations and other automorphisms
    follow one by one, ``automorphism_keys`` in number, and then those of bootstrapping.

    ``switching_key`` leads to a second secret key of the owner, with the name ``second_key_tag``.
    ``key_tag`` is the name under which OpenFHE keeps the keys of one owner, apart from those of others. The public
    key is not in it: an evaluator does not encrypt.
    """

    parameters: Parameters
    key_tag: str
    context: bytes
    relinearization_keys: bytes | None
    automorphism_keys: int
    switching_key: bytes | None
    second_key_tag: str
    keys: KeyRequest
