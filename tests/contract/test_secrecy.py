"""A secret key never leaves its owner: not in the public material, not by way of the evaluator."""

from __future__ import annotations

import pytest

from ciphermark_contract.interfaces import Evaluator, KeyOwner

from . import cells
from .cells import Cell
from .checks import secrecy
from .harness import Subject


def _shows_its_secret_key(cell: Cell) -> bool:
    return "secret_key" in cell.declared.serializable


@cells.where(_shows_its_secret_key)
def test_no_secret_key_in_the_public_material(subject: Subject) -> None:
    secrecy.kept(subject, b"".join(subject.owner.public_material()))


@cells.where(_shows_its_secret_key)
def test_the_search_would_find_a_secret_key(subject: Subject) -> None:
    for compression in subject.declared.compressions:
        material = b"".join(subject.owner.public_material())
        leak = material + subject.owner.dump_key("secret_key", compression)
        with pytest.raises(AssertionError, match="pieces of the secret key are in the public material"):
            secrecy.kept(subject, leak)


def test_the_evaluator_cannot_decrypt(subject: Subject) -> None:
    secrecy.no_decryption(subject)
    assert isinstance(subject.evaluator, Evaluator)
    assert not isinstance(subject.evaluator, KeyOwner)


@cells.where(cells.has_keys)
def test_keys_are_fresh_each_time(subject: Subject) -> None:
    """Another owner with the same parameters cannot decrypt."""
    from ciphermark_contract.keys import NO_KEYS

    stranger = subject.adapter.key_owner(subject.parameters, NO_KEYS)
    values = subject.vector(0)
    theirs = stranger.load(subject.owner.dump(subject.owner.encrypt(values), subject.compression))
    wrong = abs(stranger.decrypt(theirs) - values) > 0.5
    assert wrong.mean() > 0.9
