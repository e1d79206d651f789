"""Where an image lies in one ciphertext, by its phases, and what follows of it. Pure.

A convolution at every second pixel takes its taps from four *phases* of the image: pixels of even and of odd rows and
columns. Each is in a quarter of a pattern of 4,096 slots (:mod:`.packing`), as often as there are maps. Then taps are
shifts: one serves all phases and maps, and what it brings in from elsewhere meets weights of 0. After a convolution
all quarters are the same; each gives a fourth of the hidden neurons, in the first of every 32 slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_workloads.inference.network import Network, Shape
from ciphermark_workloads.inference.packing import LENGTH, QUARTER, QUARTERS, repeated

DIAGONALS = 32
LAST_DIAGONALS = 16
QUARTER_SUMS = (QUARTER, 2 * QUARTER)
DENSE_SUMS = (512, 256, 128, 64, 32)
LAST_TURNS = (LAST_DIAGONALS, -LAST_DIAGONALS)
# Maps, hidden neurons of a quarter and logits do not begin at slot 0: see :mod:`.packing`. Ten logits from slot 6 on
# are sums of products in no slot from 0 to 5.
_MAPS, _HIDDEN, _LOGITS = 24, 7, 6
_STRIDE = 2


@dataclass(frozen=True, slots=True)
class Phases:
    """For networks of a shape. Raises ``Unsupported`` for one that the pattern does not hold, with the bound."""

    shape: Shape

    def __post_init__(self) -> None:
        shape = self.shape
        if shape.stride != _STRIDE or shape.places > self.side:
            raise Unsupported(
                "a convolution in phases is at every second pixel, and its maps are half of the image"
            )
        last = _MAPS + shape.maps * self.side**2
        bounds = {
            "slots of maps": (last, QUARTER),
            "hidden neurons": (shape.hidden, QUARTERS * (DIAGONALS - _HIDDEN)),
            "classes": (shape.classes, LAST_DIAGONALS),
        }
        for what, (count, most) in bounds.items():
            if count > most:
                raise Unsupported(f"the network has {count} {what}, and this packing has {most}")

    @property
    def side(self) -> int:
        """Of a phase."""
        return -(-self.shape.side // _STRIDE)

    @property
    def shifts(self) -> list[int]:
        """The rotations that bring each tap's pixel to where its neuron is, 0 among them."""
        steps = {(tap - self.shape.before) // _STRIDE for tap in range(self.shape.kernel)}
        return sorted({rows * self.side + columns for rows, columns in product(steps, steps)})

    def image(self, pixels: Floats, slots: int) -> Vector:
        """The vector of an image (side, side)."""
        pattern = np.zeros((QUARTERS, QUARTER))
        for quarter, (row, column) in enumerate(product(range(_STRIDE), repeat=2)):
            grid = np.zeros((self.side, self.side))
            phase = pixels[row::_STRIDE, column::_STRIDE]
            grid[: phase.shape[0], : phase.shape[1]] = phase
            copies = np.tile(grid.ravel(), self.shape.maps)
            pattern[quarter, _MAPS : _MAPS + copies.size] = copies
        return repeated(pattern, slots)

    def taps(self, network: Network, slots: int) -> list[Vector]:
        """What the image is multiplied with, turned by each of the shifts."""
        shape, found = self.shape, {shift: np.zeros((QUARTERS, QUARTER)) for shift in self.shifts}
        places = range(shape.places)
        for number, (row, column) in enumerate(product(range(shape.kernel), repeat=2)):
            (rows, up), (columns, left) = divmod(row - shape.before, 2), divmod(column - shape.before, 2)
            vector = found[rows * self.side + columns][2 * up + left]
            for i, j in product(places, places):
                if self._is_pixel(2 * i + row) and self._is_pixel(2 * j + column):
                    vector[self._neurons(i, j)] = network.convolution.weights[:, number]
        return [repeated(pattern, slots) for pattern in found.values()]

    def convolution_bias(self, network: Network, slots: int) -> Vector:
        """The bias of each map at its neurons."""
        pattern = np.zeros((QUARTERS, QUARTER))
        for i, j in product(range(self.shape.places), repeat=2):
            pattern[:, self._neurons(i, j)] = network.convolution.bias
        return repeated(pattern, slots)

    def dense(self, network: Network, slots: int) -> list[Vector]:
        """The diagonals: output l modulo 32 of each quarter is a sum over slots l, l + 32, …"""
        features = np.concatenate(
            [self._neurons(i, j) for i, j in product(range(self.shape.places), repeat=2)]
        )
        order = np.arange(self.shape.features).reshape(self.shape.maps, -1).T.ravel()  # place by place
        found = np.zeros((DIAGONALS, QUARTERS, QUARTER))
        for quarter, slot, neuron in self._hidden():
            steps = (features - slot) % DIAGONALS
            found[steps, quarter, (features - steps) % QUARTER] = network.dense.weights[neuron, order]
        return [repeated(pattern, slots) for pattern in found]

    def dense_bias(self, network: Network, slots: int) -> Vector:
        """The bias of each hidden neuron."""
        pattern = np.zeros((QUARTERS, QUARTER))
        for quarter, slot, neuron in self._hidden():
            pattern[quarter, slot] = network.dense.bias[neuron]
        return repeated(pattern, slots)

    def last(self, network: Network, slots: int) -> list[Vector]:
        """The diagonals: a logit is a sum over three slots, at its own and 16 before and after it."""
        logits = (_LOGITS + np.arange(self.shape.classes)) % LAST_DIAGONALS
        found = np.zeros((LAST_DIAGONALS, LENGTH))
        for quarter, slot, neuron in self._hidden():
            steps = (slot - logits) % LAST_DIAGONALS
            found[steps, (QUARTER * quarter + slot - steps) % LENGTH] = network.last.weights[:, neuron]
        return [repeated(pattern, slots) for pattern in found]

    def last_bias(self, network: Network, slots: int) -> Vector:
        """The bias of each logit."""
        pattern = np.zeros(LENGTH)
        pattern[_LOGITS : _LOGITS + self.shape.classes] = network.last.bias
        return repeated(pattern, slots)

    def logits(self, slots: Vector) -> Floats:
        """The logits (classes,) in the decrypted slots."""
        found: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return found

    def _is_pixel(self, place: int) -> bool:
        """Whether a row or column of the padded image is one of the image."""
        return 0 <= place - self.shape.before < self.shape.side

    def _neurons(self, row: int, column: int) -> npt.NDArray[np.int64]:
        """The slots of a position's neurons, one for each map."""
        return _MAPS + np.arange(self.shape.maps) * self.side**2 + row * self.side + column

    def _hidden(self) -> Iterator[tuple[int, int, int]]:
        """Quarter, slot in it, and number of each hidden neuron."""
        each = -(-self.shape.hidden // QUARTERS)
        for neuron in range(self.shape.hidden):
            yield neuron // each, _HIDDEN + neuron % each, neuron
