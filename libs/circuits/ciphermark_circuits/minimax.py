"""Odd polynomials of least largest error, by the exchange algorithm of Remez, in the clear.

Coefficients are in the Chebyshev basis T_k(x / high) and rounded to 12 digits after the point: errors are far above,
and the last bits of a linear solver would make other programs of one circuit on another host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats

_POINTS = 8192  # of the grid that errors are looked for on, twice: with Chebyshev's and with equal ratios
_ROUNDS = 40
_DIGITS = 12
_CLOSE = 1e-6  # the largest error may be so much above the levelled one, relatively


@dataclass(frozen=True, slots=True)
class Approximation:
    """Coefficients of T_1, T_3, … and the largest error on the interval."""

    coefficients: tuple[float, ...]
    error: float


def odd_minimax(function: Callable[[Floats], Floats], degree: int, low: float, high: float) -> Approximation:
    """The odd polynomial of an odd degree that is nearest to an odd function on [low, high], 0 < low < high.

    Raises ``ValueError`` where the exchange does not settle.
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
    """Polynomials whose composition is near sign(x) for low ≤ |x| ≤ 1; the error of the last is that of all.

    Each maps what the one before it leaves, [1 − e, 1 + e], nearer to 1. Arguments are divided by the upper end
    of their interval: the first polynomials are scaled to give them so.
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
    """From low to high, both included."""
    nodes: Floats = (low + high) / 2 - (high - low) / 2 * np.cos(np.linspace(0, np.pi, count))
    return nodes.clip(low, high)


def _basis(x: Floats, degree: int) -> Floats:
    """T_1, T_3, … in columns."""
    columns: Floats = np.cos(np.outer(np.arccos(x), np.arange(1, degree + 1, 2)))
    return columns


def _extrema(errors: Floats, count: int) -> npt.NDArray[np.int64]:
    """Where errors of alternating sign are largest: ``count`` neighbours, without the smaller ones at the ends."""
    borders = np.flatnonzero(np.diff(np.sign(errors))) + 1
    parts = np.split(np.arange(len(errors)), borders)
    extrema = [int(part[np.abs(errors[part]).argmax()]) for part in parts]
    while len(extrema) > count:
        extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
    return np.array(extrema)
