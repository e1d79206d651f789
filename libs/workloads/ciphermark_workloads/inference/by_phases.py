"""Classes of encrypted images that are sent in one ciphertext: four phases, each in a quarter of the slots.

A convolution at every second pixel takes its taps from four *phases* of the image: pixels of even and of odd rows and
columns. Each phase fills a quarter of a pattern of 4,096 slots (:mod:`.by_taps`), with one copy per map. Taps are then
shifts. One shift serves all phases and maps, and values brought in from elsewhere meet weights of 0. After a
convolution all quarters are equal; each computes a fourth of the hidden neurons, in the first of every 32 slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference import on_images
from ciphermark_workloads.inference.by_taps import LENGTH, QUARTER, QUARTERS, InPattern, repeated
from ciphermark_workloads.inference.network import Network, Shape
from ciphermark_workloads.inference.on_images import SCALES, by_layer, numbers
from ciphermark_workloads.workload import Arrays, Handles

DIAGONALS = 32
LAST_DIAGONALS = 16
QUARTER_SUMS = (QUARTER, 2 * QUARTER)
DENSE_SUMS = (512, 256, 128, 64, 32)
LAST_TURNS = (LAST_DIAGONALS, -LAST_DIAGONALS)
# Maps, hidden neurons of a quarter and logits do not begin at slot 0: see :mod:`.by_taps`. Ten logits from slot 6 on
# are sums of products in no slot from 0 to 5.
_MAPS, _HIDDEN, _LOGITS = 24, 7, 6
_STRIDE = 2


@dataclass(frozen=True, slots=True)
class Phases:
    """The layout of networks of a shape. Raises ``Unsupported`` with the bound for one that the pattern cannot hold."""

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
        """Rows of a phase."""
        return -(-self.shape.side // _STRIDE)

    @property
    def shifts(self) -> list[int]:
        """The rotations that bring each tap's pixel to its neuron, 0 among them."""
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
        """The factors of the image, rotated by each of the shifts."""
        shape, patterns = self.shape, {shift: np.zeros((QUARTERS, QUARTER)) for shift in self.shifts}
        places = range(shape.places)
        for number, (row, column) in enumerate(product(range(shape.kernel), repeat=2)):
            (rows, up), (columns, left) = divmod(row - shape.before, 2), divmod(column - shape.before, 2)
            vector = patterns[rows * self.side + columns][2 * up + left]
            for i, j in product(places, places):
                if self._is_pixel(2 * i + row) and self._is_pixel(2 * j + column):
                    vector[self._neurons(i, j)] = network.convolution.weights[:, number]
        return [repeated(pattern, slots) for pattern in patterns.values()]

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
        patterns = np.zeros((DIAGONALS, QUARTERS, QUARTER))
        for quarter, slot, neuron in self._hidden():
            steps = (features - slot) % DIAGONALS
            patterns[steps, quarter, (features - steps) % QUARTER] = network.dense.weights[neuron, order]
        return [repeated(pattern, slots) for pattern in patterns]

    def dense_bias(self, network: Network, slots: int) -> Vector:
        """The bias of each hidden neuron."""
        pattern = np.zeros((QUARTERS, QUARTER))
        for quarter, slot, neuron in self._hidden():
            pattern[quarter, slot] = network.dense.bias[neuron]
        return repeated(pattern, slots)

    def last(self, network: Network, slots: int) -> list[Vector]:
        """The diagonals: a logit is a sum over three slots, at its own and 16 before and after it."""
        logits = (_LOGITS + np.arange(self.shape.classes)) % LAST_DIAGONALS
        patterns = np.zeros((LAST_DIAGONALS, LENGTH))
        for quarter, slot, neuron in self._hidden():
            steps = (slot - logits) % LAST_DIAGONALS
            patterns[steps, (QUARTER * quarter + slot - steps) % LENGTH] = network.last.weights[:, neuron]
        return [repeated(pattern, slots) for pattern in patterns]

    def last_bias(self, network: Network, slots: int) -> Vector:
        """The bias of each logit."""
        pattern = np.zeros(LENGTH)
        pattern[_LOGITS : _LOGITS + self.shape.classes] = network.last.bias
        return repeated(pattern, slots)

    def logits(self, slots: Vector) -> Floats:
        """The logits (classes,) in the decrypted slots."""
        logits: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return logits

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


_BABIES, _LAST_BABIES = 8, 4


@dataclass(frozen=True, slots=True)
class _Weights:
    """The factors and summands of the layers: see :class:`Phases`."""

    taps: Sequence[Vector]
    dense: Sequence[Sequence[Vector]]
    last: Sequence[Sequence[Vector]]
    convolution_bias: Vector
    dense_bias: Vector
    last_bias: Vector

    @classmethod
    def of(cls, network: Network, layout: Phases, parameters: Parameters) -> _Weights:
        """The weights of a network, encoded for the scheme."""
        slots, (first, second, third) = parameters.slots, SCALES.inputs
        dense = numbers(layout.dense(network, slots), SCALES.dense, parameters)
        last = numbers(layout.last(network, slots), SCALES.last, parameters)
        biases = (
            (layout.convolution_bias(network, slots), SCALES.convolution, first),
            (layout.dense_bias(network, slots), SCALES.dense, second),
            (layout.last_bias(network, slots), SCALES.last, third),
        )
        return cls(
            numbers(layout.taps(network, slots), SCALES.convolution, parameters),
            diagonals.columns(dense, _BABIES),
            diagonals.columns(last, _LAST_BABIES),
            *(numbers([bias], scale, parameters, of_input)[0] for bias, scale, of_input in biases),
        )


class ByPhases(InPattern):
    """For the smallest upload: a convolution at every second pixel, and up to 100 hidden neurons."""

    Layout = Phases

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "mul_plain", "square", "rotate")

    def rotations(self) -> Iterable[Sequence[int]]:
        dense, last = diagonals.steps(DIAGONALS, _BABIES), diagonals.steps(LAST_DIAGONALS, _LAST_BABIES)
        return self.layout().shifts, QUARTER_SUMS, dense, DENSE_SUMS, last, LAST_TURNS

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The image's four phases."""
        return numbers([self.layout().image(given.pixels, parameters.slots)], SCALES.pixels, parameters)

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """One ciphertext per image in each layer."""
        layout = self.layout()
        weights = _Weights.of(self.halved_network(), layout, evaluator.parameters)
        return by_layer(_layers(evaluator, image, layout, weights) for image in inputs)


def _layers(
    evaluator: Evaluator, image: Handle, layout: Phases, weights: _Weights
) -> dict[str, list[Handle]]:
    """The results of each layer for one image, the last its logits: five levels, in ckks one rescaling each."""
    rescaled, squared = partial(on_images.rescaled, evaluator), partial(on_images.squared, evaluator)
    add_plain = evaluator.managed().function("add_plain")
    turned = sums.rotated_by_each(evaluator, image, layout.shifts)
    (taps,) = diagonals.with_vectors(evaluator, turned, [weights.taps])
    convolved = sums.turned_sum(evaluator, rescaled(taps), QUARTER_SUMS)
    maps = add_plain(convolved, weights.convolution_bias)
    squared_maps = squared(maps)
    dense = diagonals.product(evaluator, squared_maps, weights.dense, diagonals.with_vectors)
    summed = sums.turned_sum(evaluator, rescaled(dense), DENSE_SUMS)
    hidden = add_plain(summed, weights.dense_bias)
    squared_hidden = squared(hidden)
    last = diagonals.product(evaluator, squared_hidden, weights.last, diagonals.with_vectors)
    quarters = sums.turned_sum(evaluator, rescaled(last), QUARTER_SUMS)
    three = [quarters, *sums.rotated_by_each(evaluator, quarters, LAST_TURNS)]
    return {
        "convolution": [maps],
        "first square": [squared_maps],
        "dense": [hidden],
        "second square": [squared_hidden],
        "last": [add_plain(sums.total(evaluator, three), weights.last_bias)],
    }


WORKLOADS = (
    ByPhases(
        "lola-mnist-one",
        "lola-mnist",
        "class of an encrypted handwritten digit of 28 × 28 pixels (LoLa's network), one ciphertext up",
    ),
    ByPhases(
        "digits-one",
        "digits",
        "class of an encrypted handwritten digit of 8 × 8 pixels, one ciphertext up",
    ),
)
