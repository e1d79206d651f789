"""Where a network of two convolutions lies in slots, its maps split by parity (*polyphase*). Pure.

A map of the first convolution is four grids of half as many rows: the positions of even and of odd rows and columns. On
these the second convolution, at every second place, is one at every place, of half as many taps a row and four times
as many channels: a shift of a grid, which is a rotation, serves all channels at once. A *channel* is a block of slots
that holds a grid, a map four blocks. What a grid does not fill, and what a shift brings in from another channel, is
multiplied by 0.

Which channel goes to which map is a matrix of blocks, and its diagonals are multiplied one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_workloads.inference.network import Layer
from ciphermark_workloads.inference.two_convolutions import Shape, patches

_PARITIES = 4
DIAGONALS = 16  # of the dense layer: its outputs come every so many slots
DENSE_BABIES = 4
# Where logits are read: not at slot 0, where errors of key switching are largest (see packing).
_LOGITS = DIAGONALS


@dataclass(frozen=True, slots=True)
class Parities:
    """For networks of a shape, in a pattern of ``span`` slots, a power of two, repeated where there are more. Raises
    ``Unsupported`` for a shape that it does not hold.
    """

    shape: Shape
    span: int

    def __post_init__(self) -> None:
        shape = self.shape
        if shape.places % 2:
            raise Unsupported(f"maps of {shape.places} rows are not as many even as odd ones")
        if shape.features > self.channels or shape.classes > DIAGONALS:
            raise Unsupported(
                f"{shape.features} maps of the second convolution and {shape.classes} classes: this packing has room "
                f"for {self.channels} and {DIAGONALS}"
            )

    @property
    def row(self) -> int:
        """Slots from one row of a grid to the next, a power of two."""
        return 1 << (self.shape.half - 1).bit_length()

    @property
    def block(self) -> int:
        """Slots of a channel."""
        return self.row**2

    @property
    def whole(self) -> int:
        """Slots of a map, or of a tap, of both parities."""
        return _PARITIES * self.block

    @property
    def channels(self) -> int:
        """Of a ciphertext."""
        return self.span // self.block

    @property
    def maps(self) -> int:
        """Maps, or taps, of a ciphertext."""
        return self.span // self.whole

    @property
    def inputs(self) -> int:
        """Ciphertexts of an image."""
        return -(-self.shape.taps // self.maps)

    @property
    def middle(self) -> int:
        """Ciphertexts of the first convolution's maps."""
        return -(-self.shape.maps // self.maps)

    @property
    def babies(self) -> int:
        """Of the diagonals of the first convolution's matrix of blocks: so many that rotations are fewest. Inputs are
        turned by baby steps, and ciphertexts of maps by giant steps.
        """
        count = self.maps

        def rotations(babies: int) -> int:
            return self.inputs * (babies - 1) + self.middle * (count // babies - 1)

        return min((1 << power for power in range(count.bit_length())), key=rotations)

    @property
    def shifts(self) -> range:
        """Of grids: by so many rows, and by so many columns."""
        return range(-self.shape.reach, self.shape.reach + 1)

    @property
    def products(self) -> tuple[int, int, int]:
        """With plaintexts, of each layer: every diagonal of every pair of ciphertexts, with every shift."""
        first = self.inputs * self.middle * self.maps
        return first, self.middle * len(self.shifts) ** 2 * self.channels, DIAGONALS

    def image(self, pixels: Floats, slots: int) -> list[Vector]:
        """The vectors of an image (channels, side, side): what each tap meets, by parity."""
        shape = self.shape
        met = (
            patches(pixels, shape).reshape(shape.taps, shape.half, 2, shape.half, 2).transpose(0, 2, 4, 1, 3)
        )
        grids = np.zeros((self.inputs * self.maps, 2, 2, self.row, self.row))
        grids[: shape.taps, :, :, : shape.half, : shape.half] = met
        return [self.repeated(pattern, slots) for pattern in grids.reshape(self.inputs, self.span)]

    def first(self, layer: Layer, slots: int) -> list[list[list[Vector]]]:
        """By ciphertext of maps and giant step, what the inputs are multiplied with, each turned by 0, 1, … maps."""
        count = self.maps
        weights = np.zeros((self.middle * count, self.inputs * count))
        weights[: self.shape.maps, : self.shape.taps] = layer.weights
        maps = np.arange(count)

        def diagonal(middle: int, given: int, baby: int, giant: int) -> Vector:
            outputs = (maps - giant) % count  # turned back by the giant step
            taps = (outputs + giant + baby) % count
            chosen = weights[middle * count + outputs, given * count + taps]
            return self.repeated(np.repeat(chosen, self.whole), slots)

        return [
            [
                [
                    diagonal(middle, given, baby, giant)
                    for given in range(self.inputs)
                    for baby in range(self.babies)
                ]
                for giant in range(0, count, self.babies)
            ]
            for middle in range(self.middle)
        ]

    def first_bias(self, layer: Layer, slots: int) -> list[Vector]:
        """Of each ciphertext of maps: where grids are, and 0 elsewhere."""
        bias = np.zeros(self.middle * self.maps)
        bias[: self.shape.maps] = layer.bias
        of_channels = np.repeat(bias, _PARITIES).reshape(self.middle, self.channels)
        return [self._on_grids(channels, slots) for channels in of_channels]

    def second(self, layer: Layer, slots: int) -> list[list[Vector]]:
        """By diagonal of the matrix of blocks, turned back by it: what ciphertexts of maps are multiplied with, by all
        shifts of each.
        """
        shape, shifts, count = self.shape, len(self.shifts), self.channels
        taps = layer.weights.reshape(shape.features, shape.maps, shifts, 2, shifts, 2).transpose(
            0, 1, 3, 5, 2, 4
        )
        weights = np.zeros((count, self.middle * count, shifts**2))
        weights[: shape.features, : shape.maps * _PARITIES] = taps.reshape(
            shape.features, shape.maps * _PARITIES, shifts**2
        )
        inside = [self._inside(rows, columns) for rows in self.shifts for columns in self.shifts]
        places = np.arange(count)

        def shifted(middle: int, diagonal: int, shift: int) -> Vector:
            chosen = weights[(places - diagonal) % count, middle * count + places, shift]
            return self.repeated(np.outer(chosen, inside[shift]), slots)

        return [
            [shifted(middle, diagonal, shift) for middle in range(self.middle) for shift in range(shifts**2)]
            for diagonal in range(count)
        ]

    def second_bias(self, layer: Layer, slots: int) -> Vector:
        """As :meth:`first_bias`, of the one ciphertext of maps."""
        return self._on_grids(np.pad(layer.bias, (0, self.channels - len(layer.bias))), slots)

    def dense(self, layer: Layer, slots: int) -> list[Vector]:
        """The diagonals of the dense layer."""
        shape = self.shape
        grids = np.zeros((DIAGONALS, self.channels, self.row, self.row))
        grids[: shape.classes, : shape.features, : shape.half, : shape.half] = layer.weights.reshape(
            shape.classes, shape.features, shape.half, shape.half
        )
        weights, places = grids.reshape(DIAGONALS, self.span), np.arange(self.span)
        return [
            self.repeated(weights[places % DIAGONALS, (places + step) % self.span], slots)
            for step in range(DIAGONALS)
        ]

    def dense_bias(self, layer: Layer, slots: int) -> Vector:
        """In every place where a logit is."""
        return self.repeated(
            np.tile(np.pad(layer.bias, (0, DIAGONALS - len(layer.bias))), self.span // DIAGONALS), slots
        )

    def logits(self, slots: Vector) -> Floats:
        """The logits (classes,) in the decrypted slots."""
        found: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return found

    def repeated(self, pattern: Floats, slots: int) -> Vector:
        """Raises ``Unsupported`` for fewer slots than the pattern has."""
        if slots < self.span:
            raise Unsupported(
                f"the network takes {self.span} slots, and a ciphertext has {slots}: take N = {2 * self.span} or more"
            )
        return np.tile(pattern.ravel(), slots // self.span)

    def _on_grids(self, channels: Floats, slots: int) -> Vector:
        """A number for each channel, in all positions of its grid."""
        return self.repeated(np.outer(channels, self._inside(0, 0)), slots)

    def _inside(self, rows: int, columns: int) -> Floats:
        """1 where a position and the one that is so many rows and columns further are in the grid, of (block,)."""
        here, half = np.arange(self.row), self.shape.half

        def within(shift: int) -> Floats:
            return ((here < half) & (here + shift >= 0) & (here + shift < half)).astype(np.float64)

        return np.outer(within(rows), within(columns)).ravel()
