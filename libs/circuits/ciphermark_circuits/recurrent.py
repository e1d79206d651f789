"""A recurrent network on an encrypted sequence (ckks): h ← σ(W0·h + W1·x) with σ(y) ≈ C1·y − C3·y³ on [−6, 6].

A d × d matrix fills d² slots, row by row. In an *even* step the state is a row, repeated in every row; sums inside rows
give a column, which a mask spreads over the rows. In an *odd* step the state is that column, the matrix is transposed,
and cyclic sums over rows give the next row without a mask.

The state is −κ·``GAIN``·h with κ² = C3, so that σ takes no product with a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.layout import Floats, powers
from ciphermark_circuits.products import product, weighted
from ciphermark_contract.interfaces import Evaluator, Handle, Vector

C1, C3 = 0.2495, 0.001636
_KAPPA = C3**0.5
_DOUBLINGS = 4
GAIN = 1 << _DOUBLINGS  # by additions; it keeps the state well above the error of bootstrapping
DEPTH = (4, 3)  # levels of an even and of an odd step


@dataclass(frozen=True, slots=True)
class Weights:
    """The matrices W0 and W1 as vectors of d² slots or more, by the parity of steps: with the factors of the state."""

    size: int
    state: Sequence[Vector]
    input: Sequence[Vector]

    @classmethod
    def of(cls, state: Floats, values: Floats, slots: int) -> Weights:
        """The vectors of two d × d matrices, repeated in all slots."""
        size = len(state)

        def vectors(matrix: Floats) -> list[Vector]:
            return [np.tile(each.ravel(), slots // size**2) for each in (matrix, matrix.T)]

        return cls(size, vectors(-state / GAIN), vectors(_KAPPA * values))


def laid_out(x: Floats, step: int, slots: int) -> Vector:
    """A vector of d values as the client sends it for a step: rows in even steps, columns in odd ones."""
    size = len(x)
    square = np.tile(x, (size, 1))
    return np.tile((square if step % 2 == 0 else square.T).ravel(), slots // size**2)


def step(evaluator: Evaluator, x: Handle, state: Handle | None, number: int, weights: Weights) -> Handle:
    """The next state, ``DEPTH`` levels below the present one; before the first step (``None``) it is 0."""
    parity, size = number % 2, weights.size
    if state is None:
        level = evaluator.level(x) - 1
        total = weighted(evaluator, x, weights.input[parity], level)
    else:
        level = evaluator.level(state) - 1
        total = evaluator.apply(
            "add",
            weighted(evaluator, state, weights.state[parity]),
            weighted(evaluator, x, weights.input[parity], level),
        )
    if parity == 0:
        total = sums.turned_sum(evaluator, total, powers(1, size))
        first = np.zeros(size)
        first[0] = 1.0
        total = weighted(evaluator, total, np.tile(first, evaluator.parameters.slots // size))
        total = sums.turned_sum(evaluator, total, [-turn for turn in powers(1, size)])
    else:
        total = sums.turned_sum(evaluator, total, powers(size, size**2))
    return _activated(evaluator, total)


def _activated(evaluator: Evaluator, u: Handle) -> Handle:
    """−κ·GAIN·σ(y) for u = κ·y: GAIN·u·(u² − C1)."""
    square = product(evaluator, u, u)
    numbers = np.full(evaluator.parameters.slots, C1)
    curve = evaluator.apply(
        "sub_plain", square, evaluator.encode(numbers, like=square, scale=evaluator.scale(square))
    )
    state = product(evaluator, u, curve)
    for _ in range(_DOUBLINGS):
        state = evaluator.apply("add", state, state)
    return state


def values(slots: Vector, count: int, size: int) -> Floats:
    """h in the decrypted state after a number of steps: a column after an even step, a row after an odd one."""
    square = slots[: size**2].reshape(size, size)
    state: Floats = (square[:, 0] if count % 2 else square[0]) / (-_KAPPA * GAIN)
    return state


def evaluated(inputs: Sequence[Floats], state: Floats, values: Floats) -> list[Floats]:
    """h after each input, in the clear with the same polynomial; ``state`` is W0, ``values`` W1."""
    results, h = [], np.zeros(len(state))
    for x in inputs:
        y = state @ h + values @ x
        h = C1 * y - C3 * y**3
        results.append(h)
    return results


def held(h: Floats) -> Floats:
    """The values that a state h has in the slots."""
    state: Floats = -_KAPPA * GAIN * h
    return state
