"""What travels from key owner to evaluator."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import Parameters


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """``public_key`` is HElib's, in its binary format: context, encryption key and key-switching matrices."""

    parameters: Parameters
    keys: KeyRequest
    public_key: bytes
