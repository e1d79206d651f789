"""The algorithms in the clear, in floating point: references for encrypted runs, and models for them.

Weights have shape (1 + columns,), the bias first.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ciphermark_circuits.layout import Floats, with_ones
from ciphermark_circuits.logistic_regression import C1, C3, Descent
from ciphermark_contract.checking import UNBOUNDED
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_workloads.learning.classifier import Result, Table, Task

_SAME_MEAN = 2.0**-20  # of z-scores
_LARGEST_MARGIN, _SHRUNK_MARGIN = 14.0, 6.0
_PUBLISHED_STEPS, _PUBLISHED_RATE, _PUBLISHED_MOMENTUM = 10, 0.1, 0.1
_ALPHAS = tuple(float(alpha) for alpha in np.arange(0.005, 0.5, 0.005))


def predicted(weights: Floats, task: Task) -> Result:
    """The scores of the test rows."""
    return Result(with_ones(task.test.features) @ weights, weights)


def by_class(table: Table) -> tuple[Floats, Floats]:
    """The rows of class 1 and those of class 0; raises ``UserError`` where a class has none."""
    rows = table.features[table.labels == 1], table.features[table.labels == 0]
    if not (len(rows[0]) and len(rows[1])):
        raise UserError("the training rows are all of one class: take another split or more rows")
    return rows


def linear_means(table: Table) -> Floats:
    """w = m₁ − m₀ and the bias −w·(m₁ + m₀)/2; raises ``Unsupported`` where w consists of rounding errors only."""
    one, zero = (rows.mean(axis=0) for rows in by_class(table))
    if np.abs(one - zero).max() < _SAME_MEAN:
        raise Unsupported("both classes have the same mean: linear means cannot separate them")
    return np.concatenate([[(zero - one) @ (zero + one) / 2], one - zero])


def signed_rows(table: Table) -> Floats:
    """z = (2y − 1)·(1, x), one row each."""
    signed: Floats = (2 * table.labels - 1)[:, None] * with_ones(table.features)
    return signed


def shrinkage(table: Table, descent: Descent) -> float:
    """The factor of features before gradient steps, at most 1.

    Steps at a fixed rate diverge where many columns are correlated: margins u of the first product leave the range of
    the cubic sigmoid at once. Later steps correct margins of up to 14 (Boston Housing has at most 13); larger ones are
    reduced to 6.
    """
    z = signed_rows(table)
    ahead = (1 + descent.momentum) * descent.rate / 2 * z.mean(axis=0)
    margin = float(np.abs(z @ ahead).max())
    return 1.0 if margin <= _LARGEST_MARGIN else float(np.sqrt(_SHRUNK_MARGIN / margin))


def shrunk(table: Table, factor: float) -> Table:
    """The table with its features multiplied."""
    return Table(table.features * factor, table.labels)


def logistic_regression(table: Table, descent: Descent) -> Floats:
    """Gradient steps with the cubic sigmoid: see :mod:`ciphermark_circuits.logistic_regression`."""
    factor = shrinkage(table, descent)
    z = signed_rows(shrunk(table, factor))
    beta = before = np.zeros(z.shape[1])
    for _ in range(descent.steps):
        ahead = beta + descent.momentum * (beta - before)
        u = z @ ahead
        before, beta = beta, ahead + descent.rate / len(z) * ((0.5 - C1 * u + C3 * u**3) @ z)
    return np.concatenate([beta[:1], factor * beta[1:]])


def published_regression(table: Table) -> Floats:
    """CryptOracle's training: ten of Nesterov's steps with the logistic function. They bootstrap between steps."""
    z = signed_rows(table)
    beta = before = np.zeros(z.shape[1])
    for _ in range(_PUBLISHED_STEPS):
        ahead = beta + _PUBLISHED_MOMENTUM * (beta - before)
        before, beta = beta, ahead + _PUBLISHED_RATE / len(z) * (z.T @ (1 / (1 + np.exp(z @ ahead))))
    return beta


def loss(table: Table, weights: Floats) -> float:
    """The mean logistic loss of rows; ``UNBOUNDED`` for weights that are not finite."""
    margins = signed_rows(table) @ weights
    return float(np.logaddexp(0, -margins).mean()) if np.isfinite(margins).all() else UNBOUNDED


def two_linear_steps(table: Table, alpha: float) -> Floats:
    """S − α/n · Zᵀ(Z·S) with S = Σ z: two steps with a linear sigmoid, up to a positive factor."""
    z = signed_rows(table)
    start = z.sum(axis=0)
    weights: Floats = start - alpha / len(z) * (z.T @ (z @ start))
    return weights


@lru_cache(maxsize=1)
def fitting_alpha(table: Table) -> float:
    """The α of :func:`two_linear_steps` whose scores, times a factor, come closest to ±1 on the training rows.

    The client chooses it from training rows only: accuracy falls fast on both sides of it. It is computed once per
    table, since many of its steps need it.
    """
    z = signed_rows(table)

    def misfit(alpha: float) -> float:
        margins = z @ two_linear_steps(table, alpha)
        return -float(margins.sum() ** 2 / (margins @ margins)) if margins.sum() > 0 else 0.0

    return min(_ALPHAS, key=misfit)
