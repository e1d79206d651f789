"""Operands of one operation, ready on the evaluator's side, with the expected slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from ciphermark_contract import operands
from ciphermark_contract.interfaces import Handle, Row, Vector
from ciphermark_contract.operands import Source
from ciphermark_contract.operations import Call, Kind, Ring, read, where
from ciphermark_core.descriptor import LEVEL
from ciphermark_core.model import Case
from ciphermark_measure.session import Session, digest


@dataclass(frozen=True, slots=True)
class OperandSet:
    """One set of operands: the first operand's vectors, the rows, and the expected slots of every result. Each holds as
    many ciphertexts as are executed.
    """

    vectors: Sequence[Vector]
    rows: Sequence[Row]
    expected: Sequence[Vector]


# So many ciphertexts of a vector hold distinct values; later ones repeat these values in separate objects. The cost of
# an operation does not depend on values, and encrypting thousands would take longer than all samples do.
DISTINCT = 4


def build(session: Session, case: Case, seed: int, index: int, most: int | None = None) -> OperandSet:
    """The operand set number ``index`` of a case, for ``most`` ciphertexts of the vector or all, in separate objects.
    Beyond :data:`DISTINCT` ciphertexts, values repeat, except in a last ciphertext that is not full. Operands are at
    the case's level, or fresh.

    Raises ``Exhausted`` where an operand itself cannot be made, such as a product for ``relinearize``.
    """
    call, level = read(case.operation), LEVEL.of(case.dimensions)
    drawn = _draw(session, case, seed, index)
    whole = drawn(0)
    numbers = [_distinct(number, whole) for number in range(len(whole[:most]))]
    chunk_operands = [operands.made(_sourced(session, drawn, number, level), call) for number in numbers]
    vectors = [whole[number] for number in numbers]
    return OperandSet(
        vectors,
        [item.row for item in chunk_operands],
        [slots for item in chunk_operands for slots in item.expected],
    )


def _draw(session: Session, case: Case, seed: int, index: int) -> Callable[[int], Sequence[Vector]]:
    """The vectors of an operand set by their number, each cut into ciphertexts."""

    @cache
    def drawn(number: int) -> Sequence[Vector]:
        values = operand(case, seed, 2 * index + min(number, 1), more=number - 1)
        return chunks(values, session.parameters.slots)

    return drawn


def streamed(session: Session, case: Case, seed: int, first: OperandSet, rows: int) -> list[Row]:
    """So many rows with the values of the first row of the operand set ``first``, which is number 0, with every operand
    in memory of its own. Later trials of the same level share the ciphertexts.
    """
    call, level, evaluator = read(case.operation), LEVEL.of(case.dimensions), session.evaluator
    if call.operation.transformed_by is not None:
        handle, *arguments = first.rows[0]
        data = evaluator.dump(handle, session.compression)
        return [(evaluator.load(data), *arguments) for _ in range(rows)]
    copies: dict[int, Iterator[Handle]] = {}  # by the identity of the drawn vectors, which stay

    def encrypted(values: Vector) -> Handle:
        if id(values) not in copies:
            data = session.encryptions.of(values, level)
            copies[id(values)] = session.copies.of(level, digest(values), lambda: evaluator.load(data))
        return next(copies[id(values)])

    drawn = _draw(session, case, seed, 0)
    source = Source(evaluator, ring_of(session), encrypted, lambda number: drawn(number)[0])
    return [operands.row(source, call) for _ in range(rows)]


def _distinct(number: int, chunks: Sequence[Vector]) -> int:
    """The piece of a vector whose values the ciphertext ``number`` holds."""
    return number if len(chunks[number]) < len(chunks[0]) else number % DISTINCT


def executed_for(call: Call) -> frozenset[str]:
    """The operations that a case executes: its own, those that make its operands, and those that reveal its results."""
    row = call.operation
    shows = {Kind.NTT_PLAINTEXT: {Kind.TRANSFORMED}}  # what is multiplied with a result to show it
    forms = {Kind.NTT_PLAINTEXT, Kind.TRANSFORMED} & {*row.operands} | shows.get(row.result, set())
    makers = where(lambda maker: maker.result in forms)
    encodes = ("encode",) if {Kind.PLAINTEXT, Kind.NTT_PLAINTEXT} & {*row.operands} else ()
    back = where(lambda back: back.operands == (Kind.TRANSFORMED,))
    shown_by: dict[Kind, tuple[str, ...]] = {
        Kind.TRANSFORMED: back,
        Kind.PLAINTEXT: ("add_plain",),
        Kind.NTT_PLAINTEXT: ("mul_plain_ntt", *back),
    }
    transformed_by = () if row.transformed_by is None else (row.transformed_by,)
    return frozenset({row.name, *makers, *encodes, *transformed_by, *shown_by.get(row.result, ())})


def revealed(session: Session, case: Case, results: Sequence[Any]) -> list[Handle]:
    """The results of all rows as ciphertexts, one after the other."""
    call, ring = read(case.operation), ring_of(session)
    encrypt = partial(_encrypted, session, LEVEL.of(case.dimensions))
    source = Source(session.evaluator, ring, encrypt)
    return [handle for result in results for handle in operands.revealed(source, call, result)]


def ring_of(session: Session) -> Ring:
    """The meaning of slots in a session."""
    return Ring.of(session.parameters, session.declaration.slot_generator)


def _sourced(
    session: Session, drawn: Callable[[int], Sequence[Vector]], chunk: int, level: int | None
) -> Source:
    """The same piece of every vector."""
    encrypt = partial(_encrypted, session, level)
    return Source(session.evaluator, ring_of(session), encrypt, lambda number: drawn(number)[chunk])


def _encrypted(session: Session, level: int | None, values: Vector) -> Handle:
    (handle,) = session.to_evaluator([values], level)
    return handle


# Factors of ckks stay within [0.9, 1], so that a product repeated to the end of any chain neither grows nor vanishes.
_MIN_FACTOR = 0.9


def operand(case: Case, seed: int, index: int, *, more: int = 0, is_factor: bool = False) -> Vector:
    """The vector number ``index`` of a case: ``case.vector_length`` values. ``more`` > 0 selects further vectors of it.

    bfv, bgv: integers in [1, t). ckks: reals in [−1, 1], or in [0.9, 1] for a factor that is multiplied repeatedly.
    Pattern ``constant`` repeats one value.
    """
    generator = np.random.default_rng([seed, index, *([more] if more > 0 else [])])
    count = 1 if case.data_pattern == "constant" else case.vector_length
    values: Vector
    if case.parameters.scheme != "ckks":
        assert case.parameters.plain_modulus is not None
        values = generator.integers(1, case.parameters.plain_modulus, count, dtype=np.int64)
    else:
        values = generator.uniform(_MIN_FACTOR if is_factor else -1.0, 1.0, count)
    return np.resize(values, case.vector_length)


def chunks(values: Vector, slots: int) -> Sequence[Vector]:
    """The vector cut into pieces of at most ``slots`` values, one per ciphertext."""
    return [values[start : start + slots] for start in range(0, len(values), slots)]
