"""Where images, weights and neurons lie in slots: seven ciphertexts up, one down. Pure.

A pattern of 4,096 slots, repeated where there are more, has four *quarters* of 1,024. An image's taps are dealt out to
the quarters of ⌈taps/4⌉ ciphertexts, each as often as there are maps. Whatever follows is the same in all quarters, and
each of them works on a fourth of the first dense layer's 128 diagonals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_workloads.inference.network import Network, Shape, patches

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
            "neurons of maps": (self.shape.features, QUARTER - DIAGONALS),
            "hidden neurons": (self.shape.hidden, DIAGONALS - _HIDDEN),
            "classes": (self.shape.classes, LAST_DIAGONALS),
        }
        for what, (count, most) in bounds.items():
            if count > most:
                raise Unsupported(f"the network has {count} {what}, and this packing has slots for {most}")

    @property
    def ciphertexts(self) -> int:
        """Of an image."""
        return -(-self.shape.taps // QUARTERS)

    def image(self, pixels: Floats, slots: int) -> list[Vector]:
        """The vectors of an image (side, side)."""
        met = patches(pixels[None], self.shape)[0]
        return self._dealt(np.tile(met, self.shape.maps), slots)

    def taps(self, network: Network, slots: int) -> list[Vector]:
        """What an image's vectors are multiplied with."""
        return self._dealt(np.repeat(network.convolution.weights.T, self.shape.positions, axis=1), slots)

    def map_bias(self, network: Network, slots: int) -> Vector:
        """What is added to the maps, in each quarter."""
        quarters = np.zeros((QUARTERS, QUARTER))
        quarters[:, DIAGONALS : DIAGONALS + self.shape.features] = np.repeat(
            network.convolution.bias, self.shape.positions
        )
        return _repeated(quarters, slots)

    def dense(self, network: Network, slots: int) -> list[Vector]:
        """Diagonals 0 to 31 of each quarter, which are those from 32 times its number on."""
        inputs = DIAGONALS + np.arange(self.shape.features)
        found = np.zeros((_TURN, QUARTERS, QUARTER))
        for step in range(_TURN):
            for quarter in range(QUARTERS):
                outputs = (inputs - _TURN * quarter - step) % DIAGONALS - _HIDDEN
                found[step, quarter, inputs - step] = _chosen(network.dense.weights, outputs)
        return [_repeated(diagonal, slots) for diagonal in found]

    def dense_bias(self, network: Network, slots: int) -> Vector:
        """What is added to the hidden neurons: in the first 128 slots, where their sums are whole."""
        pattern = np.zeros(LENGTH)
        pattern[_HIDDEN : _HIDDEN + self.shape.hidden] = network.dense.bias
        return _repeated(pattern, slots)

    def last(self, network: Network, slots: int) -> list[Vector]:
        """The diagonals of the last layer."""
        inputs = _HIDDEN + np.arange(self.shape.hidden)
        found = np.zeros((LAST_DIAGONALS, LENGTH))
        for step in range(LAST_DIAGONALS):
            found[step, inputs - step] = _chosen(
                network.last.weights, (inputs - step - _LOGITS) % LAST_DIAGONALS
            )
        return [_repeated(diagonal, slots) for diagonal in found]

    def last_bias(self, network: Network, slots: int) -> Vector:
        """What is added to the logits."""
        pattern = np.zeros(LENGTH)
        pattern[_LOGITS : _LOGITS + self.shape.classes] = network.last.bias
        return _repeated(pattern, slots)

    def logits(self, slots: Vector) -> Floats:
        """The logits (classes,) in the decrypted slots."""
        found: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return found

    def _dealt(self, rows: Floats, slots: int) -> list[Vector]:
        """Rows (taps, features), tap 4g + q in quarter q of vector g."""
        quarters = np.zeros((self.ciphertexts * QUARTERS, QUARTER))
        quarters[: self.shape.taps, DIAGONALS : DIAGONALS + self.shape.features] = rows
        return [_repeated(pattern, slots) for pattern in quarters.reshape(self.ciphertexts, LENGTH)]


def _chosen(weights: Floats, outputs: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    """The weight of each input for its output, 0 for outputs that the layer does not have."""
    exists = (outputs >= 0) & (outputs < len(weights))
    return np.where(exists, weights[outputs * exists, np.arange(len(outputs))], 0.0)


def _repeated(pattern: Floats, slots: int) -> Vector:
    """Raises ``Unsupported`` for fewer slots than the pattern has."""
    if slots < LENGTH:
        raise Unsupported(
            f"an image takes {LENGTH} slots, and a ciphertext has {slots}: take N = {2 * LENGTH} or more"
        )
    return np.tile(pattern.ravel(), slots // LENGTH)
