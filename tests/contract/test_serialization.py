"""What crosses between owner and evaluator does so as bytes, in every declared compression and in no other."""

from __future__ import annotations

import pytest

from ciphermark_contract.declaration import KEY_ITEMS, SEEDED_ITEMS
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_measure.service import refusal

from . import cells
from .cells import Cell
from .checks import serialization
from .harness import Subject


def test_ciphertexts_go_both_ways(subject: Subject) -> None:
    for compression in subject.declared.compressions:
        serialization.round_trip(subject, compression)


@cells.where(cells.has("mod_switch"))
def test_ciphertexts_at_lower_levels_go_both_ways(deep: Subject) -> None:
    values = deep.vector(0)
    ciphertext = deep.evaluator.apply("mod_switch", deep.encrypted(values))
    for compression in deep.declared.compressions:
        serialization.survives(deep, ciphertext, values, compression)


def test_plaintexts(subject: Subject) -> None:
    for compression in subject.declared.compressions:
        serialization.plaintexts(subject, compression)


@pytest.mark.parametrize("item", KEY_ITEMS)
def test_keys(subject: Subject, item: str) -> None:
    for compression in subject.declared.compressions:
        serialization.key_item(subject, item, compression)


@pytest.mark.parametrize("item", SEEDED_ITEMS)
def test_what_is_seeded_is_smaller_and_right(subject: Subject, item: str) -> None:
    serialization.seeded(subject, item)


def test_public_material_is_taken_as_a_whole(subject: Subject) -> None:
    """In parts, of which none may be missing."""
    parts = list(subject.owner.public_material())
    assert all(type(part) is bytes for part in parts)
    assert subject.adapter.evaluator(iter(parts)).parameters == subject.parameters
    for missing in range(len(parts)):
        with pytest.raises((ValueError, RuntimeError)):
            subject.adapter.evaluator(parts[:missing] + parts[missing + 1 :])


def test_different_keys_are_different_bytes(subject: Subject) -> None:
    made = serialization.existing_items(subject)
    dumps = {subject.owner.dump_key(item, subject.compression) for item in made}
    assert len(dumps) == len(made)


def test_ciphertexts_of_two_keys_give_a_result_or_an_error_that_can_be_reported(subject: Subject) -> None:
    other = subject.adapter.key_owner(subject.parameters, KeyRequest.of())
    sent = other.dump(other.encrypt(subject.vector(1)), subject.compression)
    thrown: Exception | None = None
    try:
        subject.evaluator.apply("add", subject.encrypted(subject.vector(0)), subject.evaluator.load(sent))
    except Exception as error:  # a library may throw anything
        thrown = error
    assert thrown is None or (thrown.__cause__ is not thrown and refusal(thrown).error)


def test_another_compression_is_refused(subject: Subject) -> None:
    serialization.unknown_compression(subject)


def _compresses(cell: Cell) -> bool:
    return "none" in cell.declared.compressions and len(cell.declared.compressions) > 1


@cells.where(_compresses)
def test_compressions_differ(subject: Subject) -> None:
    """A declared compression is applied: the same ciphertext has other, fewer bytes than with ``none``."""
    modes = {*subject.declared.compressions} - {"none"}
    values = subject.vector(0)
    for side, ciphertext in (
        (subject.evaluator, subject.encrypted(values)),
        (subject.owner, subject.owner.encrypt(values)),
    ):
        plain = len(side.dump(ciphertext, "none"))
        assert all(len(side.dump(ciphertext, mode)) < plain for mode in modes)


def test_incomplete_bytes_are_an_error(subject: Subject) -> None:
    data = subject.owner.dump(subject.owner.encrypt(subject.vector(0)), subject.compression)
    for side in (subject.evaluator, subject.owner):
        with pytest.raises((ValueError, RuntimeError)):
            side.load(data[: len(data) // 2])
