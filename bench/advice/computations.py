"""Computations that no cost table and no other test has, for questions to advice: see ``questions.yaml``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ciphermark import computation, dot, integers, matvec, reals

_RANDOM = np.random.default_rng(7)
DENSE = _RANDOM.uniform(-1, 1, (48, 48))
WIDE = _RANDOM.uniform(-1, 1, (12, 200))
BAND = np.diag(np.full(256, 0.5)) + np.diag(np.full(255, 0.25), 1) + np.diag(np.full(255, 0.25), -1)
COUNTS = _RANDOM.integers(-4, 5, (24, 24))
PRICES = _RANDOM.integers(1, 50, 300)


@computation(x=reals(2000), tolerance=1e-3)
def variance(x: Any) -> Any:
    return ((x - x.mean()) ** 2).mean()


@computation(x=reals(3000, low=-3, high=3), tolerance=1e-2)
def cubic(x: Any) -> Any:
    return 0.1 * x**3 - 0.4 * x + 0.5


@computation(x=reals(4000, low=-1, high=1), tolerance=1e-4)
def smooth_step(x: Any) -> Any:
    return 0.5 + 0.9 * x - 0.6 * x**3 + 0.25 * x**5 - 0.05 * x**7


@computation(x=reals(600), y=reals(600), tolerance=1e-3)
def covariance(x: Any, y: Any) -> Any:
    return (x * y).mean() - x.mean() * y.mean()


@computation(x=reals(48), tolerance=1e-2)
def hidden_layer(x: Any) -> Any:
    return matvec(DENSE, x) ** 2


@computation(x=reals(200), tolerance=1e-2)
def scores(x: Any) -> Any:
    return matvec(WIDE, x) + 0.1


@computation(x=reals(256), tolerance=1e-3)
def diffusion(x: Any) -> Any:
    return matvec(BAND, x)


@computation(x=reals(1000), tolerance=1e-3)
def moving_mean(x: Any) -> Any:
    return (x.rotate(-2) + x.rotate(-1) + x + x.rotate(1) + x.rotate(2)) / 5


@computation(x=reals(10000), y=reals(10000), tolerance=1e-3)
def long_product(x: Any, y: Any) -> Any:
    return x * y - 0.5 * x


@computation(a=integers(300, 0, 9))
def invoice(a: Any) -> Any:
    return dot(a, PRICES)


@computation(a=integers(128, 0, 15), b=integers(128, 0, 15))
def distance(a: Any, b: Any) -> Any:
    return ((a - b) ** 2).sum()


@computation(a=integers(24, -5, 5))
def whole_layer(a: Any) -> Any:
    return matvec(COUNTS, a)


@computation(a=integers(1000, 0, 3), b=integers(1000, 0, 3))
def matches(a: Any, b: Any) -> Any:
    return (a - b) * (a + b) * (a - 1)
