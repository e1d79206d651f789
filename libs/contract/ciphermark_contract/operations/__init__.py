"""Operations: the table, facts derived from it, and the notation of cases.

To add an operation: a row in :mod:`.table`, and in every adapter that has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from typing import Any

from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_contract.operations.meaning import Ring, padded
from ciphermark_contract.operations.operation import (
    Argument,
    Call,
    Kind,
    Number,
    Operation,
    reason_against_arguments,
    within_row,
)
from ciphermark_contract.operations.shapes import Shape, fresh, is_one_scale, switched, top_level
from ciphermark_contract.operations.table import OPERATIONS
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Scheme
from ciphermark_core.nearest import did_you_mean

_CALL = re.compile(r"(\w+)(?:\((.*)\))?")


@cache
def read(text: str) -> Call:
    """The operation that a case names, ``add`` or ``rotate(64)``; raises ``ValueError`` for any other text."""
    call = _CALL.fullmatch(text)
    name = call[1] if call else text
    if call is None or name not in OPERATIONS:
        raise ValueError(f"unknown operation {name!r}{did_you_mean(name, OPERATIONS)}")
    operation = OPERATIONS[name]
    numbers = tuple(_number(word) for word in (call[2] or "").split(",") if word.strip())
    reason = reason_against_arguments(operation, numbers)
    if reason is not None:
        raise ValueError(reason)
    return Call(operation, numbers)


def _number(word: str) -> Number:
    try:
        return int(word)
    except ValueError:
        return float(word)


def where(is_wanted: Callable[[Operation], bool]) -> tuple[str, ...]:
    """Names of the rows that a condition holds for, in the table's order."""
    return tuple(row.name for row in OPERATIONS.values() if is_wanted(row))


# The operation that brings a ciphertext down by a level and leaves its scale.
(LOWERING,) = where(lambda row: row.effect is switched)


def repeatable() -> tuple[str, ...]:
    """The operations that circuits may apply repeatedly to their own result."""
    return where(lambda row: row.is_repeatable and row.is_managed)


def of_scheme(scheme: Scheme) -> tuple[str, ...]:
    """The operations of a scheme."""
    return where(lambda row: scheme in row.schemes)


def keys_of(texts: Iterable[str]) -> KeyRequest:
    """All keys that these operations use, as primitives and managed."""
    return reduce(lambda keys, text: keys | read(text).managed_keys, texts, NO_KEYS)


@cache  # plans ask it of every case
def key_kinds(names: tuple[str, ...]) -> KeyRequest:
    """The kinds of keys that these operations use, whatever their arguments."""
    calls = [call for name in names if name in OPERATIONS for call in OPERATIONS[name].calls()]
    return reduce(lambda keys, call: keys | call.managed_keys, calls, NO_KEYS)


def multiplies(call: Call) -> bool:
    """Whether noise grows by a factor in the operation, or in the one that yields its operand."""
    transformed_by = call.operation.transformed_by
    return call.operation.is_multiplication or (
        transformed_by is not None and OPERATIONS[transformed_by].is_multiplication
    )


def served(names: Iterable[str], keys: KeyRequest) -> tuple[str, ...]:
    """The operations that these keys suffice for, with some arguments at least."""
    return tuple(name for name in names if _is_served(OPERATIONS[name], keys))


def _is_served(operation: Operation, keys: KeyRequest) -> bool:
    if operation.argument is None:
        return keys.has(operation.keys())
    needed = operation.calls()[0].keys
    return bool(keys.of_kinds(needed)) or not needed


def has_key_per_argument(name: str) -> bool:
    """Whether the required keys depend on the arguments of an execution: see :func:`require_keys`."""
    return OPERATIONS[name].argument is not None and bool(OPERATIONS[name].calls()[0].keys)


def require_keys(name: str, operands: Sequence[Any], keys: KeyRequest) -> None:
    """Raise ``Unsupported`` where an execution on these operands needs a missing key.

    Libraries would combine several other keys instead, which is no longer the primitive.
    """
    if name not in OPERATIONS or not has_key_per_argument(name):
        return
    operation = OPERATIONS[name]
    arguments = operands[len(operation.operands) :]
    if not keys.has(operation.keys(*arguments)):
        kinds = operation.calls()[0].keys
        listed = keys.steps if kinds.rotations else keys.elements
        raise Unsupported(
            f"no key was generated for {Call(operation, tuple(arguments)).text}, only for {listed or 'none'}"
        )


__all__ = [
    "LOWERING",
    "OPERATIONS",
    "Argument",
    "Call",
    "Kind",
    "Number",
    "Operation",
    "Ring",
    "Shape",
    "fresh",
    "has_key_per_argument",
    "is_one_scale",
    "key_kinds",
    "keys_of",
    "multiplies",
    "of_scheme",
    "padded",
    "read",
    "repeatable",
    "require_keys",
    "served",
    "top_level",
    "where",
    "within_row",
]
