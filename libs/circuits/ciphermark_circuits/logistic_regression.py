"""Logistic regression in ckks: gradient steps with Nesterov's momentum and a cubic sigmoid, three products deep each.

With z = (2y − 1)·(1, x) a step is β ← v + rate/n · Σ σ(−z·v)·z, v = β + momentum·(β − β before), where
σ(−u) ≈ ½ − C1·u + C3·u³ on [−8, 8] (least squares; Kim et al., ePrint 2018/074).

Rows are in pairs of blocks: ``Z`` holds a·z twice, ``Z2`` holds b·z once and zeros. A sum over one block then has the
whole inner product in each slot of the first block, and the zeros drop the other half, without a mask and its level.
The factors a and b contain all constants, and the model is kept as ρ·β: see :class:`Descent`.

Key switching costs the square of the number of primes, so :attr:`Descent.chain` has two large primes for the three
products of a step, instead of one prime for each product: see ``docs/decisions/0036``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.products import product, raw_product, shrunk
from ciphermark_contract.interfaces import Evaluator, Handle, lowered, matched

C1, C3 = 0.15012, 0.001593
# The model is kept as ρ·β: a larger ρ reduces the effect of the noise of Z2 and its products, and increases that of Z.
# For the scales of `chain`, both effects are about equal here.
RHO = 1024.0
SCALE_BITS = 45
_LARGEST_PRIME_BITS = 60
_UNIT = (2 * C3) ** (
    1 / 3
)  # u is computed as _UNIT·u, so that the cubic term has the factor of the constant one


@dataclass(frozen=True, slots=True)
class Descent:
    """Number of steps from β = 0, learning rate, and momentum: none, or one half, which needs additions only."""

    steps: int
    rate: float
    has_momentum: bool

    @property
    def momentum(self) -> float:
        """0 or ½."""
        return 0.5 if self.has_momentum else 0.0

    @property
    def products(self) -> int:
        """Depth of training in multiplications; the first step takes none."""
        return 3 * (self.steps - 1)

    @property
    def chain(self) -> tuple[int, ...]:
        """Sizes of primes in bits, the special one last, for scales of ``SCALE_BITS``.

        u has 45 bits of scale; in the first of these steps, when v is as fresh as z, the last prime achieves this. u²
        and u·z have 90 bits, and a prime of 60 leaves 30. Their product has 60 and keeps them, since a prime would
        leave nothing. With z it has 105, and the next prime of 60 leaves u 45 again. Inference is such a product.
        """
        return (*[_LARGEST_PRIME_BITS] * (2 * self.steps - 1), SCALE_BITS, _LARGEST_PRIME_BITS)

    @property
    def row_factor(self) -> float:
        """The client's a: the first product, with ρ·β after one step, is _UNIT·u."""
        factor: float = _UNIT * (1 + self.momentum) / RHO
        return factor

    def gradient_factor(self, count: int) -> float:
        """The client's b for ``count`` rows: Σ b·z is ρ·β after one step."""
        return RHO * self.rate / (2 * count)


@dataclass(frozen=True, slots=True)
class Rows:
    """Encrypted training rows, ``Z`` and ``Z2``, and the slots of a block."""

    z: Sequence[Handle]
    z2: Sequence[Handle]
    block: int


def train(evaluator: Evaluator, rows: Rows, descent: Descent) -> Handle:
    """ρ·β in every block."""
    constant = sums.sum_of_blocks(evaluator, sums.total(evaluator, rows.z2), rows.block)
    beta = velocity = constant
    share = 1 + descent.momentum  # velocity·share is ρ·v
    for step in range(2, descent.steps + 1):
        factor = share / (1 + descent.momentum)  # the factor that makes a·z·velocity _UNIT·u again
        z = [_scaled(evaluator, item, velocity, factor) for item in rows.z]
        gradient = _gradient(evaluator, Rows(z, rows.z2, rows.block), velocity)
        before = beta
        beta = sums.total(
            evaluator,
            [gradient, matched(evaluator, velocity, gradient, share), matched(evaluator, constant, gradient)],
        )
        velocity, share = beta, 1.0
        if descent.has_momentum and step < descent.steps:
            velocity, share = _ahead(evaluator, beta, before), 0.5
    return beta


def infer(evaluator: Evaluator, rows: Sequence[Handle], beta: Handle, block: int) -> list[Handle]:
    """ρ·score in the first slot of each block. One product deep."""
    return [sums.inner_products(evaluator, row, beta, block) for row in rows]


def _gradient(evaluator: Evaluator, rows: Rows, velocity: Handle) -> Handle:
    """ρ·rate/n · Σ (C3·u³ − C1·u)·z in every block, three products deep."""
    terms = []
    for z, z2 in zip(rows.z, rows.z2, strict=True):
        u = sums.sum_in_blocks(evaluator, product(evaluator, z, velocity), rows.block)
        square = product(evaluator, u, u)
        limit = np.full(evaluator.parameters.slots, _UNIT**2 * C1 / C3)
        limits = evaluator.encode(limit, like=square, scale=evaluator.scale(square))
        curve = evaluator.apply("sub_plain", square, limits)
        terms.append(raw_product(evaluator, product(evaluator, u, z2), curve))
    return sums.sum_of_blocks(evaluator, shrunk(evaluator, sums.total(evaluator, terms)), rows.block)


def _scaled(evaluator: Evaluator, z: Handle, like: Handle, factor: float) -> Handle:
    """z·factor at the level of ``like``, at its own scale; it consumes the levels between."""
    level = evaluator.level(like)
    if factor == 1 or evaluator.level(z) == level:
        return lowered(evaluator, z, level)
    high = lowered(evaluator, z, level + 1)
    prime = float(evaluator.parameters.moduli[level + 1])
    factors = evaluator.encode(np.full(evaluator.parameters.slots, factor), like=high, scale=prime)
    return evaluator.apply("rescale", evaluator.apply("mul_plain", high, factors))


def _ahead(evaluator: Evaluator, beta: Handle, before: Handle) -> Handle:
    """2ρ·v = 3ρ·β − ρ·β before, for a momentum of one half."""
    thrice = evaluator.apply("add", evaluator.apply("add", beta, beta), beta)
    return evaluator.apply("sub", thrice, matched(evaluator, before, beta))
