"""Classes of encrypted images that are sent in seven ciphertexts; the server has the weights in the clear or encrypted.

A pattern of 4,096 slots, repeated in larger ciphertexts, has four *quarters* of 1,024. An image's taps are distributed
over the quarters of a few ciphertexts, with one copy per map. All later values are the same in all quarters, and each
quarter computes a fourth of the first dense layer's 128 diagonals. One ciphertext returns.

Biases are weights of an additional input of 1: a tap whose input is 1, a neuron of the maps and a hidden neuron with
the value 1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, ClassVar, Generic

import numpy as np
import numpy.typing as npt

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.diagonals import InnerProducts, Operand
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector, next_lower
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference import on_images
from ciphermark_workloads.inference.network import Layer, Network, Shape, patches
from ciphermark_workloads.inference.on_images import SCALES, T_16384, Exact, OneImage, by_layer, numbers
from ciphermark_workloads.workload import Arrays, Handles, Stage

QUARTER = 1024
QUARTERS = 4
LENGTH = QUARTER * QUARTERS
DIAGONALS = 128  # of the first dense layer: the distance of its outputs in slots
LAST_DIAGONALS = 16
_TURN = DIAGONALS // QUARTERS
# The first slots of hidden neurons and logits: no diagonal leads below the first slot of the sums. Not slot 0: digits
# of key switching are not centered, and the effect of their mean is largest in slots whose root of unity is close to 1.
_HIDDEN, _LOGITS = 24, 8
MAP_SUMS = (QUARTER, 2 * QUARTER)
# The first diagonal of a quarter gives the offset of its outputs; then blocks of outputs are added up.
DENSE_SUMS = (2 * (QUARTER + _TURN), QUARTER + _TURN, 512, 256, 128)
LAST_SUMS = (64, 32, 16)


@dataclass(frozen=True, slots=True)
class Packing:
    """The layout of networks of a shape. Raises ``Unsupported`` with the bound for one that the pattern cannot hold.

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
        """Ciphertexts per image."""
        return -(-(self.shape.taps + 1) // QUARTERS)

    def image(self, pixels: Floats, slots: int) -> list[Vector]:
        """The vectors of an image (side, side): the input pixels of each tap, and 1."""
        met = np.tile(patches(pixels[None], self.shape)[0], self.shape.maps)
        rows = np.ones((self.shape.taps + 1, self.shape.features + 1))
        rows[:-1] = np.pad(met, ((0, 0), (0, 1)))
        return self._dealt(rows, slots)

    def taps(self, network: Network, slots: int) -> list[Vector]:
        """The factors of an image's vectors."""
        rows = np.repeat(_with_bias(network.convolution).T, self.shape.positions, axis=1)
        one = np.zeros((len(rows), 1))
        one[-1] = 1
        return self._dealt(np.hstack([rows, one]), slots)

    def dense(self, network: Network, slots: int) -> list[Vector]:
        """Diagonals 0 to 31 of each quarter: those of the layer from 32 times the quarter's number on."""
        weights = _with_one(_with_bias(network.dense))
        inputs = DIAGONALS + np.arange(weights.shape[1])
        diagonal_weights = np.zeros((_TURN, QUARTERS, QUARTER))
        for step in range(_TURN):
            for quarter in range(QUARTERS):
                outputs = (inputs - _TURN * quarter - step) % DIAGONALS - _HIDDEN
                diagonal_weights[step, quarter, inputs - step] = chosen(weights, outputs)
        return [repeated(diagonal, slots) for diagonal in diagonal_weights]

    def last(self, network: Network, slots: int) -> list[Vector]:
        """The diagonals of the last layer."""
        weights = _with_bias(network.last)
        inputs = _HIDDEN + np.arange(weights.shape[1])
        diagonal_weights = np.zeros((LAST_DIAGONALS, LENGTH))
        for step in range(LAST_DIAGONALS):
            diagonal_weights[step, inputs - step] = chosen(
                weights, (inputs - step - _LOGITS) % LAST_DIAGONALS
            )
        return [repeated(diagonal, slots) for diagonal in diagonal_weights]

    def logits(self, slots: Vector) -> Floats:
        """The logits (classes,) in the decrypted slots."""
        logits: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return logits

    def _dealt(self, rows: Floats, slots: int) -> list[Vector]:
        """Rows (taps + 1, features + 1), number 4g + q in quarter q of vector g."""
        quarters = np.zeros((self.ciphertexts * QUARTERS, QUARTER))
        quarters[: len(rows), DIAGONALS : DIAGONALS + rows.shape[1]] = rows
        return [repeated(pattern, slots) for pattern in quarters.reshape(self.ciphertexts, LENGTH)]


def _with_bias(layer: Layer) -> Floats:
    """The weights (outputs, inputs + 1): the last input's are the bias."""
    return np.column_stack([layer.weights, layer.bias])


def _with_one(weights: Floats) -> Floats:
    """The weights with an additional output, which equals the last input."""
    return np.vstack([weights, np.eye(1, weights.shape[1], weights.shape[1] - 1)])


def chosen(weights: Floats, outputs: npt.NDArray[np.int64]) -> Floats:
    """The weight of each input for its output, 0 for outputs that the layer does not have."""
    exists = (outputs >= 0) & (outputs < len(weights))
    return np.where(exists, weights[outputs * exists, np.arange(len(outputs))], 0.0)


def repeated(pattern: Floats, slots: int) -> Vector:
    """The pattern, repeated to fill the slots. Raises ``Unsupported`` for fewer slots than the pattern has."""
    if slots < LENGTH:
        raise Unsupported(
            f"an image takes {LENGTH} slots, and a ciphertext has {slots}: take N = {2 * LENGTH} or more"
        )
    return np.tile(pattern.ravel(), slots // LENGTH)


_BABIES, _LAST_BABIES = 8, 4


@dataclass(frozen=True, slots=True)
class _Layers(Generic[Operand]):
    """The weights of the three layers, and their products with ciphertexts."""

    taps: Sequence[Operand]
    dense: Sequence[Sequence[Operand]]
    last: Sequence[Sequence[Operand]]
    inner_products: InnerProducts[Operand]

    def each(self, evaluator: Evaluator, image: Handles) -> dict[str, list[Handle]]:
        """The results of each layer for one image, the last its logits: five levels, in ckks one rescaling each."""
        rescaled, squared = partial(on_images.rescaled, evaluator), partial(on_images.squared, evaluator)
        (taps,) = self.inner_products(evaluator, image, [self.taps])
        maps = sums.turned_sum(evaluator, rescaled(taps), MAP_SUMS)
        squared_maps = squared(maps)
        dense = diagonals.product(evaluator, squared_maps, self.dense, self.inner_products)
        hidden = sums.turned_sum(evaluator, rescaled(dense), DENSE_SUMS)
        squared_hidden = squared(hidden)
        last = diagonals.product(evaluator, squared_hidden, self.last, self.inner_products)
        return {
            "convolution": [maps],
            "first square": [squared_maps],
            "dense": [hidden],
            "second square": [squared_hidden],
            "last": [sums.turned_sum(evaluator, rescaled(last), LAST_SUMS)],
        }


class InPattern(Exact[held.Image], OneImage):
    """The input is one of the images, in a pattern of 4,096 slots; the output its logits (classes,). ``Layout`` places
    them, and refuses networks that do not fit.
    """

    Layout: ClassVar[type[Any]]

    @abstractmethod
    def rotations(self) -> Iterable[Sequence[int]]:
        """The rotations of sums, shifts and diagonals, for any image."""

    def require_shape(self, shape: Shape) -> None:
        self.Layout(shape)

    def keys(self, parameters: Parameters) -> KeyRequest:
        steps = {step for steps in self.rotations() for step in steps if step}
        return KeyRequest.of(relinearization=True, rotations=sorted(steps))

    def output(self, outputs: Sequence[Vector], given: held.Image, parameters: Parameters) -> Floats:
        return self.logits(self.layout().logits(outputs[0]), parameters)

    def layout(self) -> Any:
        """The layout of the network."""
        return self.Layout(self.network().shape)


class ByTaps(InPattern):
    """Weights in the clear."""

    Layout = Packing

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "square", "rotate")

    def rotations(self) -> Iterable[Sequence[int]]:
        dense, last = diagonals.steps(_TURN, _BABIES), diagonals.steps(LAST_DIAGONALS, _LAST_BABIES)
        return MAP_SUMS, dense, DENSE_SUMS, last, LAST_SUMS

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The image's pixels, as inputs of each tap."""
        return numbers(self.layout().image(given.pixels, parameters.slots), SCALES.pixels, parameters)

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """One ciphertext per image in each layer."""
        weights, each = self._weights(evaluator, state), self.layout().ciphertexts
        starts = range(0, len(inputs), each)
        return by_layer(weights.each(evaluator, inputs[start : start + each]) for start in starts)

    def _weights(self, evaluator: Evaluator, state: Handles) -> _Layers[Any]:
        """The weights in the server's form."""
        return self._layers(evaluator.parameters)

    def _layers(self, parameters: Parameters) -> _Layers[Vector]:
        network, layout, slots = self.halved_network(), self.layout(), parameters.slots
        dense = numbers(layout.dense(network, slots), SCALES.dense, parameters)
        last = numbers(layout.last(network, slots), SCALES.last, parameters)
        return _Layers(
            numbers(layout.taps(network, slots), SCALES.convolution, parameters),
            diagonals.columns(dense, _BABIES),
            diagonals.columns(last, _LAST_BABIES),
            diagonals.with_vectors,
        )


class EncryptedByTaps(ByTaps):
    """The weights are the key owner's secret, too: they are sent to the server encrypted, in a separate stage."""

    stages = (Stage("load", "state"), Stage("infer"))
    # Products of ciphertexts take 22 bits of noise budget more than those with plaintexts; N = 8192 has 13 to spare.
    # Four primes of 50 bits would leave 6 bits here; these leave 18, or 14 when encrypted with the public key.
    bfv = replace(Exact.bfv, ring_dimension=16384, modulus_bits=(53, 53, 53, 53, 53), plain_modulus=T_16384)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul", "square", "rotate")

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The weights of all layers, one after the other, or the image."""
        if stage == self.stages[-1].name:
            return super().vectors(stage, given, parameters)
        layers = self._layers(parameters)
        return [
            *layers.taps,
            *(vector for part in (layers.dense, layers.last) for column in part for vector in column),
        ]

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """First the weights, each at the level of its product; then as with weights in the clear."""
        if stage != self.stages[-1].name:
            return {stage: self._lowered(evaluator, inputs)}
        return super().layers(stage, evaluator, inputs, state, public)

    def _lowered(self, evaluator: Evaluator, inputs: Handles) -> list[Handle]:
        """The weights at their levels. A pass of several inputs sends them with each; only the first are used."""
        taps, dense = self.layout().ciphertexts, _TURN
        layers = [0] * taps + [1] * dense + [2] * LAST_DIAGONALS
        # Before each layer is a square: whole numbers change their modulus at squares alone.
        levels = 1 if evaluator.parameters.scale is None else 2
        return [
            reduce(lambda a, _: next_lower(evaluator, a), range(levels * layer), item)
            for item, layer in zip(inputs, layers, strict=False)
        ]

    def _weights(self, evaluator: Evaluator, state: Handles) -> _Layers[Any]:
        """The weights that the stage before returned."""
        taps = self.layout().ciphertexts
        dense = taps + _TURN
        return _Layers(
            state[:taps],
            _in_columns(state[taps:dense], _BABIES),
            _in_columns(state[dense:], _LAST_BABIES),
            diagonals.with_ciphertexts,
        )


def _in_columns(items: Handles, height: int) -> list[Handles]:
    return [items[start : start + height] for start in range(0, len(items), height)]


_LARGE = "an encrypted handwritten digit of 28 × 28 pixels (LoLa's network)"
_SMALL = "an encrypted handwritten digit of 8 × 8 pixels"
WORKLOADS = (
    ByTaps("lola-mnist", "lola-mnist", f"class of {_LARGE}"),
    ByTaps("digits", "digits", f"class of {_SMALL}"),
    EncryptedByTaps("lola-mnist-encrypted", "lola-mnist", f"class of {_LARGE}, weights encrypted, too"),
    EncryptedByTaps("digits-encrypted", "digits", f"class of {_SMALL}, weights encrypted, too"),
)
