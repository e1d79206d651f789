"""A convolution, two dense layers and squares between them: CryptoNets' and LoLa-MNIST's network, in the clear. Pure.

Gilad-Bachrach et al., "CryptoNets: Applying neural networks to encrypted data with high throughput and accuracy", ICML
2016; Brutzkus et al., "Low latency privacy preserving inference", ICML 2019. Their pooling is linear and is a part of
the first dense layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError


@dataclass(frozen=True, slots=True)
class Shape:
    """Square images of ``side`` pixels; ``kernel`` × ``kernel`` taps at each ``stride``-th pixel, for each of ``maps``
    maps; ``hidden`` neurons; ``classes`` logits. Padding with zeros adds ``before`` rows and columns above and to the
    left of an image, ``after`` below and to the right.
    """

    side: int
    kernel: int
    stride: int
    maps: int
    hidden: int
    classes: int
    before: int = 0
    after: int = 0

    @property
    def places(self) -> int:
        """Places of the kernel in a row of the image."""
        return (self.before + self.side + self.after - self.kernel) // self.stride + 1

    @property
    def positions(self) -> int:
        """Neurons of a map."""
        return self.places**2

    @property
    def taps(self) -> int:
        """Weights of a map."""
        return self.kernel**2

    @property
    def features(self) -> int:
        """Neurons of all maps, map by map, each row by row."""
        return self.maps * self.positions


@dataclass(frozen=True, slots=True)
class Layer:
    """Affine: ``weights`` (outputs, inputs) and a ``bias`` (outputs,). A convolution has a row of taps for each map."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Network:
    """logits = last(dense(convolution(image)²)²), for pixels from 0 to 1.

    Raises ``ValueError`` for layers with other shapes, or with values that are not finite.
    """

    shape: Shape
    convolution: Layer
    dense: Layer
    last: Layer

    def __post_init__(self) -> None:
        shape = self.shape
        expected = {
            "convolution": (self.convolution, shape.maps, shape.taps),
            "dense": (self.dense, shape.hidden, shape.features),
            "last": (self.last, shape.classes, shape.hidden),
        }
        for name, (layer, outputs, inputs) in expected.items():
            if layer.weights.shape != (outputs, inputs) or layer.bias.shape != (outputs,):
                raise ValueError(
                    f"layer {name} has weights of {layer.weights.shape} and a bias of {layer.bias.shape}, not "
                    f"{(outputs, inputs)} and {(outputs,)}"
                )
            if not (np.isfinite(layer.weights).all() and np.isfinite(layer.bias).all()):
                raise ValueError(f"layer {name} has numbers that are not finite")

    def logits(self, images: Floats) -> Floats:
        """The logits (count, classes) of images (count, side, side)."""
        return self.activations(images)[-1]

    def activations(self, images: Floats) -> tuple[Floats, Floats, Floats]:
        """The results of the layers before squares: (count, features), (count, hidden) and (count, classes)."""
        maps = self.convolution.weights @ patches(images, self.shape) + self.convolution.bias[:, None]
        convolved = maps.reshape(len(images), -1)
        hidden = convolved**2 @ self.dense.weights.T + self.dense.bias
        return convolved, hidden, hidden**2 @ self.last.weights.T + self.last.bias


def require_images(images: Floats, shape: Shape) -> None:
    """Raise ``UserError`` for images that are not of (count, side, side), or have a pixel that is not from 0 to 1."""
    if images.ndim != 3 or images.shape[1:] != (shape.side, shape.side):
        raise UserError(f"an image has {shape.side} × {shape.side} pixels here, not {images.shape[1:]}")
    if not ((images >= 0) & (images <= 1)).all():
        raise UserError("an image has pixels that are not from 0 to 1")


def patches(images: Floats, shape: Shape) -> Floats:
    """The input pixels of each tap for images (count, side, side): (count, taps, positions). Raises ``UserError`` as
    :func:`require_images`.
    """
    require_images(images, shape)
    windows = _windows(images, shape)
    return windows.reshape(len(images), shape.positions, shape.taps).transpose(0, 2, 1)


def _windows(images: npt.NDArray[Any], shape: Shape, outside: float = 0) -> npt.NDArray[Any]:
    """The pixels under the kernel at each place, of images (count, side, side): (count, places, places, kernel,
    kernel).
    """
    margin, size = (shape.before, shape.after), (shape.kernel, shape.kernel)
    padded = np.pad(images, ((0, 0), margin, margin), constant_values=outside)
    windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis=(1, 2))
    return windows[:, :: shape.stride, :: shape.stride]


def pixels_met(shape: Shape) -> list[tuple[list[int], list[int]]]:
    """For each position, row by row: the taps that meet a pixel of the image and not the padding, and these pixels,
    both by number, row by row.
    """
    numbers = np.arange(shape.side**2).reshape(1, shape.side, shape.side)
    met = _windows(numbers, shape, outside=-1).reshape(shape.positions, shape.taps)
    return [(np.flatnonzero(row >= 0).tolist(), row[row >= 0].tolist()) for row in met]
