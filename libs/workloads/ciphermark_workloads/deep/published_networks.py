"""The networks of CraterLake's programs as circuits with placeholders for weights: for traces, never for a library.

LoLa is by Brutzkus, Gilad-Bachrach and Elisha (ICML 2019), ResNet-20 by Lee et al. (ICML 2022, multiplexed packing).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import numpy as np

from ciphermark_circuits import chebyshev, sums
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_circuits.layout import powers
from ciphermark_circuits.products import product, raw_product, shrunk, weighted
from ciphermark_contract.interfaces import Evaluator, Handle, Vector, lowered, matched


class Placeholders:
    """Different vectors of one value each, in place of weights, masks and biases."""

    def __init__(self) -> None:
        self._numbers = count()

    def __call__(self) -> Vector:
        return np.array([float(next(self._numbers))])


Weights: TypeAlias = Callable[[], Vector] | Callable[[], Handle]
"""The next weight: a placeholder, or a ciphertext."""

_LOLA_MAPS, _LOLA_ROWS, _CLASSES = 5, 13, 10
LOLA_INPUTS = 25
LOLA_WEIGHTS = _LOLA_MAPS * LOLA_INPUTS + _LOLA_ROWS + _CLASSES
_LOLA_PLACES = 169
_BLOCK = 1024  # slots of a row of the dense layer, of which eight fill a ciphertext
_HIDDEN_BLOCK = 128

CIFAR_INPUTS = 192
_CIFAR_MAPS, _CIFAR_PLACES, _CIFAR_ROWS = 83, 196, 5_488


def lola_mnist(evaluator: Evaluator, inputs: Sequence[Handle], weights: Weights) -> list[Handle]:
    """Ten logits: 125 + 13 + 10 weights, in this order. Plain weights of the convolution are single numbers."""
    masks, slots = Placeholders(), evaluator.parameters.slots
    maps = [_convolved(evaluator, inputs, weights) for _ in range(_LOLA_MAPS)]
    packed = _biased(evaluator, sums.turned_total(evaluator, maps, -_LOLA_PLACES), masks)
    features = product(evaluator, packed, packed)
    features = sums.turned_sum(evaluator, features, [-turn for turn in powers(_BLOCK, slots)])
    rows = []
    for _ in range(_LOLA_ROWS):
        row = _times(evaluator, features, weights())
        rows.append(weighted(evaluator, sums.turned_sum(evaluator, row, powers(1, _BLOCK)), masks()))
    hidden = _biased(evaluator, sums.turned_total(evaluator, rows, -1), masks)
    hidden = product(evaluator, hidden, hidden)
    return [
        sums.turned_sum(evaluator, _times(evaluator, hidden, weights()), powers(1, _HIDDEN_BLOCK))
        for _ in range(_CLASSES)
    ]


def lola_cifar(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
    """Ten logits: 83 maps in two ciphertexts, 5,488 rows of the second layer, each a sum over all slots."""
    weights, slots = Placeholders(), evaluator.parameters.slots
    maps = [_convolved(evaluator, inputs, weights) for _ in range(_CIFAR_MAPS)]
    half = slots // _CIFAR_PLACES
    parts = [sums.turned_total(evaluator, some, -_CIFAR_PLACES) for some in (maps[:half], maps[half:])]
    features = [product(evaluator, *[_biased(evaluator, part, weights)] * 2) for part in parts]
    selected: list[Handle] = []
    for _ in range(_CIFAR_ROWS):
        products = (
            evaluator.apply("mul_plain", item, _encoded(evaluator, item, weights())) for item in features
        )
        row = evaluator.apply("rescale", sums.total(evaluator, products))
        row = sums.turned_sum(evaluator, row, powers(1, slots))
        masked = evaluator.apply("mul_plain", row, _encoded(evaluator, row, weights()))
        selected = [evaluator.apply("add", *selected, masked)] if selected else [masked]
    hidden = _biased(evaluator, evaluator.apply("rescale", selected[0]), weights)
    hidden = product(evaluator, hidden, hidden)
    return [
        sums.turned_sum(evaluator, _times(evaluator, hidden, weights()), powers(1, slots))
        for _ in range(_CLASSES)
    ]


_SIDE = 32
_CHANNELS = (16, 32, 64)  # by stage; a stage has half of the pixels of the one before
_BLOCKS = 3
_ACTIVATIONS = tuple(
    OddPolynomial(tuple(1 / (k + 1) for k in range((degree + 1) // 2)), 4) for degree in (15, 15, 27)
)


def residual_network(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
    """Ten logits of one image, all channels in one ciphertext. The sign of a ReLU is a composition of degrees 15, 15
    and 27. A bootstrap precedes the first and the third of them, and one follows the ReLU.
    """
    net = _Residual(evaluator)
    x = net.activated(net.convolved(inputs[0], _Convolution(16, 16, 0)))
    for stage, channels in enumerate(_CHANNELS):
        for block in range(_BLOCKS):
            first = stage > 0 and block == 0
            entering = _Convolution(_CHANNELS[stage - first], channels, stage - first)
            y = net.activated(net.convolved(x, entering))
            y = net.convolved(y, _Convolution(channels, channels, stage))
            short = net.downsampled(x, entering) if first else x
            x = net.activated(evaluator.apply("add", y, matched(evaluator, short, y)))
    return [net.classified(x)]


@dataclass(frozen=True, slots=True)
class _Convolution:
    """A convolution of 3 × 3. Pixels are at distances of 2^stage in planes of a whole side."""

    channels: int
    outputs: int
    stage: int

    @property
    def plane(self) -> int:
        """Slots of a channel."""
        return _SIDE**2 >> 2 * self.stage

    def copies(self, slots: int) -> int:
        """How often the input fits a ciphertext: so many output channels are computed at once."""
        return slots // (self.channels * self.plane)


@dataclass(frozen=True, slots=True)
class _Residual:
    evaluator: Evaluator
    weights: Placeholders = field(default_factory=Placeholders)

    @property
    def slots(self) -> int:
        """Slots of a ciphertext."""
        return self.evaluator.parameters.slots

    def convolved(self, x: Handle, shape: _Convolution) -> Handle:
        """A convolution with its normalization, two levels deep: products with taps, sums over channels, and a mask
        for each output channel.
        """
        evaluator, gap = self.evaluator, 1 << shape.stage
        shifts = [gap * (row * _SIDE + column) for row in (-1, 0, 1) for column in (-1, 0, 1)]
        taps = sums.rotated_by_each(evaluator, x, shifts)
        copies = shape.copies(self.slots)
        selected: list[Handle] = []
        for group in range(shape.outputs // copies):
            products = (
                evaluator.apply("mul_plain", tap, _encoded(evaluator, tap, self.weights())) for tap in taps
            )
            total = evaluator.apply("rescale", sums.total(evaluator, products))
            total = sums.turned_sum(evaluator, total, powers(shape.plane, shape.plane * shape.channels))
            for copy in range(copies):
                place = group * copies + copy
                step = copy * (self.slots // copies) - place * shape.plane
                moved = evaluator.apply("rotate", total, step) if step else total
                masked = evaluator.apply("mul_plain", moved, _encoded(evaluator, moved, self.weights()))
                selected = [evaluator.apply("add", *selected, masked)] if selected else [masked]
        y = _biased(evaluator, evaluator.apply("rescale", selected[0]), self.weights)
        return sums.turned_sum(evaluator, y, [-turn for turn in powers(self.slots // copies, self.slots)])

    def downsampled(self, x: Handle, shape: _Convolution) -> Handle:
        """Every second pixel of each channel, by a mask and a rotation for each."""
        evaluator, parts = self.evaluator, []
        for channel in range(shape.channels):
            masked = weighted(evaluator, x, self.weights())
            step = channel * shape.plane // 2
            parts.append(evaluator.apply("rotate", masked, step) if step else masked)
        return sums.total(evaluator, parts)

    def activated(self, x: Handle) -> Handle:
        """½·x·(1 + sign x), bootstrapped."""
        evaluator = self.evaluator
        first, second, third = _ACTIVATIONS
        x = self.bootstrapped(x)
        sign = self.bootstrapped(chebyshev.evaluate(evaluator, x, [first, second]))
        sign = chebyshev.evaluate(evaluator, sign, [third])
        ones = np.ones(self.slots)
        shifted = evaluator.apply(
            "add_plain", sign, evaluator.encode(ones, like=sign, scale=evaluator.scale(sign))
        )
        return self.bootstrapped(product(evaluator, x, shifted))

    def bootstrapped(self, x: Handle) -> Handle:
        """A bootstrap at the lowest level."""
        return self.evaluator.apply("bootstrap", lowered(self.evaluator, x, 0))

    def classified(self, x: Handle) -> Handle:
        """The sums of 64 channels of 8 × 8, and the last layer by ten diagonals."""
        evaluator, plane = self.evaluator, _SIDE**2 >> 4
        x = sums.turned_sum(evaluator, x, powers(1, plane))
        x = weighted(evaluator, x, self.weights())
        turned = sums.rotated_by_each(evaluator, x, [plane * place for place in range(_CLASSES)])
        products = (
            evaluator.apply("mul_plain", each, _encoded(evaluator, each, self.weights())) for each in turned
        )
        total = evaluator.apply("rescale", sums.total(evaluator, products))
        return sums.turned_sum(evaluator, total, powers(16 * plane, 64 * plane))


def _convolved(evaluator: Evaluator, inputs: Sequence[Handle], weights: Weights) -> Handle:
    """Σ weight·input, rescaled and of two polynomials; plain weights are numbers."""
    factors = [weights() for _ in inputs]
    if isinstance(factors[0], np.ndarray):
        products = [
            evaluator.apply("mul_scalar", item, float(factor[0]))
            for item, factor in zip(inputs, factors, strict=True)
        ]
        return evaluator.apply("rescale", sums.total(evaluator, products))
    terms = (raw_product(evaluator, item, factor) for item, factor in zip(inputs, factors, strict=True))
    return shrunk(evaluator, sums.total(evaluator, terms))


def _times(evaluator: Evaluator, a: Handle, weight: Vector | Handle) -> Handle:
    if isinstance(weight, np.ndarray):
        return weighted(evaluator, a, weight)
    return product(evaluator, a, weight)


def _biased(evaluator: Evaluator, a: Handle, biases: Placeholders) -> Handle:
    return evaluator.apply("add_plain", a, evaluator.encode(biases(), like=a, scale=evaluator.scale(a)))


def _encoded(evaluator: Evaluator, a: Handle, values: Vector) -> Handle:
    """A plaintext at the scale that the next rescaling divides by."""
    return evaluator.encode(values, like=a, scale=float(evaluator.parameters.moduli[evaluator.level(a)]))
