"""Managed operations work together: levels and scales that differ are brought together, until none is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from . import cells, examples
from .cells import Cell
from .checks import levels
from .checks.refusals import exhausted, supported
from .checks.values import right
from .harness import Subject

# A circuit over ``do(operation, *operands)``, two operands x and y and a vector p in the clear. ``do`` is the managed
# evaluator's ``apply`` or the meaning of the operation on slots.
Circuit = Callable[[Callable[..., Any], Any, Any, Any], Any]
CIRCUITS: dict[str, Circuit] = {
    "x + x*y": lambda do, x, y, p: do("add", x, do("mul", x, y)),
    "x*y + x": lambda do, x, y, p: do("add", do("mul", x, y), x),
    "x - y*y": lambda do, x, y, p: do("sub", x, do("mul", y, y)),
    "x*y - y": lambda do, x, y, p: do("sub", do("mul", x, y), y),
    "(x+y) * (x-y)": lambda do, x, y, p: do("mul", do("add", x, y), do("sub", x, y)),
    "x*p + y": lambda do, x, y, p: do("add", do("mul_plain", x, p), y),
    "x*y + p": lambda do, x, y, p: do("add_plain", do("mul", x, y), p),
    "p from x*y": lambda do, x, y, p: do("sub_plain", do("mul", x, y), p),
    "x*y + x*p": lambda do, x, y, p: do("add", do("mul", x, y), do("mul_plain", x, p)),
}
# Two multiplications after each other: for ckks only, whose chain has room for them here.
DEEP_CIRCUITS: dict[str, Circuit] = {
    "(x*y) * x": lambda do, x, y, p: do("mul", do("mul", x, y), x),
    "x * (x*y)": lambda do, x, y, p: do("mul", x, do("mul", x, y)),
    "x + (x*y)*x": lambda do, x, y, p: do("add", x, do("mul", do("mul", x, y), x)),
    "(x + x*y) * y": lambda do, x, y, p: do("mul", do("add", x, do("mul", x, y)), y),
    "(x*y)*p + x*y": lambda do, x, y, p: do("add", do("mul_plain", do("mul", x, y), p), do("mul", x, y)),
    "rotated x*y + x": lambda do, x, y, p: do("add", do("rotate", do("mul", x, y), 1), x),
}
PRODUCTS = ("mul", "square", "mul_plain")
OPERATIONS_OF_A_CIRCUIT = 4


def _used(circuit: Circuit) -> set[str]:
    """The operations of a circuit."""
    used: set[str] = set()
    circuit(lambda operation, *operands: used.add(operation), None, None, None)
    return used


def _possible(circuits: dict[str, Circuit]) -> Callable[[Cell], list[str]]:
    """Of a cell, the circuits that its managed operations suffice for."""
    return lambda cell: [name for name, circuit in circuits.items() if _used(circuit) <= {*cell.managed}]


def _evaluate(deep: Subject, circuit: Circuit) -> None:
    vectors = [deep.vector(seed) for seed in range(3)]
    x, y, p = vectors

    def meaning(operation: str, *operands: Any) -> Any:
        return examples.meaning(deep, operation, *operands)

    with supported("every operation of the circuit"):
        result = circuit(deep.managed.apply, deep.encrypted(x), deep.encrypted(y), p)
    right(deep, result, circuit(meaning, x, y, p), operations=OPERATIONS_OF_A_CIRCUIT)


@cells.each("name", _possible(CIRCUITS))
def test_circuit(deep: Subject, name: str) -> None:
    _evaluate(deep, CIRCUITS[name])


@pytest.mark.schemes("ckks")
@cells.each("name", _possible(DEEP_CIRCUITS))
def test_deep_ckks_circuit(deep: Subject, name: str) -> None:
    _evaluate(deep, DEEP_CIRCUITS[name])


@cells.where(cells.has_managed("add", "sub", "mul"))
def test_operands_stay_as_they_are(deep: Subject) -> None:
    """Alignment works on copies: x keeps level and value when x*y meets it."""
    values = [deep.vector(seed) for seed in range(2)]
    x, y = (deep.encrypted(item) for item in values)
    product = deep.managed.apply("mul", x, y)
    before = [levels.state_of(deep, item) for item in (x, y, product)]
    deep.managed.apply("add", x, product)
    deep.managed.apply("sub", product, x)
    bound = deep.managed.bind("add", [(x, product), (product, y)])
    assert bound.run(2) > 0
    assert [levels.state_of(deep, item) for item in (x, y, product)] == before
    for ciphertext, expected in zip((x, y), values, strict=True):
        right(deep, ciphertext, expected)
    right(deep, product, examples.meaning(deep, "mul", *values))


@cells.where(cells.has_managed("add", "mul"))
def test_primitives_stay_primitive_among_managed_operations(deep: Subject) -> None:
    """A managed operation leaves nothing behind: neither in its operands nor in its result."""
    x, y = (deep.encrypted(deep.vector(seed)) for seed in range(2))
    total = deep.managed.apply("add", x, y)
    deep.managed.apply("mul", x, y)
    for ciphertext in (x, y, total):
        level, scale, _ = levels.state_of(deep, ciphertext)
        square = None if scale is None else scale * scale
        product = deep.evaluator.apply("mul", ciphertext, ciphertext)
        assert levels.state_of(deep, product) == (level, square, 3)


@cells.where(cells.has_managed("mul"))
def test_managed_products_are_relinearized_and_rescaled(deep: Subject) -> None:
    x = deep.encrypted(deep.vector(0))
    before = levels.state_of(deep, x)
    level, scale, polynomials = levels.state_of(deep, deep.managed.apply("mul", x, x))
    assert polynomials == 2
    if deep.scheme == "ckks":
        assert level == before[0] - 1
        assert scale == pytest.approx(before[1], rel=1e-3)


@pytest.mark.schemes("ckks")
@cells.where(cells.has_managed("mul"))
@cells.each("operation", lambda cell: [name for name in PRODUCTS if name in cell.managed])
def test_multiplication_after_the_last_level_is_exhausted(deep: Subject, operation: str) -> None:
    """ckks: one product per level, then ``Exhausted``; additions still work at the last level."""
    values = deep.vector(0)
    managed, power, expected = deep.managed, deep.encrypted(values), values
    row = {
        "mul": lambda a: (a, deep.encrypted(values)),
        "square": lambda a: (a,),
        "mul_plain": lambda a: (a, values),
    }
    top = deep.evaluator.level(power)
    for left in range(top, 0, -1):
        assert deep.evaluator.level(power) == left
        power = managed.apply("mul", power, deep.encrypted(values))
        expected = expected * values
    assert deep.evaluator.level(power) == 0
    exhausted(lambda: managed.apply(operation, *row[operation](power)))
    exhausted(lambda: managed.bind(operation, [row[operation](power)]).run(1))
    right(deep, managed.apply("add", power, power), 2 * expected, operations=OPERATIONS_OF_A_CIRCUIT)
