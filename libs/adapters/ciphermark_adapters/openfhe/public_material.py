"""What travels from key owner to evaluator."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_contract.keys import KeyRequest
from ciphermark_core.model import Parameters


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """Context and keys in OpenFHE's BINARY format; an absent key is ``None``.

    ``switching_key`` leads to a second secret key of the owner, with the name ``second_key_tag``.
    ``key_tag`` is the name under which OpenFHE keeps the keys of one owner, apart from those of others. The public
    key is not in it: an evaluator does not encrypt.
    """

    parameters: Parameters
    key_tag: str
    context: bytes
    relinearization_keys: bytes | None
    rotation_keys: bytes | None
    switching_key: bytes | None
    second_key_tag: str
    keys: KeyRequest
