"""Operands of every operation, with the slots that must come out by the operation table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ciphermark_contract import operands
from ciphermark_contract.interfaces import Handle, Row, Vector
from ciphermark_contract.operands import Operands, Source
from ciphermark_contract.operations import OPERATIONS, Call, Kind, Ring, padded

from .harness import STEPS, Subject

Example = Operands


def calls(name: str) -> list[Call]:
    """The operation with the arguments that the suite tries."""
    operation = OPERATIONS[name]
    return [Call(operation, (steps,)) for steps in STEPS] if name == "rotate" else operation.calls()


def call(name: str, seed: int) -> Call:
    """One of them."""
    known = calls(name)
    return known[seed % len(known)]


def source(subject: Subject, seed: int) -> Source:
    """Vectors and their encryptions; each seed has its own."""
    return Source(
        subject.evaluator, ring(subject), subject.encrypted, lambda i: subject.vector(100 * seed + i)
    )


def ring(subject: Subject) -> Ring:
    return Ring.of(subject.parameters, subject.declared.slot_generator)


def primitive(subject: Subject, operation: str, seed: int) -> Example:
    """An example of a primitive operation: plaintext operands are encoded."""
    return operands.made(source(subject, seed), call(operation, seed))


def managed(subject: Subject, operation: str, seed: int) -> Example:
    """An example of a managed operation: plaintext operands are vectors."""
    return operands.made(source(subject, seed), call(operation, seed), is_managed=True)


def revealed(subject: Subject, operation: str, result: Any) -> list[Handle]:
    """What one execution yields, as ciphertexts."""
    return operands.revealed(source(subject, 0), call(operation, 0), result)


def plausible(subject: Subject, operation: str) -> Row:
    """Operands of the right kinds for an operation that must be refused."""
    x, called = subject.encrypted(subject.vector(0)), call(operation, 0)
    makers: dict[Kind, Callable[[], Any]] = {
        Kind.CIPHERTEXT: lambda: x,
        Kind.TRANSFORMED: lambda: x,
        Kind.WORDS: lambda: x,
        Kind.PLAINTEXT: partial(subject.evaluator.encode, subject.vector(1), like=x),
        Kind.NTT_PLAINTEXT: partial(subject.evaluator.encode, subject.vector(1), like=x),
        Kind.VECTOR: partial(subject.vector, 1),
        Kind.NUMBER: subject.vector(1)[0].item,
    }
    handles = [makers[kind]() for kind in called.operation.operands for _ in range(called.count)]
    return (*handles, *called.operands)


def meaning(subject: Subject, operation: str, a: Vector, *others: Any) -> Vector:
    """The table's result on full slots."""
    slots = subject.parameters.slots
    full = [padded(item, slots) if hasattr(item, "dtype") else item for item in (a, *others)]
    expected: Vector = OPERATIONS[operation].slots_after(ring(subject), *full)
    return expected
