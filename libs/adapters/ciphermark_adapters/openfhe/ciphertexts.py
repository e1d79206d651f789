"""Ciphertexts as both sides handle them: bytes, and what OpenFHE takes their scale for."""

from __future__ import annotations

import openfhe

from ciphermark_contract.interfaces import Handle, Unsupported
from ciphermark_core.model import Parameters


def dump(ciphertext: Handle, compression: str) -> bytes:
    """OpenFHE's BINARY format."""
    if compression != "none":
        raise Unsupported(f"OpenFHE offers no compression {compression}, only none")
    data: bytes = openfhe.Serialize(ciphertext, openfhe.BINARY)
    return data


def load(data: bytes) -> Handle:
    """Read a ciphertext; raises ``RuntimeError`` or ``ValueError`` for damaged bytes."""
    ciphertext = openfhe.DeserializeCiphertextString(data, openfhe.BINARY)
    if ciphertext is None:
        raise ValueError("these bytes hold no ciphertext of OpenFHE")
    return ciphertext


def nominal_scale(ciphertext: Handle, parameters: Parameters) -> float:
    """The ckks scale by OpenFHE's own account: a power of the parameter set's scale."""
    scale: float = (parameters.scale or 1.0) ** ciphertext.GetNoiseScaleDeg()
    return scale
