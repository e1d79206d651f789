"""Computations of every kind, for tests against the functions themselves: without encryption, and on every library."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ciphermark import computation, dot, greater, integers, matvec, reals, rotate
from ciphermark_core.model import Scheme
from ciphermark_workloads.computation import Computation

MATRIX = np.random.default_rng(1).integers(-3, 4, (20, 50))
WEIGHTS = np.linspace(-1, 1, 50)


@computation(x=reals(4096, low=-2, high=2), tolerance=1e-3)
def horner(x):
    y = 0.004
    for c in (-0.012, 0.031, -0.05, 0.11, 0.2, -0.7, 0.3):
        y = y * x + c
    return y


@computation(x=reals(50), y=reals(50))
def inner_product(x, y):
    return dot(x, y) + 1


@computation(x=reals(50))
def weighted(x):
    return dot(x, WEIGHTS)


@computation(x=reals(50), tolerance=0.2)
def layer(x):
    """A square of a matrix product."""
    return matvec(MATRIX, x) ** 2


@computation(x=reals(50), w=reals(50, public=True))
def differences(x, w):
    """Values of a length that is no power of two change places, next to public ones."""
    return (x.rotate(1) - x) * w


@computation(x=reals(16), y=reals(16))
def moments(x, y):
    """Two results of different lengths."""
    return x * y + x, (x - x.mean()).sum()


@computation(x=reals(9000))
def long_vector(x):
    """A vector of several ciphertexts that is moved and summed."""
    return (x + x.rotate(-7)).sum() / 9000


@computation(x=reals(64, low=0, high=1), tolerance=0.02)
def threshold(x):
    return greater(x, 0.5)


@computation(a=integers(100, -9, 9), b=integers(100, 0, 5))
def whole(a, b):
    return a * b - 3 * a + 7


@computation(a=integers(100, -9, 9), b=integers(100, 0, 5))
def whole_product(a, b):
    return dot(a, b)


@computation(a=integers(50, -3, 3))
def whole_layer(a):
    return matvec(MATRIX, a).rotate(3)


@computation(a=integers(8, -3, 3))
def whole_polynomial(a):
    y = 1
    for c in (2, 0, -1, 5, 3, 1, -4):
        y = y * a + c
    return y


ALL: dict[str, Computation] = {
    name: item for name, item in tuple(vars().items()) if isinstance(item, Computation)
}
CELLS: list[tuple[str, Scheme]] = [(name, scheme) for name, item in ALL.items() for scheme in item.schemes]


# --- Random functions -------------------------------------------------------------------------------------------------

STEPS = ("add", "sub", "mul", "square", "scale", "shift", "rotate", "sum", "vector", "negate", "matrix")


@st.composite
def programs(draw: st.DrawFn) -> tuple[int, tuple[tuple[str, int, int, int], ...]]:
    """The length of two inputs, and steps: an operation, two earlier values, and a number."""
    length = draw(st.sampled_from([1, 2, 3, 8, 13, 64, 100]))
    steps = draw(
        st.lists(
            st.tuples(st.sampled_from(STEPS), st.integers(0, 99), st.integers(0, 99), st.integers(-3, 3)),
            min_size=1,
            max_size=8,
        )
    )
    return length, tuple(steps)


def function_of(length: int, steps: tuple[tuple[str, int, int, int], ...], is_whole: bool):
    """A function of two vectors that takes the steps; values stay small in the mean."""
    share = 1 if is_whole else 0.25
    vector = np.arange(length) % 3 - (1 if is_whole else 0.9)
    matrix = np.random.default_rng(0).integers(-1, 2, (length, length))

    def function(x, y):
        values = [x, y]
        for step, first, second, number in steps:
            a, b = values[first % len(values)], values[second % len(values)]
            operations = {
                "add": lambda a=a, b=b: a + b,
                "sub": lambda a=a, b=b: a - b,
                "mul": lambda a=a, b=b: a * b,
                "square": lambda a=a: a**2,
                "scale": lambda a=a, n=number: a * (n * share),
                "shift": lambda a=a, n=number: n * share + a,
                "rotate": lambda a=a, n=number: rotate(a, n) if np.size(vector) == _length(a) else a,
                "sum": lambda a=a: a.sum() * share,
                "vector": lambda a=a: vector * a + a,
                "negate": lambda a=a: 1 - a,
                "matrix": lambda a=a: matvec(matrix * share, a) if _length(a) == length else a,
            }
            values.append(operations[step]())
        return values[-1] + x

    return function


def _length(a) -> int:
    return len(a) if np.shape(a) else 1
