"""Operations do what is declared, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ciphermark_contract.interfaces import Bound, Operator
from ciphermark_contract.operations import OPERATIONS

from .. import examples
from ..examples import Example
from ..harness import OWN_SPECS, Subject
from .levels import state_of
from .refusals import supported, unsupported
from .values import right

Maker = Callable[[Subject, str, int], Example]


def works(subject: Subject, operator: Operator, name: str, make: Maker) -> None:
    """A declared operation is right by ``apply`` and by ``bind``, and leaves its operands as they are."""
    assert name in operator.operations, f"{name} is declared, but not in the table of operations"
    made = [make(subject, name, seed) for seed in range(2 if name in OWN_SPECS else 3)]
    assert not any(np.array_equal(a.expected[0], b.expected[0]) for a, b in pairwise(made))
    before = [_states(subject, item) for item in made]
    with supported(name):
        _result_right(subject, name, operator.apply(name, *made[0].row), made[0])
        _bound_works(subject, operator, name, made)
    for item, states in zip(made, before, strict=True):
        assert _states(subject, item) == states, f"{name} changed an operand's level, scale or polynomials"
        for ciphertext, values in item.ciphertexts:
            right(subject, ciphertext, values)


def all_work(subject: Subject) -> None:
    """Every declared operation is right, managed or not."""
    for name in subject.able(OPERATIONS):
        works(subject, subject.evaluator, name, examples.primitive)
    for name in subject.declared.managed[subject.scheme]:
        works(subject, subject.managed, name, examples.managed)


def refused(subject: Subject, operator: Operator, name: str) -> None:
    """An operation that is not declared raises ``Unsupported`` with a reason, however it is called."""
    assert name not in operator.operations, f"{name} is in the table of operations, but not declared"
    row = examples.plausible(subject, name)
    unsupported(lambda: operator.apply(name, *row))
    unsupported(lambda: operator.bind(name, [row]))


def _bound_works(subject: Subject, operator: Operator, name: str, made: list[Example]) -> None:
    """Two bounds, of several rows and of one, are alive at once, and run once and again."""
    parts = [made[:-1], made[-1:]]
    bounds = [operator.bind(name, [item.row for item in part]) for part in parts]
    for loops in (1,) if name in OWN_SPECS else (1, 2):
        for bound in bounds:
            assert bound.run(loops) > 0, "no time passed"
    for bound, part in zip(bounds, parts, strict=True):
        _results_right(subject, name, bound, part)


def _results_right(subject: Subject, name: str, bound: Bound, part: list[Example]) -> None:
    results = bound.results()
    assert len(results) == len(part), f"{len(results)} results for {len(part)} rows"
    for result, item in zip(results, part, strict=True):
        _result_right(subject, name, result, item)


def _result_right(subject: Subject, name: str, result: Any, item: Example) -> None:
    """Every ciphertext of one result, where an operation has several, and what a plaintext is multiplied with."""
    ciphertexts = examples.revealed(subject, name, result)
    assert len(ciphertexts) == len(item.expected), f"{len(ciphertexts)} results, not {len(item.expected)}"
    for ciphertext, expected in zip(ciphertexts, item.expected, strict=True):
        right(subject, ciphertext, expected, operation=name)


def _states(subject: Subject, item: Example) -> list[tuple[int, float | None, int]]:
    return [state_of(subject, ciphertext) for ciphertext, _ in item.ciphertexts]
