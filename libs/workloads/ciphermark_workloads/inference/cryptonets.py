"""Classes of thousands of encrypted images at once, an image in each slot: latency for throughput.

Gilad-Bachrach et al., "CryptoNets: Applying neural networks to encrypted data with high throughput and accuracy", ICML
2016. A ciphertext has one pixel of every image, or one neuron: weights are numbers, and nothing is rotated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits import number_sums
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.inference import given as held
from ciphermark_workloads.inference.network import Layer, Network, Shape, pixels_met
from ciphermark_workloads.inference.on_images import OnImages
from ciphermark_workloads.inference.quality import judged
from ciphermark_workloads.workload import Arrays, Judgement, Truth


class Options(held.Options, frozen=True):
    """Of networks on images that lie side by side."""

    images_at_once: Annotated[
        int,
        msgspec.Meta(ge=1, le=1 << 16, description="images side by side: at most as many as there are slots"),
    ] = 4096


@dataclass(frozen=True, slots=True)
class _Layers:
    """What the layers of one set of images give, neuron by neuron."""

    convolution: list[Handle]
    first_square: list[Handle]
    dense: list[Handle]
    second_square: list[Handle]
    last: list[Handle]


class CryptoNets(OnImages[held.Images]):
    """The input are as many images, the output their logits (count, classes). Any network of the kind fits."""

    Options = Options
    pass_s = 4.0

    def require_shape(self, shape: Shape) -> None:
        """Neurons are ciphertexts, as many as there are."""

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "square")

    def keys(self, parameters: Parameters) -> KeyRequest:
        """That of squares."""
        return KeyRequest(relinearization=True)

    def server_bytes(self, parameters: Parameters) -> int:
        """Pixels at the top level, and neurons of maps and their squares at the next two."""
        shape, levels = self.network().shape, len(parameters.moduli)
        polynomial = 8 * parameters.ring_dimension
        return 2 * polynomial * (shape.side**2 * levels + shape.features * (levels - 1 + levels - 2))

    def input(self, seed: int, data: Any) -> held.Images:
        """All images in an order of chance, again and again, until there are as many."""
        images, count = self.images(), self.options.images_at_once
        rng = np.random.default_rng(seed)
        orders = [rng.permutation(len(images)) for _ in range(0, count, len(images))]
        return images.chosen(np.concatenate(orders)[:count])

    def given_input(self, values: Sequence[float]) -> held.Images:
        """One image of somebody's, whose class nobody knows."""
        image = held.image(values, self.network().shape.side)
        return held.Images(image.pixels[None], None)

    def vectors(self, stage: str, given: held.Images, parameters: Parameters) -> list[Vector]:
        """Each pixel of all images."""
        if len(given) > parameters.slots:
            raise Unsupported(
                f"{len(given)} images do not lie side by side in {parameters.slots} slots: take N = "
                f"{2 << (len(given) - 1).bit_length()} or more, or fewer images (images_at_once)"
            )
        return [*np.ascontiguousarray(given.pixels.reshape(len(given), -1).T)]

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """A ciphertext for each logit."""
        return [*self.layers(stage, evaluator, inputs, state, public).values()][-1]

    def layers(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> Mapping[str, list[Handle]]:
        """A ciphertext for each neuron."""
        network = self.halved_network()
        pixels = network.shape.side**2
        found = [
            _layers(evaluator, network, inputs[start : start + pixels])
            for start in range(0, len(inputs), pixels)
        ]
        names = ("convolution", "first_square", "dense", "second_square", "last")
        return {
            name.replace("_", " "): [item for layers in found for item in getattr(layers, name)]
            for name in names
        }

    def output(self, outputs: Sequence[Vector], given: held.Images, parameters: Parameters) -> Floats:
        logits: Floats = np.ldexp(np.column_stack(outputs)[: len(given)], self.options.halvings)
        return logits

    def reference(self, given: held.Images) -> Floats:
        return self.network().logits(given.pixels)

    def judge(self, found: Floats, truth: Truth[held.Images, Floats]) -> Judgement:
        return judged(found, truth.expected, truth.reference, truth.input.labels, self.tolerance)


def _layers(evaluator: Evaluator, network: Network, pixels: Sequence[Handle]) -> _Layers:
    """Neurons of maps are squared as soon as they are there: so memory is that of squares."""
    square = evaluator.managed().function("square")
    met, bias = pixels_met(network.shape), network.convolution.bias
    maps: dict[tuple[int, int], Handle] = {}
    squares: dict[tuple[int, int], Handle] = {}
    for position, (taps, numbers) in enumerate(met):
        weights = Layer(network.convolution.weights[:, taps], bias)
        for number, neuron in enumerate(_affine(evaluator, [pixels[item] for item in numbers], weights)):
            maps[number, position] = neuron
            squares[number, position] = square(neuron)
    in_order = sorted(maps)  # map by map
    first_square = [squares[place] for place in in_order]
    dense = _affine(evaluator, first_square, network.dense)
    second_square = [*map(square, dense)]
    last = _affine(evaluator, second_square, network.last)
    return _Layers([maps[place] for place in in_order], first_square, dense, second_square, last)


def _affine(evaluator: Evaluator, inputs: Sequence[Handle], layer: Layer) -> list[Handle]:
    """The neurons of a layer: sums of the same ciphertexts after each other, then a rescaling and the bias."""
    sums = [*map(partial(number_sums.weighted, evaluator), repeat(inputs), layer.weights.tolist())]
    rescaled = [evaluator.apply("rescale", item) for item in sums]
    add = evaluator.managed().function("add_plain")
    slots = evaluator.parameters.slots
    return [add(item, np.full(slots, bias)) for item, bias in zip(rescaled, layer.bias, strict=True)]


_LARGE = "classes of thousands of encrypted handwritten digits of 28 × 28 pixels at once (CryptoNets)"
_SMALL = "classes of thousands of encrypted handwritten digits of 8 × 8 pixels at once"
WORKLOADS = (
    CryptoNets("cryptonets", "lola-mnist", _LARGE),
    CryptoNets("cryptonets-digits", "digits", _SMALL),
)
