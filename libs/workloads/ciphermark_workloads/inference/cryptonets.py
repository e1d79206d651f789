"""Classes of thousands of encrypted images at once, one image per slot: high throughput at high latency. The server has
the weights in the clear, or encrypted, each in all slots of a ciphertext.

Gilad-Bachrach et al., "CryptoNets: Applying neural networks to encrypted data with high throughput and accuracy", ICML
2016. A ciphertext holds one pixel of every image, or one neuron: weights are numbers, and no rotations are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Annotated, Any, Generic, TypeVar

import msgspec
import numpy as np

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.diagonals import InnerProducts
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector, lowered
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference import on_images
from ciphermark_workloads.inference.network import Layer, Shape, pixels_met
from ciphermark_workloads.inference.on_images import SCALES, Exact, by_layer, judged, numbers, whole
from ciphermark_workloads.workload import Arrays, Handles, Judgement, Stage, Truth


class Options(held.Options, frozen=True):
    """Options of networks on images in parallel slots."""

    images_at_once: Annotated[
        int,
        msgspec.Meta(ge=1, le=1 << 16, description="images per pass: at most the number of slots"),
    ] = 4096


Weight = TypeVar("Weight")  # a number, or a ciphertext with it in all slots
Bias = TypeVar("Bias")  # a vector in the clear, or a ciphertext


@dataclass(frozen=True, slots=True)
class Affine(Generic[Weight, Bias]):
    """A layer: its ``weights`` (outputs, inputs) and ``biases`` (outputs,), and the functions that multiply and add
    them.
    """

    weights: Sequence[Sequence[Weight]]
    biases: Sequence[Bias]
    inner_products: InnerProducts[Weight]
    addition: str

    def of_inputs(self, numbers: Sequence[int]) -> Affine[Weight, Bias]:
        """The layer with the weights of some inputs alone."""
        return replace(self, weights=[[row[number] for number in numbers] for row in self.weights])

    def neurons(self, evaluator: Evaluator, inputs: Handles) -> list[Handle]:
        """Sums over the same ciphertexts, one after the other, then in ckks a rescaling, and the bias."""
        sums = self.inner_products(evaluator, inputs, self.weights)
        rescaled = [on_images.rescaled(evaluator, item) for item in sums]
        add = evaluator.managed().function(self.addition)
        return [add(item, bias) for item, bias in zip(rescaled, self.biases, strict=True)]


@dataclass(frozen=True, slots=True)
class Weights:
    """The three layers in the server's form."""

    convolution: Affine[Any, Any]
    dense: Affine[Any, Any]
    last: Affine[Any, Any]

    def layers(self, evaluator: Evaluator, shape: Shape, pixels: Handles) -> dict[str, list[Handle]]:
        """The results of each layer for one set of images, neuron by neuron. Neurons of maps are squared immediately,
        so that memory holds only squares.
        """
        square = partial(on_images.squared, evaluator)
        maps: dict[tuple[int, int], Handle] = {}
        squares: dict[tuple[int, int], Handle] = {}
        for position, (taps, met) in enumerate(pixels_met(shape)):
            neurons = self.convolution.of_inputs(taps).neurons(evaluator, [pixels[item] for item in met])
            for number, neuron in enumerate(neurons):
                maps[number, position] = neuron
                squares[number, position] = square(neuron)
        in_order = sorted(maps)  # map by map
        first_square = [squares[place] for place in in_order]
        hidden = self.dense.neurons(evaluator, first_square)
        second_square = [*map(square, hidden)]
        return {
            "convolution": [maps[place] for place in in_order],
            "first square": first_square,
            "dense": hidden,
            "second square": second_square,
            "last": self.last.neurons(evaluator, second_square),
        }


class CryptoNets(Exact[held.Images]):
    """The input is a set of images, the output their logits (count, classes). Supports any network of the kind."""

    Options = Options
    pass_s = 4.0
    # Products with numbers take little noise budget, so squares can have a larger t: two primes of 26 bits, not three
    # of 17. The remaining budget is 11 bits, as much as a last modulus of 50 bits has for a t of 26.
    bfv = ParameterSpec("bfv", 8192, (50, 50, 50, 50), plain_modulus=47497217 * 47628289)

    def require_shape(self, shape: Shape) -> None:
        """No limit: each neuron is a ciphertext."""

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "square")

    def keys(self, parameters: Parameters) -> KeyRequest:
        """The relinearization key of squares."""
        return KeyRequest.of(relinearization=True)

    def server_bytes(self, parameters: Parameters) -> int:
        """Pixels at the top level, and neurons of maps and their squares at the next two levels; in bfv, at the same
        and the next one, for each residue.
        """
        shape, levels = self.network().shape, len(parameters.moduli)
        maps = levels if parameters.scale is None else levels - 1
        polynomial = 8 * parameters.ring_dimension * max(1, len(parameters.spec.plain_residues))
        return 2 * polynomial * (shape.side**2 * levels + shape.features * (maps + maps - 1))

    def input(self, seed: int, data: Any) -> held.Images:
        """All images in random order, repeated up to the required number."""
        images, count = self.images(), self.options.images_at_once
        rng = np.random.default_rng(seed)
        orders = [rng.permutation(len(images)) for _ in range(0, count, len(images))]
        return images.chosen(np.concatenate(orders)[:count])

    def given_input(self, values: Sequence[float]) -> held.Images:
        """One given image of unknown class."""
        side = self.network().shape.side
        image = held.image(values, side, side)
        return held.Images(image.pixels[None], None)

    def vectors(self, stage: str, given: held.Images, parameters: Parameters) -> list[Vector]:
        """Each pixel of all images."""
        if len(given) > parameters.slots:
            dimension = parameters.ring_dimension // parameters.slots << (len(given) - 1).bit_length()
            raise Unsupported(
                f"{len(given)} images do not lie side by side in {parameters.slots} slots: take N = "
                f"{dimension} or more, or fewer images (images_at_once)"
            )
        pixels = [*np.ascontiguousarray(given.pixels.reshape(len(given), -1).T)]
        return numbers(pixels, SCALES.pixels, parameters)

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """A ciphertext for each neuron."""
        shape, weights = self.network().shape, self._weights(evaluator, state)
        pixels = shape.side**2
        starts = range(0, len(inputs), pixels)
        return by_layer(weights.layers(evaluator, shape, inputs[start : start + pixels]) for start in starts)

    def output(self, outputs: Sequence[Vector], given: held.Images, parameters: Parameters) -> Floats:
        return self.logits(np.column_stack(outputs)[: len(given)], parameters)

    def reference(self, given: held.Images) -> Floats:
        return self.network().logits(given.pixels)

    def judge(self, found: Floats, truth: Truth[held.Images, Floats]) -> Judgement:
        return judged(
            found, truth.expected, truth.reference, truth.input.labels, self.tolerance_of(truth.parameters)
        )

    def _weights(self, evaluator: Evaluator, state: Handles) -> Weights:
        """The weights in the clear."""
        network, parameters = self.halved_network(), evaluator.parameters
        layers = network.convolution, network.dense, network.last
        scales = SCALES.convolution, SCALES.dense, SCALES.last
        rows = zip(layers, scales, SCALES.inputs, strict=True)
        return Weights(*(_in_the_clear(layer, parameters, *at) for layer, *at in rows))


def _in_the_clear(layer: Layer, parameters: Parameters, scale: int, of_input: int) -> Affine[float, Vector]:
    """A layer encoded for the scheme: reals, or whole numbers at a scale, for inputs at another scale."""
    vectors = numbers([np.full(parameters.slots, bias) for bias in layer.bias], scale, parameters, of_input)
    weights = layer.weights if parameters.plain_modulus is None else whole(layer.weights, scale)
    return Affine(weights.tolist(), vectors, _sums, "add_plain")


def _sums(evaluator: Evaluator, inputs: Handles, rows: Sequence[Sequence[float]]) -> list[Handle]:
    """The sums of the rows. Raises ``Unsupported`` for a row of zeros, whose sum would contain no ciphertext."""
    if not all(map(any, rows)):
        raise Unsupported(
            "a neuron has weights that are all 0, or all round to 0 in whole numbers: leave it out of the network"
        )
    return sums.weighted(evaluator, inputs, rows)


_FALLS = (
    0,
    2,
    4,
)  # levels of each layer below the top: one rescaling for it and one for the square before it


class EncryptedCryptoNets(CryptoNets):
    """For small networks: a ciphertext for each weight is sent once, in a separate stage."""

    schemes: tuple[Scheme, ...] = ("ckks",)
    stages = (Stage("load", "state"), Stage("infer"))

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul", "mul_plain", "square")

    def server_bytes(self, parameters: Parameters) -> int:
        """Weights as they are sent, half as large with seeds, and at each level on their way down: libraries do not
        return freed memory.
        """
        top, two = len(parameters.moduli), 2 * 8 * parameters.ring_dimension
        primes = (top / 2 + sum(range(top - fall, top + 1)) for fall in _FALLS)
        weights = sum(_size(layer) * each for layer, each in zip(self._layers(), primes, strict=True))
        return super().server_bytes(parameters) + int(two * weights)

    def vectors(self, stage: str, given: held.Images, parameters: Parameters) -> list[Vector]:
        """Each weight in all slots, layer by layer, those of an output together and biases last; or the images."""
        if stage == self.stages[-1].name:
            return super().vectors(stage, given, parameters)
        numbers = (part.ravel() for layer in self._layers() for part in (layer.weights, layer.bias))
        return [np.full(parameters.slots, number) for number in np.concatenate([*numbers])]

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """First the weights, each at the level of its product; then as with weights in the clear."""
        if stage != self.stages[-1].name:
            return {stage: self._lowered(evaluator, inputs)}
        return super().layers(stage, evaluator, inputs, state, public)

    def _lowered(self, evaluator: Evaluator, inputs: Handles) -> list[Handle]:
        """The weights at their levels. A pass of several inputs sends them with each; only the first are used."""
        top, rows = evaluator.level(inputs[0]), zip(self._layers(), _FALLS, strict=True)
        falls = (fall for layer, fall in rows for _ in range(_size(layer)))
        return [lowered(evaluator, item, top - fall) for item, fall in zip(inputs, falls, strict=False)]

    def _weights(self, evaluator: Evaluator, state: Handles) -> Weights:
        """The weights that the stage before returned."""
        handles = iter(state)
        return Weights(*(_encrypted(handles, layer) for layer in self._layers()))

    def _layers(self) -> tuple[Layer, Layer, Layer]:
        network = self.halved_network()
        return network.convolution, network.dense, network.last


def _size(layer: Layer) -> int:
    return layer.weights.size + layer.bias.size


def _encrypted(handles: Iterator[Handle], layer: Layer) -> Affine[Handle, Handle]:
    """Biases stay a level above sums that are rescaled: bringing both to one scale takes that level."""
    outputs, inputs = layer.weights.shape
    weights = [[*islice(handles, inputs)] for _ in range(outputs)]
    return Affine(weights, [*islice(handles, outputs)], diagonals.with_ciphertexts, "add")


_LARGE = "classes of thousands of encrypted handwritten digits of 28 × 28 pixels at once (CryptoNets)"
_SMALL = "classes of thousands of encrypted handwritten digits of 8 × 8 pixels at once"
WORKLOADS = (
    CryptoNets("cryptonets", "lola-mnist", _LARGE),
    CryptoNets("cryptonets-digits", "digits", _SMALL),
    EncryptedCryptoNets(
        "cryptonets-digits-encrypted",
        "digits",
        "classes of thousands of encrypted handwritten digits of 8 × 8 pixels at once, weights encrypted, too",
    ),
)
