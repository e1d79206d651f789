"""What travels from key owner to evaluator: parameters and evaluation keys in one message."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core import wire
from ciphermark_core.model import Parameters


@dataclass(frozen=True, slots=True)
class _Header:
    """The message's first line, JSON; the two keys follow it."""

    parameters: Parameters
    keys: KeyRequest
    relinearization_bytes: int
    rotation_bytes: int


def header(parameters: Parameters, keys: KeyRequest, sizes: tuple[int, int]) -> bytes:
    """The first line of a message; ``sizes`` are the bytes of relinearization and rotation keys, which follow it."""
    return wire.to_line(_Header(parameters, keys, *sizes))


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """Keys are in SEAL's own format, uncompressed; empty where none were requested.

    They are views of the message: evaluation keys are too large for a second copy.
    """

    parameters: Parameters
    keys: KeyRequest
    relinearization_keys: memoryview
    rotation_keys: memoryview

    @classmethod
    def from_bytes(cls, data: bytes) -> PublicMaterial:
        """Read a message; raises ``ValueError`` for a damaged one."""
        start = data.find(b"\n") + 1
        line = wire.from_line(data[:start], _Header)
        middle = start + line.relinearization_bytes
        if len(data) != middle + line.rotation_bytes:
            raise ValueError("the public material is incomplete: it must be carried over as it is")
        view = memoryview(data)
        return cls(line.parameters, line.keys, view[start:middle], view[middle:])
