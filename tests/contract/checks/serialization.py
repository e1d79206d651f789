"""Ciphertexts, plaintexts and keys as bytes, in every declared compression and in no other."""

from __future__ import annotations

from ciphermark_contract.declaration import SEEDED_ITEMS
from ciphermark_contract.interfaces import Handle, Vector

from .. import examples
from ..harness import Subject
from .levels import state_of
from .refusals import supported, unsupported
from .values import compare

UNKNOWN_COMPRESSION = "lz77"


def round_trip(subject: Subject, compression: str) -> None:
    """Ciphertexts survive both ways, products too."""
    owner, evaluator = subject.owner, subject.evaluator
    values = subject.vector(0)
    fresh = evaluator.load(owner.dump(owner.encrypt(values), compression))
    survives(subject, fresh, values, compression)
    if not subject.able(["mul"]):
        return
    product = evaluator.apply("mul", fresh, fresh)
    survives(subject, product, examples.meaning(subject, "square", values), compression)


def survives(subject: Subject, ciphertext: Handle, expected: Vector, compression: str) -> None:
    """An evaluator's ciphertext is the same for another load of its bytes, and right for the owner."""
    owner, evaluator = subject.owner, subject.evaluator
    data = evaluator.dump(ciphertext, compression)
    assert isinstance(data, bytes)
    again = evaluator.load(data)
    before, after = state_of(subject, ciphertext), state_of(subject, again)
    assert after == before, f"level, scale, polynomials were {before}, and are {after} after serialization"
    compare(subject, owner.decrypt(owner.load(evaluator.dump(again, compression))), expected, operations=4)


def unknown_compression(subject: Subject) -> None:
    """A compression that is not declared is refused in every place that takes one."""
    owner, evaluator = subject.owner, subject.evaluator
    ciphertext = owner.encrypt(subject.vector(0))
    received = subject.encrypted(subject.vector(0))
    plaintext = evaluator.encode(subject.vector(0))
    others = {"none", "zlib", "zstd", UNKNOWN_COMPRESSION} - {*subject.declared.compressions}
    for mode in sorted(others):
        unsupported(lambda mode=mode: owner.dump(ciphertext, mode))
        unsupported(lambda mode=mode: evaluator.dump(received, mode))
        unsupported(lambda mode=mode: evaluator.dump_plaintext(plaintext, mode))
        for item in subject.declared.serializable:
            unsupported(lambda mode=mode, item=item: owner.dump_key(item, mode))


def plaintexts(subject: Subject, compression: str) -> None:
    """Plaintexts are serialized, different values differently, unless the declaration says why not."""
    evaluator = subject.evaluator
    both = [evaluator.encode(subject.vector(seed)) for seed in (0, 1)]
    if "dump_plaintext" in subject.declared.reasons:
        unsupported(lambda: evaluator.dump_plaintext(both[0], compression))
        return
    with supported("dump_plaintext"):
        first, second = (evaluator.dump_plaintext(plaintext, compression) for plaintext in both)
    assert isinstance(first, bytes)
    assert first != second, "two plaintexts have the same bytes"


def key_item(subject: Subject, item: str, compression: str) -> None:
    """A key item is serialized where it is declared and was made, and refused where not."""
    if item not in existing_items(subject):
        unsupported(lambda: subject.owner.dump_key(item, compression))
        return
    with supported(item):
        data = subject.owner.dump_key(item, compression)
    assert isinstance(data, bytes)
    assert len(data) > 16, f"{item} has {len(data)} bytes"


def seeded(subject: Subject, item: str) -> None:
    """What is declared is written with a seed in the place of a half, and a ciphertext loads and decrypts right."""
    owner, values, mode = subject.owner, subject.vector(0), subject.compression
    keys = subject.declared.key_kinds(subject.scheme)
    exist = {"relinearization_keys_seeded": bool(keys.relinearization), "rotation_keys_seeded": bool(keys)}
    if item not in subject.declared.seeded or not exist.get(item, True):
        assert subject.declared.reason_against_object(item)
        unsupported(lambda: owner.dump_seeded(item, values, mode))
        return
    with supported(item):
        data = owner.dump_seeded(item, values, mode)
    expanded = item.removesuffix("_seeded")
    if expanded in subject.declared.serializable:
        assert len(data) < 0.6 * len(owner.dump_key(expanded, mode))
    if item == SEEDED_ITEMS[0]:
        assert len(data) < 0.6 * len(owner.dump(owner.encrypt(values), mode))
        for side in (owner, subject.evaluator):
            compare(subject, owner.decrypt(owner.load(side.dump(side.load(data), mode))), values)
        assert owner.dump_seeded(item, values, mode) != data, "two encryptions are the same"


def existing_items(subject: Subject) -> list[str]:
    """The declared items for which the scheme has operations."""
    keys = subject.declared.key_kinds(subject.scheme)
    exist = {
        "relinearization_keys": bool(keys.relinearization),
        "rotation_keys": keys.rotations or keys.automorphisms,
    }
    return [item for item in subject.declared.serializable if exist.get(item, True)]
