"""Networks in whole numbers, for schemes that compute exactly modulo t. Pure.

Pixels and the weights of each layer are multiplied by powers of two and rounded. What a square is of has the square of
its scale, and biases are weights of an input that is 1 at the pixels' scale: so a layer's numbers have one scale, and
the logits that of all layers together. Only they have to be less than t/2: what is computed before may well be more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Vector
from ciphermark_workloads.inference.network import Layer, Network, patches

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scales:
    """Powers of two, by their exponents."""

    pixels: int
    convolution: int
    dense: int
    last: int

    @property
    def logits(self) -> int:
        """The scale of logits: ((pixels·convolution)²·dense)²·last."""
        return 2 * (2 * (self.pixels + self.convolution) + self.dense) + self.last

    def of_logits(self, network: Network, pixels: Floats) -> Integers:
        """The logits (count, classes) of images (count, side, side), times their scale; exact where they are below
        2^63.
        """
        met = whole(patches(pixels, network.shape), self.pixels)
        one = 1 << self.pixels
        maps = np.einsum("mt,itp->imp", whole(network.convolution.weights, self.convolution), met)
        convolved = (maps + _bias(network.convolution, self.convolution, one)[:, None]).reshape(
            len(pixels), -1
        )
        one = (one << self.convolution) ** 2
        hidden = convolved**2 @ whole(network.dense.weights, self.dense).T + _bias(
            network.dense, self.dense, one
        )
        one = (one << self.dense) ** 2
        logits: Integers = hidden**2 @ whole(network.last.weights, self.last).T + _bias(
            network.last, self.last, one
        )
        return logits


def whole(values: Floats, scale: int) -> Integers:
    """Times 2^scale, rounded."""
    return np.rint(np.ldexp(values, scale)).astype(np.int64)


def encoded(vector: Vector, scale: int, modulus: int) -> Vector:
    """A vector as residues modulo t."""
    return whole(vector, scale) % modulus


def centred(residues: Vector, modulus: int) -> Integers:
    """The whole numbers from −t/2 to t/2 that residues stand for."""
    found: Integers = (residues + modulus // 2) % modulus - modulus // 2
    return found


def _bias(layer: Layer, scale: int, one: int) -> Integers:
    return whole(layer.bias, scale) * one
