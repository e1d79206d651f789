"""Operands of any operation of the table, built from vectors, with the expected slots of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ciphermark_contract.bound import Vector
from ciphermark_contract.interfaces import Evaluator, Handle, Row, lowered
from ciphermark_contract.operations import OPERATIONS, Call, Kind, Ring, padded, where

# Vector number i of an operand set, and its ciphertext on the evaluator's side.
Draw = Callable[[int], Vector]
Encrypt = Callable[[Vector], Handle]


def _nothing_drawn(number: int) -> Vector:
    raise LookupError(f"this source has no vector {number}")


@dataclass(frozen=True, slots=True)
class Source:
    """The source of operands: the evaluator that encodes, encryption, and vectors by number."""

    evaluator: Evaluator
    ring: Ring
    encrypt: Encrypt
    draw: Draw = _nothing_drawn


@dataclass(frozen=True, slots=True)
class Operands:
    """One row of operands. ``expected`` are the slots of each result, ``ciphertexts`` those of each ciphertext."""

    row: Row
    expected: Sequence[Vector]
    ciphertexts: Sequence[tuple[Handle, Vector]]


def made(source: Source, call: Call, *, is_managed: bool = False) -> Operands:
    """Build operands of a primitive, or of the managed operation, which takes vectors in place of plaintexts.

    Raises ``Exhausted`` where an operand, such as a product for ``relinearize``, cannot be computed.
    """
    transformed_by = call.operation.transformed_by
    if transformed_by is not None:
        return _prepared(source, call, transformed_by)
    maker = _Maker(source, call, is_managed)
    pairs = maker.pairs()
    vectors = [vector for _, vector in pairs]
    return Operands(
        row=(*(handle for handle, _ in pairs), *call.operands),
        expected=_as_list(call, call.meaning(source.ring, *vectors)),
        ciphertexts=maker.ciphertexts,
    )


def row(source: Source, call: Call) -> Row:
    """The row of :func:`made` without the expected slots, for a primitive that takes no other operation's result."""
    return (*(handle for handle, _ in _Maker(source, call, is_managed=False).pairs()), *call.operands)


def _prepared(source: Source, call: Call, name: str) -> Operands:
    first = made(source, Call(OPERATIONS[name]))
    handle, vector = source.evaluator.apply(name, *first.row), first.expected[0]
    expected = _as_list(call, call.meaning(source.ring, vector))
    return Operands((handle, *call.operands), expected, [(handle, vector)])


def _as_list(call: Call, meant: Any) -> Sequence[Vector]:
    return meant if call.operation.has_several_results else [meant]


class _Maker:
    """Builds operands one by one; each takes the next vector of the source."""

    def __init__(self, source: Source, call: Call, is_managed: bool) -> None:
        self._source = source
        self._call = call
        self._is_managed = is_managed
        self._numbers = count()
        self.ciphertexts: list[tuple[Handle, Vector]] = []

    def pairs(self) -> list[tuple[Any, Any]]:
        """A handle and its full slots for each operand, in order."""
        return [self._pair(kind) for kind in self._call.operation.operands for _ in range(self._call.count)]

    def _pair(self, kind: Kind) -> tuple[Any, Any]:
        return {
            Kind.CIPHERTEXT: self._ciphertext,
            Kind.TRANSFORMED: self._transformed,
            Kind.WORDS: self._words,
            Kind.PLAINTEXT: self._plaintext,
            Kind.NTT_PLAINTEXT: self._prepared,
            Kind.VECTOR: self._full_vector,
            Kind.NUMBER: self._number,
        }[kind]()

    def _vector(self) -> tuple[Vector, Vector]:
        values = self._source.draw(next(self._numbers))
        return values, padded(values, self._source.ring.slots)

    def _full_vector(self) -> tuple[Vector, Vector]:
        _, full = self._vector()
        return full, full

    def _number(self) -> tuple[float, float]:
        values, _ = self._vector()
        return values[0].item(), values[0].item()

    def _ciphertext(self) -> tuple[Handle, Vector]:
        values, full = self._vector()
        evaluator, handle = self._source.evaluator, self._source.encrypt(values)
        operand_level = self._call.operation.operand_level
        if operand_level is not None and not self.ciphertexts:
            handle = lowered(evaluator, handle, operand_level(evaluator.parameters))
        self.ciphertexts.append((handle, full))
        return self.ciphertexts[-1]

    def _transformed(self) -> tuple[Handle, Vector]:
        handle, full = self._ciphertext()
        return transformed(self._source.evaluator, handle), full

    def _words(self) -> tuple[Handle, Sequence[Vector]]:
        handle, _ = self._ciphertext()
        return handle, self._source.evaluator.words(handle)

    def _plaintext(self) -> tuple[Any, Vector]:
        values, full = self._vector()
        return (values if self._is_managed else self._encoded(values)), full

    def _prepared(self) -> tuple[Handle, Vector]:
        values, full = self._vector()
        return prepared(self._source.evaluator, values, self.ciphertexts[0][0]), full

    def _encoded(self, values: Vector) -> Handle:
        evaluator = self._source.evaluator
        if not self.ciphertexts:
            return evaluator.encode(values)
        like = self.ciphertexts[0][0]
        scale = evaluator.scale(like) if self._call.operation.is_at_scale else None
        return evaluator.encode(values, like=like, scale=scale)


def prepared(evaluator: Evaluator, values: Vector, like: Handle) -> Handle:
    """A plaintext in NTT form at the level of a ciphertext; the encoded one where the library has no transform."""
    plaintext = evaluator.encode(values, like=like)
    for operation in where(lambda row: row.result is Kind.NTT_PLAINTEXT and row.name in evaluator.operations):
        return evaluator.apply(operation, plaintext, like)
    return plaintext


def transformed(evaluator: Evaluator, ciphertext: Handle) -> Handle:
    """The ciphertext in NTT form; unchanged where the library has no transform."""
    return _converted(evaluator, ciphertext, Kind.CIPHERTEXT, Kind.TRANSFORMED)


def restored(evaluator: Evaluator, ciphertext: Handle) -> Handle:
    """The inverse of :func:`transformed`."""
    return _converted(evaluator, ciphertext, Kind.TRANSFORMED, Kind.CIPHERTEXT)


def revealed(source: Source, call: Call, result: Any) -> list[Handle]:
    """One execution's results as ciphertexts that can be decrypted.

    Ciphertexts in NTT form are transformed back. A plaintext is added to an encryption of zeros, which is possible at
    every level; one in NTT form is multiplied by an encryption of ones.
    """
    kind = call.operation.result
    if kind is Kind.CIPHERTEXTS:
        return list(result)
    if kind is Kind.CIPHERTEXT:
        return [result]
    if kind is Kind.TRANSFORMED:
        return [restored(source.evaluator, result)]
    kind_of_slots = np.float64 if source.ring.modulus is None else np.int64
    if kind is Kind.PLAINTEXT:
        zeros = source.encrypt(np.zeros(source.ring.slots, dtype=kind_of_slots))
        return [source.evaluator.apply("add_plain", zeros, result)]
    ones = source.encrypt(np.ones(source.ring.slots, dtype=kind_of_slots))
    product = source.evaluator.apply("mul_plain_ntt", transformed(source.evaluator, ones), result)
    return [restored(source.evaluator, product)]


def _converted(evaluator: Evaluator, ciphertext: Handle, before: Kind, after: Kind) -> Handle:
    """The ciphertext in another form; unchanged where the library has no operation for it, since it has one form."""
    names = where(lambda row: (row.operands, row.result) == ((before,), after))
    for name in names:
        if name in evaluator.operations:
            return evaluator.apply(name, ciphertext)
    return ciphertext
