"""Expressions: what a plain Python function computes on vectors, as a graph.

Calling a function with expressions in place of arrays yields the expression of its result. Every node has a length, the
bounds of its values, and the line of the user's file that made it. Values that are known without a key are folded into
constants. A function that needs a value of an expression, such as the condition of an ``if``, cannot be computed on
ciphertexts: it raises ``UserError`` with its line and what to write instead.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_circuits import minimax
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError

Numbers: TypeAlias = npt.NDArray[Any]  # float64, or int64 where integers are exact
LOW, DEGREES = 0.01, (7, 7, 15)  # of sign: the smallest magnitude, and the polynomials
_HIGHEST_POWER = 1 << 12
_POINTS = 4001  # at which the range of a composition is sampled
_COMPARISONS = {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "sign"}
_COMPARE = (
    "a comparison of encrypted values needs a polynomial: for values in [−1, 1], write sign(x) or "
    "greater(x, 0.5)"
)
_VALUE = (
    "needs a value that only the holder of the key knows: compute both sides and choose by a product, such as "
    "s * a + (1 - s) * b"
)
_DIVIDE = "no scheme divides by encrypted values: multiply by a polynomial that approximates 1/x"
_WHOLE = "integers are exact, and this number is not whole: declare reals, or scale by a whole number"


def place() -> str:
    """The line of the user's file that is being executed, as ``mine.py:12``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(str(frame.f_globals.get("__name__", ""))):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _is_ours(module: str) -> bool:
    return module.startswith("ciphermark") or module.partition(".")[0] == "numpy"


def _fault(reason: str) -> UserError:
    return UserError(f"{place()}: {reason}")


@dataclass(frozen=True, eq=False)
class Expression:
    """A vector of ``length`` values that a function computes, each between ``low`` and ``high``.

    Bounds have one value, or one for each. ``argument`` is the name of an input, the values of a constant, the steps of
    a rotation, the matrix of a product, the coefficients of a polynomial, or the polynomials of a sign. An expression
    that ``is_whole`` has integer values. A constant that is not ``is_fixed`` has other values in other executions: no
    graph depends on them.
    """

    operation: str
    operands: tuple[Expression, ...]
    length: int
    low: Floats
    high: Floats
    place: str
    is_whole: bool
    argument: Any = None
    is_fixed: bool = True

    @property
    def is_constant(self) -> bool:
        """Whether it is known without a key."""
        return self.operation == "constant"

    @property
    def largest(self) -> float:
        """The largest magnitude of its values."""
        return float(max(np.abs(self.low).max(), np.abs(self.high).max()))

    # --- What a function may write -----------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Expression:
        return total(self, other)

    def __radd__(self, other: Any) -> Expression:
        return total(other, self)

    def __sub__(self, other: Any) -> Expression:
        return difference(self, other)

    def __rsub__(self, other: Any) -> Expression:
        return difference(other, self)

    def __mul__(self, other: Any) -> Expression:
        return product(self, other)

    def __rmul__(self, other: Any) -> Expression:
        return product(other, self)

    def __neg__(self) -> Expression:
        return negated(self)

    def __pos__(self) -> Expression:
        return self

    def __pow__(self, exponent: Any) -> Expression:
        return _power(self, exponent)

    def __rpow__(self, _: Any) -> Expression:
        raise _fault("an exponent is a whole number, not an encrypted value")

    def __truediv__(self, divisor: Any) -> Expression:
        return _quotient(self, divisor)

    def __rtruediv__(self, _: Any) -> Expression:
        raise _fault(_DIVIDE)

    def __matmul__(self, other: Any) -> Any:
        return _matrix_product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _matrix_product(other, self)

    def rotate(self, steps: int) -> Expression:
        """The values moved to the left by some steps, cyclically: value i becomes value (i + steps) mod length."""
        if int(steps) != steps:
            raise _fault("values are rotated by a whole number of steps")
        turn = int(steps) % self.length
        if turn == 0:
            return self
        low, high = (np.roll(item, -turn) if item.size > 1 else item for item in (self.low, self.high))
        if self.is_constant:
            values = np.roll(np.broadcast_to(self.argument, self.length), -turn)
            return replace(self, argument=values, low=low, high=high)
        return Expression("turned", (self,), self.length, low, high, place(), self.is_whole, turn)

    def sum(self) -> Expression:
        """The sum of all values, a vector of length 1."""
        if self.length == 1:
            return self
        low, high = (np.broadcast_to(item, self.length).sum(keepdims=True) for item in (self.low, self.high))
        if self.is_constant:
            values = np.broadcast_to(self.argument, self.length).sum(keepdims=True)
            return replace(self, argument=values, low=low, high=high, length=1)
        return Expression("sum", (self,), 1, low, high, place(), self.is_whole)

    def mean(self) -> Expression:
        """The mean of all values, a vector of length 1."""
        return self.sum() / self.length

    def __len__(self) -> int:
        return self.length

    # --- What it may not ---------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise _fault(f"a branch on encrypted values {_VALUE}")

    def __float__(self) -> float:
        raise _fault(f"a conversion to a number {_VALUE}")

    def __int__(self) -> int:
        raise _fault(f"a conversion to a number {_VALUE}")

    def __index__(self) -> int:
        raise _fault(f"an index {_VALUE}")

    def __getitem__(self, _: Any) -> Expression:
        raise _fault(
            "no single value is taken from a ciphertext: use rotate(), a product with a mask of 0 and 1, or sum()"
        )

    def __iter__(self) -> Iterator[Expression]:
        raise _fault(
            "there is no loop over encrypted values: an operation takes all at once, and x.sum() adds them"
        )

    def __lt__(self, _: Any) -> bool:
        raise _fault(_COMPARE)

    def __le__(self, _: Any) -> bool:
        raise _fault(_COMPARE)

    def __gt__(self, _: Any) -> bool:
        raise _fault(_COMPARE)

    def __ge__(self, _: Any) -> bool:
        raise _fault(_COMPARE)

    def __eq__(self, _: object) -> bool:
        raise _fault(_COMPARE)

    def __ne__(self, _: object) -> bool:
        raise _fault(_COMPARE)

    __hash__ = object.__hash__

    def __abs__(self) -> Expression:
        raise _fault("there is no abs() of encrypted values: write x * sign(x), for values in [−1, 1]")

    def __array__(self, *_: Any, **__: Any) -> Numbers:
        raise _fault(f"a conversion to an array {_VALUE}")

    def __array_ufunc__(self, function: Any, method: str, *operands: Any, **options: Any) -> Expression:
        """Arithmetic of arrays with expressions; other functions of numpy have no meaning on ciphertexts."""
        name = function.__name__
        if name in _COMPARISONS:
            raise _fault(_COMPARE)
        if name not in _UFUNCS or method != "__call__" or options:
            raise _fault(
                f"numpy.{name} has no meaning on encrypted values: use a polynomial that approximates it"
            )
        return _UFUNCS[name](*operands)

    def __array_function__(
        self, function: Any, _: Any, operands: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        name = function.__name__
        if name not in _FUNCTIONS or options:
            raise _fault(
                f"numpy.{name} has no meaning on encrypted values: use + - * **, rotate, sum, dot and matvec"
            )
        return _FUNCTIONS[name](*operands)


# --- Constants --------------------------------------------------------------------------------------------------------


def constant(values: Any, bounds: tuple[float, float] | None = None, is_fixed: bool = True) -> Expression:
    """A vector, or a number, that is known without a key. Its bounds are its own values unless given."""
    try:
        numbers = np.atleast_1d(np.asarray(values))
        is_numeric = numbers.dtype.kind in "iufb" and numbers.ndim == 1 and numbers.size > 0
    except (TypeError, ValueError):
        is_numeric = False
    if not is_numeric or not np.isfinite(numbers).all():
        raise _fault(f"an operand is a number or a vector of finite numbers, not {_short(values)}")
    is_whole = numbers.dtype.kind in "iub"
    numbers = numbers.astype(np.int64 if is_whole else np.float64)
    low, high = (numbers, numbers) if bounds is None else bounds
    low, high = (np.atleast_1d(np.asarray(bound, np.float64)) for bound in (low, high))
    return Expression("constant", (), len(numbers), low, high, place(), is_whole, numbers, is_fixed)


def zeros(like: Expression) -> Expression:
    """Zeros of a length and kind."""
    return constant(np.zeros(like.length, np.int64 if like.is_whole else np.float64))


def _short(values: Any) -> str:
    shape = getattr(values, "shape", None)
    return f"an array of shape {shape}" if shape else type(values).__name__


def is_number(node: Expression) -> bool:
    """Whether it is one fixed number for all values."""
    return node.is_constant and node.is_fixed and bool((node.argument == node.argument[0]).all())


# --- Operations -------------------------------------------------------------------------------------------------------


def _pair(x: Any, y: Any) -> tuple[Expression, Expression, int]:
    """Two operands, and the length of their result: that of both, or of one where the other is a single value.

    Numbers next to integers must be whole.
    """
    a, b = (item if isinstance(item, Expression) else constant(item) for item in (x, y))
    if a.length != b.length and 1 not in (a.length, b.length):
        raise _fault(
            f"vectors of {a.length} and {b.length} values are combined: give both one length, or one of them 1"
        )
    if any(item.is_whole and not item.is_constant for item in (a, b)):
        a, b = (_whole(item) if item.is_constant and not item.is_whole else item for item in (a, b))
    return a, b, max(a.length, b.length)


def _whole(node: Expression) -> Expression:
    """A constant of whole numbers for integers."""
    if not (node.argument == np.rint(node.argument)).all():
        raise _fault(_WHOLE)
    return replace(node, argument=node.argument.astype(np.int64), is_whole=True)


def _made(
    operation: str, a: Expression, b: Expression, length: int, bounds: tuple[Floats, Floats]
) -> Expression:
    return Expression(operation, (a, b), length, *bounds, place(), a.is_whole and b.is_whole)


def _folded(values: Numbers, a: Expression, b: Expression, bounds: tuple[Floats, Floats]) -> Expression:
    is_whole = a.is_whole and b.is_whole
    return Expression(
        "constant", (), len(values), *bounds, place(), is_whole, values, a.is_fixed and b.is_fixed
    )


def total(x: Any, y: Any) -> Expression:
    """x + y value by value."""
    a, b, length = _pair(x, y)
    bounds = a.low + b.low, a.high + b.high
    if a.is_constant and b.is_constant:
        return _folded(a.argument + b.argument, a, b, bounds)
    if a.is_constant:
        a, b = b, a
    if is_number(b) and b.argument[0] == 0 and length == a.length:
        return a
    return _made("plus", a, b, length, bounds)


def difference(x: Any, y: Any) -> Expression:
    """x − y value by value."""
    a, b, length = _pair(x, y)
    if a is b:
        return zeros(a)
    if a.is_constant or b.is_constant:
        return total(a, negated(b))
    return _made("minus", a, b, length, (a.low - b.high, a.high - b.low))


def negated(a: Expression) -> Expression:
    """−a."""
    if a.is_constant:
        return replace(a, argument=-a.argument, low=-a.high, high=-a.low)
    return Expression("neg", (a,), a.length, -a.high, -a.low, place(), a.is_whole)


def product(x: Any, y: Any) -> Expression:
    """x·y value by value."""
    a, b, length = _pair(x, y)
    bounds = _bounds_of_product(a, b)
    if a.is_constant and b.is_constant:
        return _folded(a.argument * b.argument, a, b, bounds)
    if a.is_constant:
        a, b = b, a
    if is_number(b) and length == a.length:
        if b.argument[0] == 1:
            return a
        if b.argument[0] == -1:
            return negated(a)
    if b.is_constant and b.is_fixed and not b.argument.any():
        return zeros(a if a.length == length else b)
    return _made("times", a, b, length, bounds)


def _bounds_of_product(a: Expression, b: Expression) -> tuple[Floats, Floats]:
    ends = np.array(
        np.broadcast_arrays(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high), np.float64
    )
    low: Floats = ends.min(axis=0)
    if a is b:
        low = np.where((a.low <= 0) & (a.high >= 0), 0.0, np.minimum(a.low**2, a.high**2))
    return low, ends.max(axis=0)


def _power(a: Expression, exponent: Any) -> Expression:
    """A product of halves: ⌈log2(exponent)⌉ multiplications deep."""
    is_number = isinstance(exponent, (int, float, np.number))
    if not is_number or int(exponent) != exponent or not 0 <= exponent <= _HIGHEST_POWER:
        raise _fault(
            f"an exponent is a whole number from 0 to {_HIGHEST_POWER}: use a polynomial for other powers"
        )
    powers: dict[int, Expression] = {1: a}

    def power(k: int) -> Expression:
        if k not in powers:
            powers[k] = product(power(k // 2), power(k - k // 2))
        return powers[k]

    ones = np.ones(a.length, np.int64 if a.is_whole else np.float64)
    return power(int(exponent)) if exponent else constant(ones)


def _quotient(a: Expression, divisor: Any) -> Expression:
    by = divisor if isinstance(divisor, Expression) else constant(divisor)
    if not by.is_constant:
        raise _fault(_DIVIDE)
    if a.is_whole and not a.is_constant:
        raise _fault("integers are not divided: multiply instead, or declare reals")
    if not by.argument.all() or (by.low <= 0).any() != (by.high <= 0).any():
        raise _fault("a divisor may be 0")
    ends = 1.0 / by.high, 1.0 / by.low
    return product(a, replace(by, argument=1.0 / by.argument, low=ends[0], high=ends[1], is_whole=False))


# --- Functions of vectors, on expressions and on arrays ---------------------------------------------------------------


class Plain(np.ndarray):  # a view of any kind of numbers
    """An array with the methods of expressions: what a function computes on in the clear."""

    def rotate(self, steps: int) -> Numbers:
        """The values moved to the left by some steps, cyclically."""
        return np.roll(self, -steps)


def rotate(x: Any, steps: int) -> Any:
    """The values of ``x`` moved to the left by some steps, cyclically."""
    return x.rotate(steps) if isinstance(x, Expression) else np.roll(x, -steps)


def dot(x: Any, w: Any) -> Any:
    """The inner product of two vectors of one length, encrypted or public."""
    if not isinstance(x, Expression) and not isinstance(w, Expression):
        return np.dot(x, w)
    a, b, _ = _pair(x, w)
    if a.length != b.length:
        raise _fault(f"dot takes vectors of one length, not of {a.length} and {b.length} values")
    return product(a, b).sum()


def matvec(matrix: Any, x: Any) -> Any:
    """The product of a public matrix and a vector."""
    if isinstance(matrix, Expression):
        raise _fault("the matrix of matvec is public: an array of numbers")
    rows = np.asarray(matrix)
    if not isinstance(x, Expression):
        return rows @ x
    is_numeric = rows.ndim == 2 and rows.dtype.kind in "iufb" and bool(np.isfinite(rows).all())
    if not is_numeric or rows.shape[1] != x.length:
        raise _fault(f"matvec takes a matrix of finite numbers with {x.length} columns, not {_short(matrix)}")
    is_whole = rows.dtype.kind in "iub"
    if x.is_constant or not rows.any():
        known = x.argument if x.is_constant else np.zeros(x.length, np.int64 if is_whole else np.float64)
        return constant(rows @ np.broadcast_to(known, x.length))
    if x.is_whole and not (rows == np.rint(rows)).all():
        raise _fault(_WHOLE)
    low, high = np.broadcast_to(x.low, x.length), np.broadcast_to(x.high, x.length)
    above, below = np.maximum(rows, 0), np.minimum(rows, 0)
    bounds = above @ low + below @ high, above @ high + below @ low
    return Expression("matvec", (x,), len(rows), *bounds, place(), x.is_whole, rows)


def _matrix_product(x: Any, y: Any) -> Any:
    """x @ y: a matrix and a vector, or two vectors."""
    is_vector = isinstance(x, Expression) or np.ndim(x) < 2
    return dot(x, y) if is_vector else matvec(x, y)


def sign(x: Any, degrees: Sequence[int] = DEGREES, low: float = LOW) -> Any:
    """The sign of values in [−1, 1], near ±1 for magnitudes of at least ``low``: a composition of odd polynomials of
    these degrees. It is the same composition on arrays.
    """
    steps = minimax.sign_steps(tuple(degrees), low)
    polynomials = [
        OddPolynomial(step.coefficients, 2 if len(step.coefficients) <= 4 else 4) for step in steps
    ]
    if not isinstance(x, Expression):
        return _composed(polynomials, np.asarray(x)).view(Plain)
    if x.is_whole:
        raise _fault("sign is a polynomial of reals: declare reals")
    if x.largest > 1:
        raise _fault(f"sign takes values in [−1, 1], and these reach {x.largest:.4g}: divide them first")
    return sign_by(polynomials, x)


def sign_by(polynomials: Sequence[OddPolynomial], x: Expression) -> Expression:
    """The composition of odd polynomials, the first applied first, of values in [−1, 1]."""
    if x.is_constant:
        return constant(_composed(polynomials, x.argument), is_fixed=x.is_fixed)
    ends = _composed(polynomials, np.linspace(-1, 1, _POINTS))
    low, high = np.full(1, ends.min()), np.full(1, ends.max())
    return Expression("sign", (x,), x.length, low, high, place(), False, tuple(polynomials))


def _composed(polynomials: Sequence[OddPolynomial], values: Numbers) -> Numbers:
    for polynomial in polynomials:
        values = polynomial(values)
    return values


def greater(x: Any, threshold: float, degrees: Sequence[int] = DEGREES, low: float = LOW) -> Any:
    """Near 1 where x exceeds a public threshold by ``low``, near 0 where it is as far below, by :func:`sign`. The
    differences must be in [−1, 1].
    """
    return (sign(x - threshold, degrees, low) + 1) * 0.5


_UFUNCS: Mapping[str, Callable[..., Expression]] = {
    "add": total,
    "subtract": difference,
    "multiply": product,
    "divide": _quotient,
    "negative": negated,
    "positive": lambda a: a,
    "square": lambda a: product(a, a),
    "power": _power,
    "matmul": _matrix_product,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sum": lambda a: a.sum(),
    "mean": lambda a: a.mean(),
    "dot": _matrix_product,
    "roll": lambda a, shift: a.rotate(-shift),
    "ndim": lambda a: 1,
    "shape": lambda a: (a.length,),
}


# --- The graph --------------------------------------------------------------------------------------------------------


def ordered(roots: Sequence[Expression]) -> list[Expression]:
    """All nodes below the roots, operands first."""
    done: dict[int, Expression] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, is_expanded = stack.pop()
        if id(node) in done:
            continue
        if is_expanded:
            done[id(node)] = node
        else:
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(node.operands))
    return list(done.values())


def moves_values(roots: Sequence[Expression]) -> bool:
    """Whether values change places."""
    return any(node.operation in ("turned", "sum", "matvec") for node in ordered(roots))


def is_bounded(node: Expression) -> bool:
    """Whether the bounds of its values are finite."""
    return math.isfinite(node.largest)
