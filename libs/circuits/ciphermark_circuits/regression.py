"""Logistic regression with the logistic function and bootstrapping (ckks): the training of CryptOracle (ISPASS 2026).

With all rows z = (2y − 1)·(1, x) in every iteration, w ← v + γ·Σ σ(−z·v)·z and v ← w + μ·(w − w before). The logistic
function is its Chebyshev series on [−16, 16]. The state is that of :mod:`.helr`: w in each block of the first half of
the slots, v in each block of the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ciphermark_circuits import chebyshev, helr, sums
from ciphermark_circuits.helr import Batch
from ciphermark_circuits.layout import Floats, powers
from ciphermark_circuits.products import product, weighted
from ciphermark_contract.interfaces import Evaluator, Handle, lowered, matched

REACH = 16.0  # of z·v
DEGREE = 59
_LEAVES = 8


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """σ(−u) on [−16, 16] as a series of a degree."""

    degree: int = DEGREE

    @property
    def depth(self) -> int:
        """Levels of an iteration after the first: v from the state, z·v, mask, series, product with z, momentum."""
        return 5 + self.degree.bit_length()

    def __call__(self, u: Floats) -> Floats:
        """The value of the series."""
        return np.asarray(np.polynomial.chebyshev.chebval(u / REACH, coefficients(self.degree)))


@lru_cache(maxsize=4)
def coefficients(degree: int) -> Floats:
    """The series that interpolates σ(−16t) in the Chebyshev nodes of [−1, 1]: ½ and odd terms."""

    def logistic(t: Any) -> Any:
        return np.exp(-np.logaddexp(0, REACH * t))

    series = np.array(np.polynomial.chebyshev.chebinterpolate(logistic, degree))
    series[2::2] = 0  # but for rounding
    return series


def first(evaluator: Evaluator, batch: Batch, level: int, momentum: float) -> Handle:
    """The state after the first iteration, from w = v = 0, at a level."""
    layout = batch.layout
    factors = layout.halves(batch.rate / 2, batch.rate / 2 * (1 + momentum), evaluator.parameters.slots)
    gradient = sums.turned_sum(evaluator, sums.total(evaluator, batch.z), powers(layout.block, layout.width))
    return weighted(evaluator, gradient, factors, level)


def iteration(evaluator: Evaluator, batch: Batch, state: Handle, sigmoid: Sigmoid, momentum: float) -> Handle:
    """The next state, ``sigmoid.depth`` levels lower."""

    def stepped(v: Handle) -> Handle:
        terms = [_term(evaluator, item, v, batch, sigmoid) for item in batch.z]
        gradient = sums.turned_sum(
            evaluator, sums.total(evaluator, terms), powers(batch.layout.block, batch.layout.width)
        )
        return evaluator.apply("add", matched(evaluator, v, gradient), gradient)

    return helr.next_state(evaluator, batch.layout, state, stepped, -momentum)


def _term(evaluator: Evaluator, z: Handle, v: Handle, batch: Batch, sigmoid: Sigmoid) -> Handle:
    """γ·σ(−z·v)·z."""
    slots, block = evaluator.parameters.slots, batch.layout.block
    z = lowered(evaluator, z, evaluator.level(v))
    u = sums.turned_sum(evaluator, product(evaluator, z, v), powers(1, block))
    heads = np.zeros(block)
    heads[0] = 1 / REACH
    t = weighted(evaluator, u, np.tile(heads, slots // block))
    t = sums.turned_sum(evaluator, t, [-step for step in powers(1, block)])
    value = chebyshev.series(evaluator, t, [*batch.rate * coefficients(sigmoid.degree)], _LEAVES)
    return product(evaluator, z, value)


def trained(z: Floats, iterations: int, rate: float, momentum: float, sigmoid: Sigmoid) -> list[Floats]:
    """The same iterations in the clear: w after each."""
    models, before = [], np.zeros(z.shape[1])
    v = before
    for number in range(iterations):
        values = sigmoid(z @ v) if number else np.full(len(z), 0.5)
        w = v + rate * values @ z
        v, before = w + momentum * (w - before), w
        models.append(w)
    return models
