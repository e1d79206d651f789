"""Every operation of the contract does what the declaration says: it works, or it is refused with a reason."""

from __future__ import annotations

import pytest

from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.keys import NO_KEYS
from ciphermark_contract.operations import OPERATIONS, where
from ciphermark_contract.operations.operation import SCALAR

from . import cells, examples, harness
from .cells import Cell
from .checks import operations
from .checks.refusals import unsupported
from .checks.values import right_product
from .harness import Subject

MANAGED = where(lambda row: row.is_managed)
KEYED = where(lambda row: bool(row.calls()[0].keys))
SCALARS = where(lambda row: row.argument is SCALAR)


def _scalars(cell: Cell) -> list[str]:
    return [name for name in SCALARS if name in {*cell.operations, *cell.managed}]


@cells.each("operation", lambda cell: cell.operations)
def test_primitive(subject: Subject, operation: str) -> None:
    able = subject.of(operation)
    operations.works(able, able.evaluator, operation, examples.primitive)


@cells.each("operation", lambda cell: cell.managed)
def test_managed(subject: Subject, operation: str) -> None:
    operations.works(subject, subject.managed, operation, examples.managed)


def test_what_is_not_declared_is_refused(subject: Subject) -> None:
    """All that are missing, primitives and managed ones, and what these parameters are not enough for."""
    for operation in {*OPERATIONS} - {*subject.able(OPERATIONS)}:
        operations.refused(subject, subject.evaluator, operation)
    for operation in {*MANAGED} - {*subject.declared.managed[subject.scheme]}:
        operations.refused(subject, subject.managed, operation)


@cells.each("operation", _scalars)
def test_fractions_mean_nothing_in_exact_schemes(subject: Subject, operation: str) -> None:
    """Neither cleartext nor a library may take the whole part of them."""
    able = [operator for operator in (subject.evaluator, subject.managed) if operation in operator.operations]
    assert able
    row = (subject.encrypted(subject.vector(0)), 0.5)
    for operator in able:
        if subject.scheme == "ckks":
            operator.apply(operation, *row)
            continue
        with pytest.raises(Unsupported, match=r"0\.5 is no integer"):
            operator.apply(operation, *row)
        with pytest.raises(Unsupported, match=r"0\.5 is no integer"):
            operator.bind(operation, [row]).run(1)


def test_nothing_beyond_the_contract(subject: Subject) -> None:
    assert {*subject.evaluator.operations} == {*subject.able(OPERATIONS)}
    assert {*subject.managed.operations} == {*subject.declared.managed[subject.scheme]}
    assert {*subject.owner.operations} == {"encrypt", "decrypt"}
    for operator in (subject.evaluator, subject.managed, subject.owner):
        unsupported(lambda operator=operator: operator.apply("no_such_operation", None))
        unsupported(lambda operator=operator: operator.bind("no_such_operation", [(None,)]))


@cells.where(cells.has_keys)
def test_no_key_no_operation(subject: Subject) -> None:
    """Without its key an operation is missing: it neither works by chance nor crashes."""
    evaluator = harness.subject_with(subject.declared.variant, subject.parameters.spec, NO_KEYS).evaluator
    for operation in subject.able(KEYED):
        row = examples.plausible(subject, operation)
        assert operation not in evaluator.operations
        unsupported(lambda name=operation, row=row: evaluator.apply(name, *row))
        unsupported(lambda name=operation, row=row: evaluator.bind(name, [row]))


@cells.where(cells.has_keys)
def test_managed_products_without_a_key(subject: Subject) -> None:
    """Without a relinearization key a managed product keeps its three polynomials, or is refused."""
    keyless = harness.subject_with(subject.declared.variant, subject.parameters.spec, NO_KEYS)
    evaluator = keyless.evaluator
    for operation in {*where(lambda row: row.is_product)} & {*subject.declared.managed[subject.scheme]}:
        item = examples.managed(keyless, operation, 0)
        if operation in keyless.managed.operations:
            result = keyless.managed.apply(operation, *item.row)
            assert evaluator.polynomials(result) == 3
            right_product(keyless, result, item.expected[0])
        else:
            unsupported(lambda name=operation, row=item.row: keyless.managed.apply(name, *row))


@cells.where(cells.has_keys)
@cells.where(cells.has("rotate"))
def test_no_rotation_is_made_of_others(subject: Subject) -> None:
    """Steps without a key of their own are refused: several rotations in one are not the primitive."""
    missing = 3
    assert {-1, missing + 1} <= {*harness.STEPS} - {missing}
    ciphertext = subject.encrypted(subject.vector(0))
    unsupported(lambda: subject.evaluator.apply("rotate", ciphertext, missing))
    unsupported(lambda: subject.evaluator.bind("rotate", [(ciphertext, missing)]).run(1))
