"""Levels, scales and polynomials of ciphertexts, and the end of the modulus chain."""

from __future__ import annotations

import pytest

from . import cells, examples
from .checks import levels
from .checks.values import right
from .harness import Subject

SWITCHING = ("rescale", "mod_switch")


def test_a_fresh_ciphertext_is_at_the_top(deep: Subject) -> None:
    ciphertext = deep.encrypted(deep.vector(0))
    top = len(deep.parameters.moduli) - 1
    assert levels.state_of(deep, ciphertext) == (top, deep.parameters.scale, 2)


@cells.each("operation", lambda cell: cell.operations)
def test_level_scale_and_polynomials_are_those_of_the_table(deep: Subject, operation: str) -> None:
    levels.effect(deep.of(operation), operation)


@pytest.mark.schemes("ckks")
@cells.where(cells.has("mul_plain", "rescale"))
@pytest.mark.parametrize("factor", [0.75, 1.1, 16.0])
def test_a_plaintext_of_another_scale_counts_with_its_own(deep: Subject, factor: float) -> None:
    levels.product_with_scaled_plaintext(deep, factor)


@cells.where(cells.has("mod_switch"))
def test_a_switch_at_the_last_level_is_exhausted(deep: Subject) -> None:
    for operation in deep.able(SWITCHING):
        levels.end_of_chain(deep, operation)


@cells.where(cells.has("mod_switch"))
def test_a_plaintext_follows_its_ciphertext_down(deep: Subject) -> None:
    """``encode(like=…)`` at a lower level. bfv and bgv have no noise budget left for a product there."""
    a, b = deep.vector(0), deep.vector(1)
    lower = deep.evaluator.apply("mod_switch", deep.encrypted(a))
    products = ["mul_plain"] if deep.scheme == "ckks" else []
    for operation in deep.able(["add_plain", "sub_plain", *products]):
        result = deep.evaluator.apply(operation, lower, deep.evaluator.encode(b, like=lower))
        right(deep, result, examples.meaning(deep, operation, a, b), operations=4)
