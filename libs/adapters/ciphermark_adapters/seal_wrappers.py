"""Common code of adapters of Python wrappers around SEAL: bare timed calls, translated errors, vectors."""

from __future__ import annotations

import re
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from ciphermark_adapters import provenance
from ciphermark_adapters.bindings import LibraryBound, LibraryKeyOwner
from ciphermark_contract.interfaces import Exhausted, Unsupported, Vector

_EXHAUSTED = ("scale out of bounds", "end of modulus switching chain reached")
_TRANSPARENT = "result ciphertext is transparent"
_SEAL_MAGIC = b"\x5e\xa1"
_MISFIT = (
    "scale mismatch",
    "encrypted1 and encrypted2",
    "encrypted and plain",
    "encrypted_ntt and plain_ntt",
    "Galois key not present",
)


class SealBound(LibraryBound):
    """Calls of the library, its errors translated."""

    errors = (ValueError, RuntimeError)  # raised by the wrappers for SEAL's C++ exceptions

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
    """The vector padded with zeros to all slots, in contiguous and writable memory for C++."""
    if len(values) == slots:
        return np.require(values, requirements=("C", "W"))
    full = np.zeros(slots, dtype=values.dtype)
    full[: len(values)] = values
    return full


class WrapperKeyOwner(LibraryKeyOwner):
    """A key owner of a wrapper around SEAL."""

    bound = SealBound

    def _filled(self, values: Vector) -> Vector:
        return padded(values, self.parameters.slots)


def wheel_facts(package: str, library: str, serialized: bytes) -> dict[str, str]:
    """Build facts of an installed wheel.

    ``library`` is its file that contains SEAL, ``serialized`` an object of SEAL's, whose header has SEAL's version.
    """
    wheel = distribution(package)
    tags = re.findall(r"^Tag: (.+)$", wheel.read_text("WHEEL") or "", re.MULTILINE)
    path = Path(next(str(file.locate()) for file in wheel.files or () if file.name == library))
    header = serialized[serialized.index(_SEAL_MAGIC) :]
    return {
        "seal": f"{header[3]}.{header[4]}",
        "wheel": " ".join(tags),
        **provenance.of_binary(path),
        "hexl": "on" if b"hexl" in path.read_bytes() else "off",
    }
