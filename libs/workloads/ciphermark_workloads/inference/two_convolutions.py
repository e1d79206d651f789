"""Two convolutions at every second place, a dense layer and squares between them: LoLa-CIFAR's network, in the clear.
Pure.

Brutzkus et al., "Low latency privacy preserving inference", ICML 2019: the form of their code of 2019, whose second
convolution has 112 maps of 10 × 10 taps. Weights are random here: those that were trained are not to be had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_workloads.inference.network import Layer


@dataclass(frozen=True, slots=True)
class Shape:
    """Images of ``channels`` × ``side`` × ``side`` numbers. A convolution of ``kernel`` × ``kernel`` taps to ``maps``
    maps, with ``padding`` rows and columns of zeros on each side of an image; one of k × k taps, k = 4 ``reach`` + 2,
    to ``features`` maps of half as many rows and columns; ``classes`` logits.
    """

    channels: int
    side: int
    kernel: int
    padding: int
    maps: int
    reach: int
    features: int
    classes: int

    @property
    def places(self) -> int:
        """Rows of a map of the first convolution."""
        return (self.side + 2 * self.padding - self.kernel) // 2 + 1

    @property
    def half(self) -> int:
        """Rows of a map of the second."""
        return self.places // 2

    @property
    def taps(self) -> int:
        """Weights of a map of the first convolution."""
        return self.channels * self.kernel**2

    @property
    def second_kernel(self) -> int:
        """Rows of taps of the second, whose padding is 2 ``reach``."""
        return 4 * self.reach + 2

    @property
    def neurons(self) -> int:
        """What the dense layer takes."""
        return self.features * self.half**2


LOLA_CIFAR = Shape(channels=3, side=32, kernel=8, padding=1, maps=83, reach=2, features=112, classes=10)


@dataclass(frozen=True, slots=True)
class Network:
    """logits = dense(second(first(image)²)²). A convolution has a row of taps for each map, by the channel that they
    meet, then by rows.
    """

    shape: Shape
    first: Layer
    second: Layer
    dense: Layer

    def logits(self, image: Floats) -> Floats:
        """Of an image (channels, side, side): (classes,)."""
        shape = self.shape
        maps = _convolved(patches(image, shape), self.first).reshape(shape.maps, shape.places, shape.places)
        met = _patches(maps**2, shape.second_kernel, 2 * shape.reach)
        hidden = _convolved(met, self.second).ravel()
        return self.dense.weights @ hidden**2 + self.dense.bias


def drawn(shape: Shape, seed: int) -> Network:
    """Random weights, normal and of variance 1/inputs of a neuron: so numbers neither grow nor vanish from layer to
    layer. Biases have a deviation of 1/10.
    """
    random = np.random.default_rng(seed)

    def layer(outputs: int, inputs: int) -> Layer:
        weights = random.standard_normal((outputs, inputs)) / np.sqrt(inputs)
        return Layer(weights, random.standard_normal(outputs) / 10)

    return Network(
        shape,
        layer(shape.maps, shape.taps),
        layer(shape.features, shape.maps * shape.second_kernel**2),
        layer(shape.classes, shape.neurons),
    )


def patches(image: Floats, shape: Shape) -> Floats:
    """What each tap of the first convolution meets, of an image (channels, side, side): (taps, places²)."""
    return _patches(image, shape.kernel, shape.padding)


def _patches(image: Floats, kernel: int, padding: int) -> Floats:
    margin = (padding, padding)
    padded = np.pad(image, ((0, 0), margin, margin))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(1, 2))[:, ::2, ::2]
    channels, rows, columns = windows.shape[:3]
    return windows.transpose(0, 3, 4, 1, 2).reshape(channels * kernel**2, rows * columns)


def _convolved(met: Floats, layer: Layer) -> Floats:
    return layer.weights @ met + layer.bias[:, None]
