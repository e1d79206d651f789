"""Odd minimax polynomials by the exchange algorithm of Remez, without encryption.

Coefficients are in the Chebyshev basis T_k(x / high), rounded to 12 digits after the point. Errors are far above that;
without rounding, the last bits of a linear solver would give different programs of a circuit on different hosts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats

_POINTS = 8192  # of each of the two grids that are searched for errors: Chebyshev's, and one of equal ratios
_ROUNDS = 40
_DIGITS = 12
_CLOSE = 1e-6  # relative tolerance of the largest error above the levelled one


@dataclass(frozen=True, slots=True)
class Approximation:
    """Coefficients of T_1, T_3, … and the largest error on the interval."""

    coefficients: tuple[float, ...]
    error: float


def odd_minimax(function: Callable[[Floats], Floats], degree: int, low: float, high: float) -> Approximation:
    """The odd polynomial of an odd degree that is nearest to an odd function on [low, high], 0 < low < high.

    Raises ``ValueError`` where the exchange does not converge.
    """
    grid = _grid(low, high)
    values, matrix = function(grid), _basis(grid / high, degree)
    unknowns = (degree + 1) // 2
    start = np.sqrt(_chebyshev_nodes(unknowns + 1, low**2, high**2))  # an odd polynomial is x times one of x²
    nodes = np.searchsorted(grid, start).clip(0, len(grid) - 1)
    for _ in range(_ROUNDS):
        signs = (-1.0) ** np.arange(unknowns + 1)
        solution = np.linalg.solve(np.column_stack([matrix[nodes], signs]), values[nodes])
        errors = values - matrix @ solution[:-1]
        worst = float(np.abs(errors).max())
        if worst <= (1 + _CLOSE) * abs(solution[-1]) or worst < 10.0**-_DIGITS:
            return Approximation(tuple(float(c) for c in np.round(solution[:-1], _DIGITS)), worst)
        nodes = _extrema(errors, unknowns + 1)
    raise ValueError(f"no minimax polynomial of degree {degree} on [{low}, {high}] after {_ROUNDS} rounds")


@cache
def sign_steps(degrees: tuple[int, ...], low: float) -> tuple[Approximation, ...]:
    """Polynomials whose composition approximates sign(x) for low ≤ |x| ≤ 1, with the error of the last one.

    Each maps the range of the previous one, [1 − e, 1 + e], nearer to 1. Arguments are divided by the upper end of
    their interval: all polynomials but the last are scaled accordingly.
    """
    steps, interval = [], (low, 1.0)
    for degree in degrees:
        step = odd_minimax(np.ones_like, degree, *interval)
        steps.append(step)
        interval = (1 - step.error, 1 + step.error)
    highs = [1 + step.error for step in steps[:-1]]
    scaled = [_divided(step, high) for step, high in zip(steps, [*highs, 1.0], strict=True)]
    return tuple(scaled)


def _divided(step: Approximation, divisor: float) -> Approximation:
    return Approximation(tuple(c / divisor for c in step.coefficients), step.error)


def _grid(low: float, high: float) -> Floats:
    return np.unique(np.concatenate([_chebyshev_nodes(_POINTS, low, high), np.geomspace(low, high, _POINTS)]))


def _chebyshev_nodes(count: int, low: float, high: float) -> Floats:
    """Chebyshev nodes from low to high, both included."""
    nodes: Floats = (low + high) / 2 - (high - low) / 2 * np.cos(np.linspace(0, np.pi, count))
    return nodes.clip(low, high)


def _basis(x: Floats, degree: int) -> Floats:
    """T_1, T_3, … in columns."""
    columns: Floats = np.cos(np.outer(np.arccos(x), np.arange(1, degree + 1, 2)))
    return columns


def _extrema(errors: Floats, count: int) -> npt.NDArray[np.int64]:
    """Indices of the largest errors of alternating sign: ``count`` neighbors, without the smaller ones at the ends."""
    borders = np.flatnonzero(np.diff(np.sign(errors))) + 1
    parts = np.split(np.arange(len(errors)), borders)
    extrema = [int(part[np.abs(errors[part]).argmax()]) for part in parts]
    while len(extrema) > count:
        extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
    return np.array(extrema)
