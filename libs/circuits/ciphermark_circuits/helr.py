"""Logistic regression on encrypted mini-batches with bootstrapping (ckks): HELR, by Han, Hhan and Cheon, "Efficient
logistic regression on large encrypted data", ePrint 2018/662.

With z = (2y − 1)·(1, x), an iteration is w ← v + Σ γ·σ(−z·v)·z and v ← (1 − η)·w + η·w before. The sigmoid is
σ(−u) ≈ C0 − C1·u + C3·u³ on [−16, 16].

A row of z fills a block of slots. The model is one ciphertext, the *state*: ρ·w in each block of the first half of the
slots, ρ·v in each block of the second. The masks that join the halves are also the factors of the momentum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.layout import Floats, powers
from ciphermark_circuits.products import product, weighted
from ciphermark_contract.interfaces import Evaluator, Handle, lowered, matched

C0, C1, C3 = 0.5, 0.0843, 0.0002
# The state is kept below 1, as bootstrapping requires.
RHO = 0.5
# Levels of an iteration after the first: v from the state, z·v, mask, z·p and p², their product, momentum.
DEPTH = 6


@dataclass(frozen=True, slots=True)
class Layout:
    """``width`` slots, which repeat to the end of the ciphertext, in blocks of ``block`` slots."""

    width: int
    block: int

    def repeated(self, pattern: Floats, slots: int) -> Floats:
        """A pattern of ``width`` slots in all slots."""
        return np.tile(pattern, slots // self.width)

    def halves(self, first: float, second: float, slots: int) -> Floats:
        """One number in the first half of the pattern, another in the second."""
        return self.repeated(np.repeat([first, second], self.width // 2), slots)


@dataclass(frozen=True, slots=True)
class Batch:
    """Encrypted rows z, the rate γ, and the layout of rows."""

    z: Sequence[Handle]
    rate: float
    layout: Layout


def momentum(iteration: int) -> float:
    """η of Nesterov's schedule after an iteration, counted from 1: 0 after the first, negative later."""
    alpha = 1.0
    for _ in range(iteration - 1):
        alpha = _next(alpha)
    return (1 - alpha) / _next(alpha)


def first(evaluator: Evaluator, batch: Batch, level: int) -> Handle:
    """The state after the first iteration, from w = v = 0, at a level."""
    factor = np.full(evaluator.parameters.slots, RHO * batch.rate * C0)
    gradient = weighted(evaluator, sums.total(evaluator, batch.z), factor, level)
    return sums.turned_sum(evaluator, gradient, powers(batch.layout.block, batch.layout.width))


def iteration(evaluator: Evaluator, batch: Batch, state: Handle, eta: float) -> Handle:
    """The next state, ``DEPTH`` levels lower; ``eta`` is the momentum after this iteration."""
    return next_state(evaluator, batch.layout, state, lambda v: _stepped(evaluator, batch, v), eta)


def next_state(
    evaluator: Evaluator, layout: Layout, state: Handle, stepped: Callable[[Handle], Handle], eta: float
) -> Handle:
    """The state with w = ``stepped`` of v, which is in all blocks, and the v that follows by the momentum ``eta``. It
    takes one level more on either side.
    """
    slots = evaluator.parameters.slots
    exchanged = evaluator.apply("rotate", state, layout.width // 2)  # [v, w]
    v = evaluator.apply(
        "add",
        weighted(evaluator, exchanged, layout.halves(1, 0, slots)),
        weighted(evaluator, state, layout.halves(0, 1, slots)),
    )
    w = weighted(evaluator, stepped(v), layout.halves(1, 1 - eta, slots))
    before = weighted(evaluator, exchanged, layout.halves(0, eta, slots), evaluator.level(w))
    return evaluator.apply("add", w, before)


def _stepped(evaluator: Evaluator, batch: Batch, v: Handle) -> Handle:
    """ρ·w, four levels below ρ·v."""
    rate, layout = batch.rate, batch.layout
    z = [lowered(evaluator, item, evaluator.level(v)) for item in batch.z]
    unit = (RHO * rate * C3) ** (1 / 3)  # p is unit·u, so that p³ has its factor in the gradient
    terms = [_term(evaluator, item, v, unit, layout) for item in z]
    cubic = sums.total(evaluator, terms)
    linear = matched(evaluator, sums.total(evaluator, z), cubic, RHO * rate * C0)
    gradient = evaluator.apply("add", cubic, linear)
    gradient = sums.turned_sum(evaluator, gradient, powers(layout.block, layout.width))
    return evaluator.apply("add", matched(evaluator, v, gradient), gradient)


def _term(evaluator: Evaluator, z: Handle, v: Handle, unit: float, layout: Layout) -> Handle:
    """ρ·γ·(C3·u³ − C1·u)·z."""
    steps, slots = powers(1, layout.block), evaluator.parameters.slots
    u = sums.turned_sum(evaluator, product(evaluator, z, v), steps)
    heads = np.zeros(layout.block)
    heads[0] = unit / RHO
    p = weighted(evaluator, u, np.tile(heads, slots // layout.block))
    p = sums.turned_sum(evaluator, p, [-step for step in steps])
    square = product(evaluator, p, p)
    limit = np.full(slots, unit**2 * C1 / C3)
    curve = evaluator.apply(
        "sub_plain", square, evaluator.encode(limit, like=square, scale=evaluator.scale(square))
    )
    return product(evaluator, product(evaluator, z, p), curve)


def trained(batches: Sequence[Floats], rate: float) -> list[tuple[Floats, Floats]]:
    """The same iterations in the clear, one for each batch of rows z (samples, values): w and v after each."""
    models = []
    w = v = np.zeros(batches[0].shape[1])
    for number, z in enumerate(batches, start=1):
        u = z @ v
        stepped = v + rate * (C0 - C1 * u + C3 * u**3) @ z
        eta = momentum(number)
        w, v = stepped, (1 - eta) * stepped + eta * w
        models.append((w, v))
    return models


def _next(alpha: float) -> float:
    return float(1 + np.sqrt(1 + 4 * alpha**2)) / 2
