"""Where images, weights and neurons lie in slots: seven ciphertexts up, one down. Pure.

A pattern of 4,096 slots, repeated where there are more, has four *quarters* of 1,024. An image's taps are dealt out to
the quarters of a few ciphertexts, each as often as there are maps. Whatever follows is the same in all quarters, and
each of them works on a fourth of the first dense layer's 128 diagonals.

Biases are weights of a further input that is always 1: a tap that meets 1, a neuron of the maps and a hidden one that
are 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_workloads.inference.network import Layer, Network, Shape, patches

QUARTER = 1024
QUARTERS = 4
LENGTH = QUARTER * QUARTERS
DIAGONALS = 128  # of the first dense layer: its outputs come every so many slots
LAST_DIAGONALS = 16
_TURN = DIAGONALS // QUARTERS
# Where hidden neurons and logits begin: no diagonal leads below the slot that sums begin at. Not at slot 0: digits of
# key switching are not centred, and what their mean leaves is largest in slots whose root of unity is close to 1.
_HIDDEN, _LOGITS = 24, 8
MAP_SUMS = (QUARTER, 2 * QUARTER)
# A quarter's outputs come as many slots later as its first diagonal says; then blocks of outputs are added up.
DENSE_SUMS = (2 * (QUARTER + _TURN), QUARTER + _TURN, 512, 256, 128)
LAST_SUMS = (64, 32, 16)


@dataclass(frozen=True, slots=True)
class Packing:
    """For networks of a shape. Raises ``Unsupported`` for one that the pattern does not hold, with the bound.

    Neurons of maps begin at slot 128 of a quarter.
    """

    shape: Shape

    def __post_init__(self) -> None:
        bounds = {
            "neurons of maps": (self.shape.features, QUARTER - DIAGONALS - 1),
            "hidden neurons": (self.shape.hidden, DIAGONALS - _HIDDEN - 1),
            "classes": (self.shape.classes, LAST_DIAGONALS),
        }
        for what, (count, most) in bounds.items():
            if count > most:
                raise Unsupported(f"the network has {count} {what}, and this packing has slots for {most}")

    @property
    def ciphertexts(self) -> int:
        """Of an image."""
        return -(-(self.shape.taps + 1) // QUARTERS)

    def image(self, pixels: Floats, slots: int) -> list[Vector]:
        """The vectors of an image (side, side): the pixels that each tap meets, and 1."""
        met = np.tile(patches(pixels[None], self.shape)[0], self.shape.maps)
        rows = np.ones((self.shape.taps + 1, self.shape.features + 1))
        rows[:-1] = np.pad(met, ((0, 0), (0, 1)))
        return self._dealt(rows, slots)

    def taps(self, network: Network, slots: int) -> list[Vector]:
        """What an image's vectors are multiplied with."""
        rows = np.repeat(_with_bias(network.convolution).T, self.shape.positions, axis=1)
        one = np.zeros((len(rows), 1))
        one[-1] = 1
        return self._dealt(np.hstack([rows, one]), slots)

    def dense(self, network: Network, slots: int) -> list[Vector]:
        """Diagonals 0 to 31 of each quarter, which are those from 32 times its number on."""
        weights = _with_one(_with_bias(network.dense))
        inputs = DIAGONALS + np.arange(weights.shape[1])
        found = np.zeros((_TURN, QUARTERS, QUARTER))
        for step in range(_TURN):
            for quarter in range(QUARTERS):
                outputs = (inputs - _TURN * quarter - step) % DIAGONALS - _HIDDEN
                found[step, quarter, inputs - step] = chosen(weights, outputs)
        return [repeated(diagonal, slots) for diagonal in found]

    def last(self, network: Network, slots: int) -> list[Vector]:
        """The diagonals of the last layer."""
        weights = _with_bias(network.last)
        inputs = _HIDDEN + np.arange(weights.shape[1])
        found = np.zeros((LAST_DIAGONALS, LENGTH))
        for step in range(LAST_DIAGONALS):
            found[step, inputs - step] = chosen(weights, (inputs - step - _LOGITS) % LAST_DIAGONALS)
        return [repeated(diagonal, slots) for diagonal in found]

    def logits(self, slots: Vector) -> Floats:
        """The logits (classes,) in the decrypted slots."""
        found: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return found

    def _dealt(self, rows: Floats, slots: int) -> list[Vector]:
        """Rows (taps + 1, features + 1), number 4g + q in quarter q of vector g."""
        quarters = np.zeros((self.ciphertexts * QUARTERS, QUARTER))
        quarters[: len(rows), DIAGONALS : DIAGONALS + rows.shape[1]] = rows
        return [repeated(pattern, slots) for pattern in quarters.reshape(self.ciphertexts, LENGTH)]


def _with_bias(layer: Layer) -> Floats:
    """The weights (outputs, inputs + 1): the bias is that of the last input."""
    return np.column_stack([layer.weights, layer.bias])


def _with_one(weights: Floats) -> Floats:
    """The weights with a further output, which is the last input."""
    return np.vstack([weights, np.eye(1, weights.shape[1], weights.shape[1] - 1)])


def chosen(weights: Floats, outputs: npt.NDArray[np.int64]) -> Floats:
    """The weight of each input for its output, 0 for outputs that the layer does not have."""
    exists = (outputs >= 0) & (outputs < len(weights))
    return np.where(exists, weights[outputs * exists, np.arange(len(outputs))], 0.0)


def repeated(pattern: Floats, slots: int) -> Vector:
    """The pattern as often as it fits. Raises ``Unsupported`` for fewer slots than the pattern has."""
    if slots < LENGTH:
        raise Unsupported(
            f"an image takes {LENGTH} slots, and a ciphertext has {slots}: take N = {2 * LENGTH} or more"
        )
    return np.tile(pattern.ravel(), slots // LENGTH)
