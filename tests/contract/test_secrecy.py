"""A secret key never leaves its owner: not in the public material, not by way of the evaluator."""

from __future__ import annotations

import pytest

from ciphermark_contract.interfaces import Evaluator, KeyOwner, Unsupported

from . import cells, harness
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


RESTORING = {"openfhe", "lattigo"}  # variants whose owners are restored


def test_a_restored_owner_has_the_secret_key(subject: Subject) -> None:
    """It decrypts what the first owner encrypted, and its fresh evaluation keys fit."""
    from ciphermark_contract.keys import NO_KEYS

    owner, parameters = subject.owner, subject.parameters
    if subject.declared.variant not in RESTORING:
        with pytest.raises(Unsupported):
            owner.dump_secret()
        with pytest.raises(Unsupported):
            subject.adapter.restored_owner(parameters, NO_KEYS, b"")
        return
    secret, values = owner.dump_secret(), subject.vector(0)
    restored = subject.adapter.restored_owner(
        parameters, harness.all_keys(subject.declared, parameters), secret
    )
    evaluator = subject.adapter.evaluator(restored.public_material())
    first = evaluator.load(owner.dump(owner.encrypt(values), subject.compression))
    second = evaluator.load(restored.dump(restored.encrypt(values), subject.compression))
    product = evaluator.apply("relinearize", evaluator.apply("mul", first, second))
    found = restored.decrypt(restored.load(evaluator.dump(product, subject.compression)))
    expected = values * values
    if subject.scheme != "ckks":
        expected %= parameters.plain_modulus
    assert abs(found - expected).max() < (1e-2 if subject.scheme == "ckks" else 0.5)  # at a scale of 2^30
    with pytest.raises((ValueError, RuntimeError)):
        subject.adapter.restored_owner(parameters, NO_KEYS, secret[: len(secret) // 2])
