"""What travels from key owner to evaluator: parameters and evaluation keys in one message."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_adapters.contract import KeyRequest
from ciphermark_core import wire
from ciphermark_core.words import Parameters


@dataclass(frozen=True, slots=True)
class _Header:
    """The message's first line, JSON; the two keys follow it."""

    parameters: Parameters
    keys: KeyRequest
    relinearization_bytes: int
    rotation_bytes: int


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """Keys are in SEAL's own format, uncompressed; empty where none were requested."""

    parameters: Parameters
    keys: KeyRequest
    relinearization_keys: bytes
    rotation_keys: bytes

    def to_bytes(self) -> bytes:
        """One message: header line, relinearization keys, rotation keys."""
        sizes = len(self.relinearization_keys), len(self.rotation_keys)
        header = wire.to_line(_Header(self.parameters, self.keys, *sizes))
        return b"".join((header, self.relinearization_keys, self.rotation_keys))

    @classmethod
    def from_bytes(cls, data: bytes) -> PublicMaterial:
        """Read a message; raises ``ValueError`` for a damaged one."""
        start = data.find(b"\n") + 1
        header = wire.from_line(data[:start], _Header)
        middle = start + header.relinearization_bytes
        if len(data) != middle + header.rotation_bytes:
            raise ValueError("the public material is incomplete: it must be carried over as it is")
        return cls(header.parameters, header.keys, data[start:middle], data[middle:])
