"""Classes of encrypted colour images by a network of two convolutions: LoLa-CIFAR's, its maps split by parity.

Where a network of two convolutions lies in slots, its maps split by parity (*polyphase*).

A map of the first convolution is four grids of half as many rows: the positions of even and of odd rows and columns. On
these the second convolution, at every second place, is one at every place, of half as many taps a row and four times
as many channels: a shift of a grid, which is a rotation, serves all channels at once. A *channel* is a block of slots
that holds a grid, a map four blocks. What a grid does not fill, and what a shift brings in from another channel, is
multiplied by 0.

Which channel goes to which map is a matrix of blocks, and its diagonals are multiplied one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.layout import Floats, powers
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference.inputs import Image, image
from ciphermark_workloads.inference.network import Layer
from ciphermark_workloads.inference.on_images import judged
from ciphermark_workloads.workload import Arrays, Handles, Judgement, Layered, Stage, Truth, Workload


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
        logits: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return logits

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


_CHAINS = 2  # of rotations that follow on each other: work for two threads


@dataclass(frozen=True, slots=True)
class Weights:
    """What is multiplied and added: see :class:`Parities`."""

    first: Sequence[Sequence[Sequence[Vector]]]
    first_bias: Sequence[Vector]
    second: Sequence[Sequence[Vector]]
    second_bias: Vector
    dense: Sequence[Sequence[Vector]]
    dense_bias: Vector

    @classmethod
    def of(cls, network: Network, layout: Parities, slots: int) -> Weights:
        """Of a network, for ciphertexts of so many slots."""
        return cls(
            layout.first(network.first, slots),
            layout.first_bias(network.first, slots),
            layout.second(network.second, slots),
            layout.second_bias(network.second, slots),
            diagonals.columns(layout.dense(network.dense, slots), DENSE_BABIES),
            layout.dense_bias(network.dense, slots),
        )


def keys(layout: Parities) -> KeyRequest:
    """Those that :func:`each` takes."""
    rotations = (
        *(baby * layout.whole for baby in range(1, layout.babies)),
        *sums.steps_of_turned_total(layout.maps // layout.babies, layout.babies * layout.whole),
        *(_forward(layout, shift * layout.row) for shift in layout.shifts if shift),
        *(_forward(layout, shift) for shift in layout.shifts if shift),
        *sums.steps_of_turned_total(layout.channels, layout.block, _CHAINS),
        *diagonals.steps(DIAGONALS, DENSE_BABIES),
        *powers(DIAGONALS, layout.span),
    )
    return KeyRequest.of(relinearization=True, rotations=rotations)


def each(evaluator: Evaluator, image: Handles, layout: Parities, weights: Weights) -> dict[str, list[Handle]]:
    """What each layer makes of an image, the last its logits: five levels, a rescaling each."""
    square = evaluator.managed().function("square")
    maps = _first(evaluator, image, layout, weights)
    squared_maps = [square(item) for item in maps]
    hidden = _second(evaluator, squared_maps, layout, weights)
    squared_hidden = square(hidden)
    return {
        "first convolution": maps,
        "first square": squared_maps,
        "second convolution": [hidden],
        "second square": [squared_hidden],
        "dense": [_dense(evaluator, squared_hidden, layout, weights)],
    }


def _first(evaluator: Evaluator, image: Handles, layout: Parities, weights: Weights) -> list[Handle]:
    """A matrix of blocks: inputs are turned by maps in baby steps, sums of products in giant steps."""
    taps = [
        evaluator.apply("rotate", item, baby * layout.whole) if baby else item
        for item in image
        for baby in range(layout.babies)
    ]
    step = layout.babies * layout.whole
    products = (diagonals.with_vectors(evaluator, taps, columns) for columns in weights.first)
    return [
        _finished(evaluator, sums.turned_total(evaluator, items, step), bias)
        for items, bias in zip(products, weights.first_bias, strict=True)
    ]


def _second(evaluator: Evaluator, maps: Handles, layout: Parities, weights: Weights) -> Handle:
    """Maps are shifted as taps are, sums of products turned from channel to channel."""
    shifted = [item for given in maps for item in _shifted(evaluator, given, layout)]
    products = diagonals.with_vectors(evaluator, shifted, weights.second)
    total = sums.turned_total(evaluator, products, layout.block, _CHAINS)
    return _finished(evaluator, total, weights.second_bias)


def _dense(evaluator: Evaluator, hidden: Handle, layout: Parities, weights: Weights) -> Handle:
    products = diagonals.product(evaluator, hidden, weights.dense, diagonals.with_vectors)
    total = sums.turned_sum(evaluator, evaluator.apply("rescale", products), powers(DIAGONALS, layout.span))
    return evaluator.managed().apply("add_plain", total, weights.dense_bias)


def _shifted(evaluator: Evaluator, given: Handle, layout: Parities) -> list[Handle]:
    """By rows, then each of these by columns: as many rotations as one by one, and fewer keys."""
    by_rows = [_moved(evaluator, given, layout, shift * layout.row) for shift in layout.shifts]
    return [_moved(evaluator, item, layout, shift) for item in by_rows for shift in layout.shifts]


def _moved(evaluator: Evaluator, given: Handle, layout: Parities, shift: int) -> Handle:
    return evaluator.apply("rotate", given, _forward(layout, shift)) if shift else given


def _forward(layout: Parities, shift: int) -> int:
    """The rotation to the left that is a shift by as many slots, back or forth: the pattern repeats."""
    return shift % layout.span


def _finished(evaluator: Evaluator, products: Handle, bias: Vector) -> Handle:
    return evaluator.managed().apply("add_plain", evaluator.apply("rescale", products), bias)


_DEPTH = 5  # convolution, square, convolution, square, dense layer
# What a plan traces in the place of a large network: as deep, of the same operations.
_SMALL = Parities(
    Shape(channels=1, side=12, kernel=4, padding=1, maps=11, reach=1, features=28, classes=10), 512
)


class Options(msgspec.Struct, frozen=True):
    """Of networks with random weights."""

    weights_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="seed of the network's random weights")
    ] = 1


class ByParity(Layered[Image, Floats]):
    """The input is a random image, the output its logits. Nothing is trained, and no image has a class: what is judged
    is the agreement with the network in the clear.
    """

    family = "inference"
    Options = Options
    schemes: tuple[Scheme, ...] = ("ckks",)
    stages: tuple[Stage, ...] = (Stage("infer"),)
    relative_tolerance: float = 0.002
    pass_s = 0.5

    def __init__(self, name: str, title: str, layout: Parities) -> None:
        self.name, self.title, self.layout = name, title, layout

    @property
    def is_seeded(self) -> bool:
        return True

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "mul_plain", "square", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 16384 and 300 bits: 128-bit secure by both tables. Beside a scale of 2^40 the first prime leaves room for
        logits of up to 512.
        """
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 50), scale_bits=40)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Whatever the image and the weights: a client that asks makes nothing of the network."""
        return keys(self.layout)

    def server_bytes(self, parameters: Parameters) -> int:
        """Weights as vectors, and as plaintexts of the level at which they are multiplied."""
        word, top = 8, len(parameters.moduli)
        plaintexts = self.layout.products
        primes = sum(count * (top - 2 * place) for place, count in enumerate(plaintexts))
        return word * (sum(plaintexts) * parameters.slots + primes * parameters.ring_dimension)

    def outline(self, parameters: Parameters) -> Workload[Image, Floats]:
        """A network of few and small maps."""
        return ByParity(self.name, self.title, _SMALL)

    def input(self, seed: int, data: Any) -> Image:
        """Numbers from 0 to 1, independent of each other."""
        shape = self.layout.shape
        return Image(np.random.default_rng(seed).uniform(size=(shape.channels, shape.side, shape.side)), None)

    def given_input(self, values: Sequence[float]) -> Image:
        """Channel by channel, each row by row; raises ``UserError`` for another size and for other numbers."""
        shape = self.layout.shape
        return image(values, shape.channels, shape.side, shape.side)

    def require_room(self, given: Image, parameters: Parameters) -> None:
        """Raise ``Unsupported`` where a logit is beyond what the first prime holds beside the scale."""
        room = parameters.moduli[0] / 2 / (parameters.scale or 1.0)
        largest = float(np.abs(self.reference(given)).max())
        if largest >= room:
            raise Unsupported(
                f"a logit of {largest:.3g} is beyond ±{room:.3g}, which is what a first prime of "
                f"{parameters.moduli[0].bit_length()} bits can represent besides the scale: use a longer one"
            )

    def vectors(self, stage: str, given: Image, parameters: Parameters) -> list[Vector]:
        """The image's pixels as each tap meets them."""
        return self.layout.image(given.pixels, parameters.slots)

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """The weights are made and laid out here, their plaintexts are the constants of the program."""
        weights = Weights.of(self._network(), self.layout, evaluator.parameters.slots)
        return each(evaluator, inputs, self.layout, weights)

    def output(self, outputs: Sequence[Vector], given: Image, parameters: Parameters) -> Floats:
        return self.layout.logits(outputs[0])

    def reference(self, given: Image) -> Floats:
        return self._network().logits(given.pixels)

    def judge(self, found: Floats, truth: Truth[Image, Floats]) -> Judgement:
        return judged(found[None], truth.expected[None], truth.reference[None], None, self.relative_tolerance)

    def _network(self) -> Network:
        return _drawn(self.layout.shape, self.options.weights_seed)


_drawn = lru_cache(maxsize=2)(drawn)
WORKLOADS = (
    ByParity(
        "lola-cifar",
        "logits of an encrypted color image of 32 × 32 pixels (LoLa's network, random weights)",
        Parities(LOLA_CIFAR, 8192),
    ),
)
