"""Classes of encrypted color images by a network of two convolutions, LoLa-CIFAR's, with maps split by parity
(*polyphase*).

A map of the first convolution is four grids of half as many rows: the positions of even and of odd rows and columns.
The second convolution has stride two. On the grids it has stride one, half as many taps per row and four times as many
channels. One shift of a grid, which is a rotation, thus serves all channels at once.

A *channel* is a block of slots that holds a grid; a map has four blocks. Slots outside of a grid, and values that a
shift brings in from another channel, are multiplied by 0. A matrix of blocks maps channels to maps, and its diagonals
are multiplied one after the other.
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
    """Images of ``channels`` × ``side`` × ``side`` numbers. The first convolution has ``kernel`` × ``kernel`` taps to
    ``maps`` maps, with ``padding`` rows and columns of zeros on each side of an image. The second has k × k taps, k = 4
    ``reach`` + 2, to ``features`` maps of half as many rows and columns. There are ``classes`` logits.
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
        """Rows of taps of the second convolution, whose padding is 2 ``reach``."""
        return 4 * self.reach + 2

    @property
    def neurons(self) -> int:
        """The number of inputs of the dense layer."""
        return self.features * self.half**2


LOLA_CIFAR = Shape(channels=3, side=32, kernel=8, padding=1, maps=83, reach=2, features=112, classes=10)


@dataclass(frozen=True, slots=True)
class Network:
    """logits = dense(second(first(image)²)²). A convolution has a row of taps for each map, ordered by the input
    channel, then by rows.
    """

    shape: Shape
    first: Layer
    second: Layer
    dense: Layer

    def logits(self, image: Floats) -> Floats:
        """The logits (classes,) of an image (channels, side, side)."""
        shape = self.shape
        maps = _convolved(patches(image, shape), self.first).reshape(shape.maps, shape.places, shape.places)
        met = _patches(maps**2, shape.second_kernel, 2 * shape.reach)
        hidden = _convolved(met, self.second).ravel()
        return self.dense.weights @ hidden**2 + self.dense.bias


def drawn(shape: Shape, seed: int) -> Network:
    """Random weights, normal with variance 1/inputs of a neuron, so that numbers neither grow nor vanish from layer to
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
    """The inputs of each tap of the first convolution for an image (channels, side, side): (taps, places²)."""
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
DIAGONALS = 16  # of the dense layer: the distance of its outputs in slots
DENSE_BABIES = 4
# The first logit: not slot 0, where errors of key switching are largest (see packing).
_LOGITS = DIAGONALS


@dataclass(frozen=True, slots=True)
class Parities:
    """The layout of networks of a shape in a pattern of ``span`` slots, a power of two, repeated in larger ciphertexts.
    Raises ``Unsupported`` for a shape that does not fit.
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
        """Channels per ciphertext."""
        return self.span // self.block

    @property
    def maps(self) -> int:
        """Maps, or taps, per ciphertext."""
        return self.span // self.whole

    @property
    def inputs(self) -> int:
        """Ciphertexts per image."""
        return -(-self.shape.taps // self.maps)

    @property
    def middle(self) -> int:
        """Ciphertexts of the first convolution's maps."""
        return -(-self.shape.maps // self.maps)

    @property
    def babies(self) -> int:
        """The number of diagonals per giant step of the first convolution's matrix of blocks that minimizes rotations.
        Baby steps rotate inputs, and giant steps rotate ciphertexts of maps.
        """
        count = self.maps

        def rotations(babies: int) -> int:
            return self.inputs * (babies - 1) + self.middle * (count // babies - 1)

        return min((1 << power for power in range(count.bit_length())), key=rotations)

    @property
    def shifts(self) -> range:
        """The shifts of grids, in rows and in columns."""
        return range(-self.shape.reach, self.shape.reach + 1)

    @property
    def products(self) -> tuple[int, int, int]:
        """Products with plaintexts in each layer: every diagonal of every pair of ciphertexts, with every shift."""
        first = self.inputs * self.middle * self.maps
        return first, self.middle * len(self.shifts) ** 2 * self.channels, DIAGONALS

    def image(self, pixels: Floats, slots: int) -> list[Vector]:
        """The vectors of an image (channels, side, side): the inputs of each tap, by parity."""
        shape = self.shape
        met = (
            patches(pixels, shape).reshape(shape.taps, shape.half, 2, shape.half, 2).transpose(0, 2, 4, 1, 3)
        )
        grids = np.zeros((self.inputs * self.maps, 2, 2, self.row, self.row))
        grids[: shape.taps, :, :, : shape.half, : shape.half] = met
        return [self.repeated(pattern, slots) for pattern in grids.reshape(self.inputs, self.span)]

    def first(self, layer: Layer, slots: int) -> list[list[list[Vector]]]:
        """The factors of the inputs, by ciphertext of maps and giant step, each rotated by 0, 1, … maps."""
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
        """The biases for each ciphertext of maps: inside grids, and 0 elsewhere."""
        bias = np.zeros(self.middle * self.maps)
        bias[: self.shape.maps] = layer.bias
        of_channels = np.repeat(bias, _PARITIES).reshape(self.middle, self.channels)
        return [self._on_grids(channels, slots) for channels in of_channels]

    def second(self, layer: Layer, slots: int) -> list[list[Vector]]:
        """The factors of ciphertexts of maps, for all shifts of each: by diagonal of the matrix of blocks, rotated back
        by it.
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
        """As :meth:`first_bias`, for the one ciphertext of maps."""
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
        """The biases of the logits, at every copy."""
        return self.repeated(
            np.tile(np.pad(layer.bias, (0, DIAGONALS - len(layer.bias))), self.span // DIAGONALS), slots
        )

    def logits(self, slots: Vector) -> Floats:
        """The logits (classes,) in the decrypted slots."""
        logits: Floats = slots[_LOGITS : _LOGITS + self.shape.classes]
        return logits

    def repeated(self, pattern: Floats, slots: int) -> Vector:
        """The pattern, repeated; raises ``Unsupported`` for fewer slots than the pattern has."""
        if slots < self.span:
            raise Unsupported(
                f"the network takes {self.span} slots, and a ciphertext has {slots}: take N = {2 * self.span} or more"
            )
        return np.tile(pattern.ravel(), slots // self.span)

    def _on_grids(self, channels: Floats, slots: int) -> Vector:
        """A number for each channel, in all positions of its grid."""
        return self.repeated(np.outer(channels, self._inside(0, 0)), slots)

    def _inside(self, rows: int, columns: int) -> Floats:
        """1 where both a position and the one shifted by these rows and columns are in the grid: (block,)."""
        here, half = np.arange(self.row), self.shape.half

        def within(shift: int) -> Floats:
            return ((here < half) & (here + shift >= 0) & (here + shift < half)).astype(np.float64)

        return np.outer(within(rows), within(columns)).ravel()


_CHAINS = 2  # of consecutive rotations: work for two threads


@dataclass(frozen=True, slots=True)
class Weights:
    """The factors and summands of the layers: see :class:`Parities`."""

    first: Sequence[Sequence[Sequence[Vector]]]
    first_bias: Sequence[Vector]
    second: Sequence[Sequence[Vector]]
    second_bias: Vector
    dense: Sequence[Sequence[Vector]]
    dense_bias: Vector

    @classmethod
    def of(cls, network: Network, layout: Parities, slots: int) -> Weights:
        """The weights of a network, for ciphertexts of ``slots`` slots."""
        return cls(
            layout.first(network.first, slots),
            layout.first_bias(network.first, slots),
            layout.second(network.second, slots),
            layout.second_bias(network.second, slots),
            diagonals.columns(layout.dense(network.dense, slots), DENSE_BABIES),
            layout.dense_bias(network.dense, slots),
        )


def keys(layout: Parities) -> KeyRequest:
    """The keys that :func:`each` needs."""
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
    """The results of each layer for an image, the last its logits: five levels, one rescaling each."""
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
    """A matrix of blocks: baby steps rotate inputs by maps, giant steps rotate sums of products."""
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
    """Maps are shifted by taps; sums of products are rotated from channel to channel."""
    shifted = [item for given in maps for item in _shifted(evaluator, given, layout)]
    products = diagonals.with_vectors(evaluator, shifted, weights.second)
    total = sums.turned_total(evaluator, products, layout.block, _CHAINS)
    return _finished(evaluator, total, weights.second_bias)


def _dense(evaluator: Evaluator, hidden: Handle, layout: Parities, weights: Weights) -> Handle:
    products = diagonals.product(evaluator, hidden, weights.dense, diagonals.with_vectors)
    total = sums.turned_sum(evaluator, evaluator.apply("rescale", products), powers(DIAGONALS, layout.span))
    return evaluator.managed().apply("add_plain", total, weights.dense_bias)


def _shifted(evaluator: Evaluator, given: Handle, layout: Parities) -> list[Handle]:
    """All shifts: by rows, then each of these by columns. It takes as many rotations as single shifts, and fewer
    keys.
    """
    by_rows = [_moved(evaluator, given, layout, shift * layout.row) for shift in layout.shifts]
    return [_moved(evaluator, item, layout, shift) for item in by_rows for shift in layout.shifts]


def _moved(evaluator: Evaluator, given: Handle, layout: Parities, shift: int) -> Handle:
    return evaluator.apply("rotate", given, _forward(layout, shift)) if shift else given


def _forward(layout: Parities, shift: int) -> int:
    """The left rotation for a shift by ``shift`` slots in either direction: the pattern repeats."""
    return shift % layout.span


def _finished(evaluator: Evaluator, products: Handle, bias: Vector) -> Handle:
    return evaluator.managed().apply("add_plain", evaluator.apply("rescale", products), bias)


_DEPTH = 5  # convolution, square, convolution, square, dense layer
# A plan traces this network instead of a large one: of the same depth and the same operations.
_SMALL = Parities(
    Shape(channels=1, side=12, kernel=4, padding=1, maps=11, reach=1, features=28, classes=10), 512
)


class Options(msgspec.Struct, frozen=True):
    """Options of networks with random weights."""

    weights_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="seed of the network's random weights")
    ] = 1


class ByParity(Layered[Image, Floats]):
    """The input is a random image, the output its logits. Nothing is trained, and images have no class: the judgement
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
        """N = 16384 and 300 bits: 128-bit secure by both tables. With a scale of 2^40 the first prime leaves room for
        logits of up to 512.
        """
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 50), scale_bits=40)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """The keys, which depend on neither image nor weights: a client need not build the network to know them."""
        return keys(self.layout)

    def server_bytes(self, parameters: Parameters) -> int:
        """The weights as vectors, and as plaintexts of the level of their product."""
        word, top = 8, len(parameters.moduli)
        plaintexts = self.layout.products
        primes = sum(count * (top - 2 * place) for place, count in enumerate(plaintexts))
        return word * (sum(plaintexts) * parameters.slots + primes * parameters.ring_dimension)

    def outline(self, parameters: Parameters) -> Workload[Image, Floats]:
        """A network of few and small maps."""
        return ByParity(self.name, self.title, _SMALL)

    def input(self, seed: int, data: Any) -> Image:
        """Independent numbers from 0 to 1."""
        shape = self.layout.shape
        return Image(np.random.default_rng(seed).uniform(size=(shape.channels, shape.side, shape.side)), None)

    def given_input(self, values: Sequence[float]) -> Image:
        """The image, channel by channel, each row by row; raises ``UserError`` for another size and for other
        numbers.
        """
        shape = self.layout.shape
        return image(values, shape.channels, shape.side, shape.side)

    def require_room(self, given: Image, parameters: Parameters) -> None:
        """Raise ``Unsupported`` where a logit exceeds the range of the first prime at the scale."""
        room = parameters.moduli[0] / 2 / (parameters.scale or 1.0)
        largest = float(np.abs(self.reference(given)).max())
        if largest >= room:
            raise Unsupported(
                f"a logit of {largest:.3g} is beyond ±{room:.3g}, which is what a first prime of "
                f"{parameters.moduli[0].bit_length()} bits can represent besides the scale: use a longer one"
            )

    def vectors(self, stage: str, given: Image, parameters: Parameters) -> list[Vector]:
        """The image's pixels, as inputs of each tap."""
        return self.layout.image(given.pixels, parameters.slots)

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """Makes the weights and their layout; their plaintexts are the constants of the program."""
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
