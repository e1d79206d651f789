"""The secret key stays with its owner."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_contract.interfaces import Handle
from ciphermark_contract.keys import NO_KEYS

from ..harness import Subject
from .refusals import unsupported

PIECE_BYTES = 48


def kept(subject: Subject, material: bytes) -> None:
    """No piece of the secret key, as any compression serializes it, is in the public material.

    What another secret key of the same parameters shares with it (headers, parameters) is no secret.
    """
    stranger = subject.adapter.key_owner(subject.parameters, NO_KEYS)
    for mode in subject.declared.compressions:
        other = stranger.dump_key("secret_key", mode)
        pieces = [
            piece for piece in _pieces(subject.owner.dump_key("secret_key", mode)) if piece not in other
        ]
        assert len(pieces) > 8, (
            f"the secret key shows only {len(pieces)} pieces of its own: nothing was searched"
        )
        found = sum(piece in material for piece in pieces)
        assert found == 0, f"{found} of {len(pieces)} pieces of the secret key are in the public material"


def _pieces(data: bytes) -> Sequence[bytes]:
    """Up to 64 pieces spread over the data, none of which is a repetition of few bytes."""
    step = max(PIECE_BYTES, len(data) // 64)
    pieces = (data[start : start + PIECE_BYTES] for start in range(0, len(data), step))
    return [piece for piece in pieces if len(piece) == PIECE_BYTES and len(set(piece)) > 6]


def no_decryption(subject: Subject) -> None:
    """The evaluator offers no decryption, and its ciphertexts decrypt nothing by themselves."""
    evaluator = subject.evaluator
    ciphertext = subject.encrypted(subject.vector(0))
    assert "decrypt" not in evaluator.operations, "decrypt is among the evaluator's operations"
    unsupported(lambda: evaluator.apply("decrypt", ciphertext))
    unsupported(lambda: evaluator.bind("decrypt", [(ciphertext,)]))
    for name in ("decrypt", "noise_budget_bits", "dump_key"):
        assert not hasattr(evaluator, name), f"the evaluator has {name}"
    assert not hasattr(subject.managed, "decrypt"), "the managed evaluator has decrypt"
    _refuses_to_decrypt(ciphertext)


def _refuses_to_decrypt(ciphertext: Handle) -> None:
    """Where the library's ciphertexts have a method for it, it fails for want of the secret key."""
    decrypt = getattr(ciphertext, "decrypt", None)
    if decrypt is None:
        return
    try:
        decrypt()
    except Exception:
        return
    raise AssertionError("a ciphertext of the evaluator decrypts itself")
