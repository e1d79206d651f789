"""Networks in whole numbers, for schemes that compute exactly modulo t. Pure.

Pixels and the weights of each layer are multiplied by powers of two and rounded. What a square is of has the square of
its scale, and biases are weights of an input that is 1 at the pixels' scale: so a layer's numbers have one scale, and
the logits that of all layers together. Only they have to be less than t/2: what is computed before may well be more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Parameters
from ciphermark_workloads.inference.network import Network, patches

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scales:
    """Powers of two, by their exponents."""

    pixels: int
    convolution: int
    dense: int
    last: int

    @property
    def inputs(self) -> tuple[int, int, int]:
        """The scales of what the convolution, the dense layer and the last layer take."""
        squared_maps = 2 * (self.pixels + self.convolution)
        return self.pixels, squared_maps, 2 * (squared_maps + self.dense)

    @property
    def logits(self) -> int:
        """The scale of logits: ((pixels·convolution)²·dense)²·last."""
        return self.inputs[-1] + self.last

    def of_logits(self, network: Network, pixels: Floats) -> Integers:
        """The logits (count, classes) of images (count, side, side), times their scale; exact where they are below
        2^63.
        """
        met = whole(patches(pixels, network.shape), self.pixels)
        first, second, third = self.inputs
        maps = np.einsum("mt,itp->imp", whole(network.convolution.weights, self.convolution), met)
        convolved = maps + whole(network.convolution.bias, self.convolution, first)[:, None]
        squared = convolved.reshape(len(pixels), -1) ** 2
        hidden = squared @ whole(network.dense.weights, self.dense).T
        hidden += whole(network.dense.bias, self.dense, second)
        logits: Integers = hidden**2 @ whole(network.last.weights, self.last).T
        return logits + whole(network.last.bias, self.last, third)


def whole(values: Floats, scale: int, of_input: int = 0) -> Integers:
    """Times 2^scale, rounded; and times 2^of_input, for biases of a layer whose input has this scale."""
    return np.rint(np.ldexp(values, scale)).astype(np.int64) << of_input


def encoded(vector: Vector, scale: int, modulus: int, of_input: int = 0) -> Vector:
    """A vector as residues modulo t."""
    return whole(vector, scale, of_input) % modulus


def numbers(vectors: Sequence[Vector], scale: int, parameters: Parameters, of_input: int = 0) -> list[Vector]:
    """As the scheme takes them: reals, or whole numbers at a scale."""
    modulus = parameters.plain_modulus
    return [*vectors] if modulus is None else [encoded(item, scale, modulus, of_input) for item in vectors]


def centred(residues: Vector, modulus: int) -> Integers:
    """The whole numbers from −t/2 to t/2 that residues stand for."""
    found: Integers = (residues + modulus // 2) % modulus - modulus // 2
    return found
