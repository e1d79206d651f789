"""ResNet-20 on one encrypted image, bootstrapped before each activation. Weights and images are synthetic.

Weights are scaled, so that values before activations are in [−1, 1]. See :mod:`ciphermark_circuits.residual`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ciphermark_circuits import residual
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.residual import Convolution, Planes
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector, lowered, matched
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.deep.bootstrapped import Bootstrapped, Ring, with_levels
from ciphermark_workloads.workload import Arrays, Handles, Stage

_STAGES = 3
_CLASSES = 10
_WEIGHT_SEED = 2016
_CALIBRATION_SEED = 2015
_CALIBRATION = 8  # images
# Largest value before an activation, on the calibration images; of a residual sum, each term has half of it.
_LARGEST = 0.7
_SHORTCUT = 0.35  # the factor of x in a sum, where x is at most 1


@dataclass(frozen=True, slots=True)
class Size:
    """Image ``side`` and ``colors``, ``channels`` of the first stage, ``blocks`` of a stage, and ``degree`` of the
    activation.
    """

    side: int = 32
    channels: int = 16
    blocks: int = 3
    degree: int = 59
    colors: int = 3

    @property
    def activation_depth(self) -> int:
        """Levels of an activation."""
        return self.degree.bit_length()

    @property
    def levels(self) -> int:
        """Levels between two bootstrappings: activation, convolution, selection of pixels."""
        return self.activation_depth + 1 + residual.SELECTION_DEPTH


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution: the layout of its input, whether it halves the image, and whether it ends a block, whose input is
    then added.
    """

    planes: Planes
    convolution: Convolution
    halves: bool
    ends: bool


@dataclass(frozen=True, slots=True)
class Network:
    """Layers, the polynomial of activations, and the last layer (classes, channels)."""

    layers: Sequence[Layer]
    polynomial: tuple[float, ...]
    last: Floats
    bias: Floats

    def logits(self, image: Floats) -> Floats:
        """The logits of an image (colors, side, side) in the clear, with the same polynomial."""
        *_, x = self.values(image)
        logits: Floats = self.last @ self._activated(x).mean(axis=(1, 2)) + self.bias
        return logits

    def values(self, image: Floats) -> Iterator[Floats]:
        """The values before each activation."""
        x: Floats = np.zeros((self.layers[0].planes.channels, *image.shape[1:]))
        x[: len(image)] = image
        entered = x
        for number, layer in enumerate(self.layers):
            if number:
                x = self._activated(x)
            if not layer.ends:
                entered = _short(x, layer)
            y = layer.convolution(x)
            x = y[:, ::2, ::2] if layer.halves else y
            if layer.ends:
                x = x + _SHORTCUT * entered
            yield x

    def _activated(self, x: Floats) -> Floats:
        return np.asarray(np.polynomial.chebyshev.chebval(x, self.polynomial), dtype=np.float64)


class ResNet(Bootstrapped[Floats, Floats]):
    """The input is an image (3, side, side), the output ten logits. Each convolution is a stage, and the last layer."""

    name = "resnet-20"
    title = "ResNet-20 on an encrypted image, bootstrapped before each activation"
    schemes: tuple[Scheme, ...] = ("ckks",)
    tolerance = 0.05
    pass_s = 2.0

    def __init__(self, size: Size) -> None:
        self.size = size

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The convolutions and the last layer."""
        convolutions = 1 + 2 * self.size.blocks * _STAGES
        names = (f"convolution-{number}" for number in range(1, convolutions + 1))
        return (*(Stage(name, "state") for name in names), Stage("classify"))

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "mul_plain", "mul", "rotate", "bootstrap")

    @property
    def ring(self) -> Ring:
        """N = 65536, of whose slots 2^14 are bootstrapped."""
        return Ring(self.size.levels + 1, slots=self._first.width)

    def input(self, seed: int, data: Any) -> Floats:
        """Pixels from 0 to 1: smooth noise."""
        return _image(seed, self.size)

    def vectors(self, stage: str, given: Floats, parameters: Parameters) -> list[Vector]:
        if stage != self.stages[0].name:
            return []
        planes = self._first
        if planes.width > parameters.slots:
            raise Unsupported(f"the network takes {planes.width} slots, and there are {parameters.slots}")
        pixels = np.zeros((planes.channels, planes.side, planes.side))
        pixels[: len(given)] = given
        return [planes.repeated(pixels, parameters.slots)]

    def plaintext_bytes(self, stage: str, given: Floats, parameters: Parameters) -> int:
        """The image."""
        return 8 * given.size if stage == self.stages[0].name else 0

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The values before the next activation, and the input of the block inside of one."""
        network = self.network()
        number = [item.name for item in self.stages].index(stage)
        if number == 0:
            x = lowered(evaluator, inputs[0], 1 + _operand_level(evaluator))
            return [_convolved(evaluator, x, network.layers[0])]
        x, *entered = state
        if stage == self.stages[-1].name:
            x = self._activated(evaluator, x, network, 2)
            planes = self._first.halved.halved
            return [residual.classified(evaluator, x, network.last, network.bias, planes)]
        layer = network.layers[number]
        x = self._activated(evaluator, x, network, 1 + residual.SELECTION_DEPTH * layer.halves)
        y = _convolved(evaluator, x, layer)
        if layer.ends:
            (short,) = entered
            return [evaluator.apply("add", y, matched(evaluator, short, y, _SHORTCUT))]
        return [y, _shortened(evaluator, x, layer)]

    def output(self, outputs: Sequence[Vector], given: Floats, parameters: Parameters) -> Floats:
        return outputs[0][:_CLASSES]

    def reference(self, given: Floats) -> Floats:
        return self.network().logits(given)

    def bootstrapped_values(self, given: Floats) -> Iterable[Floats]:
        return self.network().values(given)

    def network(self) -> Network:
        """The network of this size, always the same."""
        return _network(self.size)

    @property
    def _first(self) -> Planes:
        return Planes(self.size.channels, self.size.side)

    def _activated(self, evaluator: Evaluator, x: Handle, network: Network, levels: int) -> Handle:
        """Activated, with so many levels left, besides those of the next bootstrapping."""
        needed = self.size.activation_depth + levels
        x = with_levels(evaluator, x, needed)
        x = lowered(evaluator, x, needed + _operand_level(evaluator))
        return residual.activated(evaluator, x, network.polynomial)


def _operand_level(evaluator: Evaluator) -> int:
    return evaluator.parameters.require_bootstrapping().operand_level


def _convolved(evaluator: Evaluator, x: Handle, layer: Layer) -> Handle:
    """The convolution of a layer, with half of the pixels and twice the channels where it halves the image."""
    shifted, count = residual.taps(evaluator, x, layer.planes), layer.planes.channels
    if not layer.halves:
        return residual.convolved(evaluator, shifted, layer.convolution, layer.planes)
    parts = (
        residual.convolved(evaluator, shifted, layer.convolution.part(start, count), layer.planes)
        for start in (0, count)
    )
    first, second = (residual.selected(evaluator, part, layer.planes) for part in parts)
    return residual.joined(evaluator, first, second, layer.planes)


def _shortened(evaluator: Evaluator, x: Handle, layer: Layer) -> Handle:
    """The input of a block in the layout of its end: with half of the pixels, new channels are 0."""
    if not layer.halves:
        return x
    return residual.joined(evaluator, residual.selected(evaluator, x, layer.planes), None, layer.planes)


def _short(x: Floats, layer: Layer) -> Floats:
    """:func:`_shortened` in the clear."""
    if not layer.halves:
        return x
    half = x[:, ::2, ::2]
    short: Floats = np.concatenate([half, np.zeros_like(half)])
    return short


def _image(seed: int, size: Size) -> Floats:
    """Squares of 4 × 4 pixels of like brightness."""
    random, side = np.random.default_rng(seed), size.side
    coarse = random.uniform(0, 0.9, size=(size.colors, side // 4, side // 4))
    fine = random.uniform(0, 0.1, size=(size.colors, side, side))
    image: Floats = coarse.repeat(4, axis=1).repeat(4, axis=2) + fine
    return image


@cache
def _network(size: Size) -> Network:
    """Random weights, each convolution scaled to the largest value that calibration images have after it."""
    random = np.random.default_rng(_WEIGHT_SEED)
    polynomial = residual.relu(size.degree)
    images = [_image(_CALIBRATION_SEED + number, size) for number in range(_CALIBRATION)]
    layers: list[Layer] = []
    for planes, halves, ends in _layouts(size):
        outputs, inputs = planes.channels * (1 + halves), planes.channels
        weights = random.normal(size=(outputs, inputs, residual.KERNEL, residual.KERNEL))
        if not layers:
            weights[:, size.colors :] = 0
        drawn = Convolution(weights / np.sqrt(weights[0].size), random.normal(size=outputs) * 0.05)
        candidates = Network(
            [*layers, Layer(planes, drawn, halves, ends=False)], polynomial, np.zeros((0, 0)), np.zeros(0)
        )
        largest = max(float(np.abs([*candidates.values(image)][-1]).max()) for image in images)
        share = 0.5 if ends else 1.0
        layers.append(Layer(planes, drawn.scaled(share * _LARGEST / largest), halves, ends))
    channels = 4 * size.channels
    last = random.normal(size=(_CLASSES, channels)) / np.sqrt(channels)
    return Network(layers, polynomial, last, random.normal(size=_CLASSES) * 0.1)


def _layouts(size: Size) -> Iterator[tuple[Planes, bool, bool]]:
    """Per convolution: the layout of its input, whether it halves the image, and whether it ends a block."""
    planes = Planes(size.channels, size.side)
    yield planes, False, False
    for stage in range(_STAGES):
        for block in range(size.blocks):
            halves = stage > 0 and block == 0
            yield planes, halves, False
            planes = planes.halved if halves else planes
            yield planes, False, True


WORKLOADS = (ResNet(Size()),)
