"""Computations of every kind, for tests against the functions themselves: without encryption, and on every library."""

from __future__ import annotations

import numpy as np

from ciphermark import computation, dot, greater, integers, matvec, reals
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
