"""Arrangement of expressions for little multiplicative depth: balanced products, and polynomials by powers."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ciphermark_circuits.expressions import (
    Expression,
    Numbers,
    constant,
    difference,
    is_number,
    matvec,
    negated,
    ordered,
    product,
    sign_by,
    total,
)

_HIGHEST_DEGREE = 255


@dataclass(frozen=True, slots=True)
class Arranged:
    """A graph of the same values with less multiplicative depth. ``depths`` are by the id of each node."""

    roots: tuple[Expression, ...]
    depths: dict[int, int]

    @property
    def depth(self) -> int:
        """Consecutive multiplications, those by numbers included."""
        return max(self.depths[id(root)] for root in self.roots)

    def lines(self) -> dict[str, int]:
        """The levels that each line of the user's file takes on a deepest path."""
        node = max(self.roots, key=lambda root: self.depths[id(root)])
        taken: dict[str, int] = {}
        while node.operands:
            below = max(node.operands, key=lambda operand: self.depths[id(operand)])
            levels = self.depths[id(node)] - self.depths[id(below)]
            if levels:
                taken[node.place] = taken.get(node.place, 0) + levels
            node = below
        return taken


@dataclass(frozen=True, slots=True)
class _Polynomial:
    """An expression as a polynomial of another one; ``coefficients`` are those of 1, x, x², …"""

    base: Expression
    coefficients: Numbers


def arranged(roots: Sequence[Expression], has_polynomials: bool = True) -> Arranged:
    """Products of several factors are balanced. With ``has_polynomials``, a polynomial of one expression whose steps
    are deeper than its degree needs, such as Horner's rule, is computed from powers instead.
    """
    nodes = ordered(roots)
    uses: dict[int, int] = {}
    for operand in (operand for node in nodes for operand in node.operands):
        uses[id(operand)] = uses.get(id(operand), 0) + 1
    arrangement = _Arrangement(uses, has_polynomials)
    for node in nodes:
        arrangement.add(node)
    return Arranged(tuple(arrangement.made[id(root)] for root in roots), arrangement.depths)


class _Arrangement:
    def __init__(self, uses: dict[int, int], has_polynomials: bool) -> None:
        self._has_polynomials = has_polynomials
        self._uses = uses
        self._polynomials: dict[int, _Polynomial] = {}
        self._factors: dict[int, list[Expression]] = {}
        self._products: dict[tuple[int, int], Expression] = {}
        self._alive: list[Expression] = []  # so that no id is used twice
        self.made: dict[int, Expression] = {}
        self.depths: dict[int, int] = {}

    def add(self, node: Expression) -> None:
        """Arrange a node whose operands are arranged."""
        direct = self._direct(node)
        self._alive.append(direct)
        polynomial = self._polynomials[id(node)] = self._polynomial(node)
        degree = len(polynomial.coefficients) - 1
        if degree < 1:
            direct = constant(np.full(node.length, polynomial.coefficients[0]))
            self.depths[id(direct)] = 0
        elif degree > 1 and self._has_polynomials:
            base = self.made[id(polynomial.base)]
            depth = self.depths[id(base)] + degree.bit_length() + node.is_whole  # numbers come last there
            if depth < self.depths[id(direct)]:
                direct = replace(
                    node, operation="polynomial", operands=(base,), argument=polynomial.coefficients
                )
                self.depths[id(direct)] = depth
        self._alive.append(direct)
        self.made[id(node)] = direct

    def _direct(self, node: Expression) -> Expression:
        if node.operation == "times":
            return self._balanced(node)
        operands = tuple(self.made[id(operand)] for operand in node.operands)
        if any(operand.is_constant for operand in operands) and node.operation in _FOLDED:
            direct = replace(_FOLDED[node.operation](node, *operands), place=node.place)
        else:
            direct = replace(node, operands=operands)
        below = max((self.depths[id(operand)] for operand in operands), default=0)
        self.depths[id(direct)] = below + _levels(node)
        return direct

    def _balanced(self, node: Expression) -> Expression:
        """The product of all factors, those of least depth first."""
        factors = []
        for operand in node.operands:
            is_inner = operand.operation == "times" and self._uses[id(operand)] == 1
            factors += self._factors[id(operand)] if is_inner and operand.length == node.length else [operand]
        self._factors[id(node)] = factors
        order = count()
        arranged_factors = [self.made[id(factor)] for factor in factors]
        heap = [(self._depth(item), next(order), item) for item in arranged_factors]
        heapq.heapify(heap)
        while len(heap) > 1:
            (_, _, a), (_, _, b) = heapq.heappop(heap), heapq.heappop(heap)
            made = self._product(node, a, b)
            heapq.heappush(heap, (self._depth(made), next(order), made))
        return heap[0][2]

    def _depth(self, node: Expression) -> int:
        """The depth of a factor; constants come first."""
        return -1 if node.is_constant else self.depths[id(node)]

    def _product(self, node: Expression, a: Expression, b: Expression) -> Expression:
        key = (min(id(a), id(b)), max(id(a), id(b)))
        if key not in self._products:
            made = product(a, b)
            if id(made) not in self.depths:
                made = replace(made, place=node.place)
                self.depths[id(made)] = max(self._depth(a), self._depth(b), -1) + 1
            self._alive.append(made)
            self._products[key] = made
        return self._products[key]

    def _polynomial(self, node: Expression) -> _Polynomial:
        """The polynomial of a node: of its operands' common base, else of itself."""
        itself = _Polynomial(node, np.array([0, 1]))
        if node.is_constant or any(
            operand.length != node.length for operand in node.operands if not operand.is_constant
        ):
            return itself
        parts = [_number(operand) or self._polynomials[id(operand)] for operand in node.operands]
        bases = {id(part.base) for part in parts if len(part.coefficients) > 1}
        if len(bases) != 1 or node.operation not in _COEFFICIENTS:
            return itself
        base = next(part.base for part in parts if len(part.coefficients) > 1)
        coefficients = _COEFFICIENTS[node.operation](*(part.coefficients for part in parts))
        nonzero = np.flatnonzero(coefficients)
        last = nonzero[-1] if nonzero.size else 0
        is_short = len(coefficients) <= _HIGHEST_DEGREE + 1
        return _Polynomial(base, coefficients[: last + 1]) if is_short else itself


def _number(node: Expression) -> _Polynomial | None:
    return _Polynomial(node, node.argument[:1]) if is_number(node) else None


def _sum_of(a: Numbers, b: Numbers) -> Numbers:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    sums_of = long.astype(np.result_type(a, b))
    sums_of[: len(short)] += short
    return sums_of


_COEFFICIENTS: dict[str, Callable[..., Numbers]] = {
    "plus": _sum_of,
    "minus": lambda a, b: _sum_of(a, -b),
    "neg": lambda a: -a,
    "times": np.convolve,
}


# What a node becomes whose operands have turned out to be constants.
_FOLDED: dict[str, Callable[..., Expression]] = {
    "plus": lambda _, a, b: total(a, b),
    "minus": lambda _, a, b: difference(a, b),
    "neg": lambda _, a: negated(a),
    "turned": lambda node, a: a.rotate(node.argument),
    "sum": lambda _, a: a.sum(),
    "matvec": lambda node, a: matvec(node.argument, a),
    "sign": lambda node, a: sign_by(node.argument, a),
}


def _levels(node: Expression) -> int:
    """The levels of an operation other than a product; masks of rotations come in addition."""
    if node.operation == "sign":
        return sum(polynomial.depth for polynomial in node.argument)
    return 1 if node.operation == "matvec" else 0
