"""A residual network on one encrypted image (ckks), in the low-memory design of Rovida and Leporati, "Encrypted image
classification with low memory footprint using fully homomorphic encryption", ePrint 2024/460.

All channels are in one ciphertext, one *plane* of side² slots each, and the pattern repeats in all slots. A convolution
multiplies nine shifted inputs with the diagonals of its channels, whose sums are rotated by one plane at a time: one
key. Half of the pixels are selected by masks in three directions, and doubling the channels restores half the pattern.
Activations are one polynomial of values in [−1, 1].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits import chebyshev, sums
from ciphermark_circuits.layout import Floats, powers
from ciphermark_circuits.products import weighted
from ciphermark_contract.interfaces import Evaluator, Handle, Vector

KERNEL = 3
_SHIFTS = (-1, 0, 1)
SELECTION_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Planes:
    """``channels`` planes of side × side pixels, row by row."""

    channels: int
    side: int

    @property
    def plane(self) -> int:
        """Slots of a plane."""
        return self.side**2

    @property
    def width(self) -> int:
        """Slots of the pattern."""
        return self.channels * self.plane

    @property
    def halved(self) -> Planes:
        """Twice the channels of half the side."""
        return Planes(2 * self.channels, self.side // 2)

    def repeated(self, pixels: Floats, slots: int) -> Vector:
        """An array (channels, side, side), or one that broadcasts to it, in all slots."""
        full = np.broadcast_to(pixels, (self.channels, self.side, self.side))
        return np.tile(full.ravel(), slots // self.width)


@dataclass(frozen=True, slots=True)
class Convolution:
    """Weights (outputs, inputs, 3, 3) and a bias (outputs,), around each pixel, with zeros outside of the image."""

    weights: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """The convolution of (inputs, side, side) in the clear."""
        side = x.shape[-1]
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
        total = np.zeros((len(self.weights), side, side))
        for row in range(KERNEL):
            for column in range(KERNEL):
                window = padded[:, row : row + side, column : column + side]
                total += np.tensordot(self.weights[:, :, row, column], window, axes=1)
        return total + self.bias[:, None, None]

    def scaled(self, factor: float) -> Convolution:
        """All outputs times a factor."""
        return Convolution(self.weights * factor, self.bias * factor)

    def part(self, first: int, count: int) -> Convolution:
        """Some of the outputs."""
        return Convolution(self.weights[first : first + count], self.bias[first : first + count])


def taps(evaluator: Evaluator, x: Handle, planes: Planes) -> list[Handle]:
    """The nine shifted inputs, row by row: hoisted rotations by rows, then by columns, with four keys."""
    rows = sums.rotated_by_each(evaluator, x, [shift * planes.side for shift in _SHIFTS])
    return [tap for row in rows for tap in sums.rotated_by_each(evaluator, row, _SHIFTS)]


def convolved(
    evaluator: Evaluator, shifted: Sequence[Handle], convolution: Convolution, planes: Planes
) -> Handle:
    """A convolution with as many outputs as inputs, of the result of :func:`taps`; one level deep."""
    scale, level = evaluator.parameters.scale or 1.0, evaluator.level(shifted[0])
    own = scale * evaluator.parameters.moduli[level] / (evaluator.scale(shifted[0]) or 1.0)
    parts = []
    for diagonal in range(planes.channels):
        products = (
            evaluator.apply("mul_plain", tap, evaluator.encode(factors, like=tap, scale=own))
            for tap, factors in zip(shifted, _factors(convolution, diagonal, planes, evaluator), strict=True)
        )
        parts.append(sums.total(evaluator, products))
    y = evaluator.apply("rescale", sums.turned_total(evaluator, parts, -planes.plane))
    bias = planes.repeated(convolution.bias[:, None, None], evaluator.parameters.slots)
    return evaluator.apply("add_plain", y, evaluator.encode(bias, like=y, scale=evaluator.scale(y)))


def selected(evaluator: Evaluator, x: Handle, planes: Planes) -> Handle:
    """Every second pixel of every second row, three levels deep: planes of half the side fill the first quarter."""
    side, half, count = planes.side, planes.side // 2, planes.channels
    x = _gathered(evaluator, x, [_column(planes, 2 * place) for place in range(half)], 1)
    x = _gathered(evaluator, x, [_row(planes, 2 * place * side) for place in range(half)], 2 * side - half)
    channels = [_channel(planes, place) for place in range(count)]
    return _gathered(evaluator, x, channels, planes.plane - half**2)


def joined(evaluator: Evaluator, first: Handle, second: Handle | None, planes: Planes) -> Handle:
    """The results of :func:`selected` for both halves of twice as many channels, ``None`` for zeros; the pattern, of
    half the width, is repeated once.
    """
    quarter = planes.width // 4
    if second is not None:
        first = evaluator.apply("add", first, evaluator.apply("rotate", second, -quarter))
    return sums.turned_sum(evaluator, first, [-2 * quarter])


def activated(evaluator: Evaluator, x: Handle, polynomial: Sequence[float]) -> Handle:
    """A polynomial, given by its Chebyshev coefficients."""
    return chebyshev.series(evaluator, x, polynomial, leaves=8)


def classified(evaluator: Evaluator, x: Handle, last: Floats, bias: Floats, planes: Planes) -> Handle:
    """Logits in the first slots, two levels deep: mean of each plane, then the matrix (classes, channels)."""
    slots, classes = evaluator.parameters.slots, len(last)
    x = sums.turned_sum(evaluator, x, powers(1, planes.plane))
    first = np.zeros((planes.side, planes.side))
    first[0, 0] = 1 / planes.plane
    x = weighted(evaluator, x, planes.repeated(first, slots))
    spread = 1 << (classes - 1).bit_length()
    x = sums.turned_sum(evaluator, x, [-turn for turn in powers(1, spread)])
    rows = np.zeros((planes.channels, planes.plane))
    rows[:, :classes] = last.T
    x = weighted(evaluator, x, planes.repeated(rows.reshape(-1, planes.side, planes.side), slots))
    x = sums.turned_sum(evaluator, x, powers(planes.plane, planes.width))
    biases = np.zeros(planes.width)
    biases[:classes] = bias
    plain = np.tile(biases, slots // planes.width)
    return evaluator.apply("add_plain", x, evaluator.encode(plain, like=x, scale=evaluator.scale(x)))


def relu(degree: int) -> tuple[float, ...]:
    """Chebyshev coefficients of an interpolation of max(0, x) = x/2 + |x|/2 on [−1, 1]."""
    nodes = np.polynomial.chebyshev.chebpts1(degree + 1)
    coefficients = np.polynomial.chebyshev.chebfit(nodes, np.abs(nodes) / 2, degree)
    coefficients[1::2] = 0
    coefficients[1] = 0.5
    return tuple(map(float, coefficients))


def _factors(
    convolution: Convolution, diagonal: int, planes: Planes, evaluator: Evaluator
) -> Iterable[Vector]:
    """The factors of each tap: in plane c, the weights from channel c to channel c + diagonal."""
    inputs = np.arange(planes.channels)
    outputs = (inputs + diagonal) % planes.channels
    places = np.arange(planes.side)
    inside = [(places + shift >= 0) & (places + shift < planes.side) for shift in _SHIFTS]
    for row in range(KERNEL):
        for column in range(KERNEL):
            weights = convolution.weights[outputs, inputs, row, column]
            pixels = np.outer(inside[row], inside[column]) * weights[:, None, None]
            yield planes.repeated(pixels, evaluator.parameters.slots)


def _gathered(evaluator: Evaluator, x: Handle, masks: Sequence[Floats], step: int) -> Handle:
    """Σ_k (x·masks[k] rotated by k·step), one level deep."""
    scale, level = evaluator.parameters.scale or 1.0, evaluator.level(x)
    own = scale * evaluator.parameters.moduli[level] / (evaluator.scale(x) or 1.0)
    parts = []
    for mask in masks:
        plain = np.tile(mask, evaluator.parameters.slots // len(mask))
        parts.append(evaluator.apply("mul_plain", x, evaluator.encode(plain, like=x, scale=own)))
    return evaluator.apply("rescale", sums.turned_total(evaluator, parts, step))


def _column(planes: Planes, column: int) -> Floats:
    """Every second row of a column."""
    mask = np.zeros((planes.channels, planes.side, planes.side))
    mask[:, ::2, column] = 1
    return mask.ravel()


def _row(planes: Planes, first: int) -> Floats:
    mask = np.zeros((planes.channels, planes.plane))
    mask[:, first : first + planes.side // 2] = 1
    return mask.ravel()


def _channel(planes: Planes, channel: int) -> Floats:
    mask = np.zeros((planes.channels, planes.plane))
    mask[channel, : planes.plane // 4] = 1
    return mask.ravel()
