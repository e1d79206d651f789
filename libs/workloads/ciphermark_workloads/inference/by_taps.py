"""Classes of encrypted images with seven ciphertexts up; the server knows the weights, or has them encrypted, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic

import numpy as np

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.diagonals import InnerProducts, Operand
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_contract.managed import lowered
from ciphermark_core.dimensions import Value
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import given as held
from ciphermark_workloads.inference import packing
from ciphermark_workloads.inference.network import Network
from ciphermark_workloads.inference.networks import from_onnx, own
from ciphermark_workloads.inference.packing import Packing
from ciphermark_workloads.inference.quality import judged
from ciphermark_workloads.workload import Arrays, Judgement, Stage, Truth, Workload

_BABIES, _LAST_BABIES = 8, 4
_DEPTH = 5  # convolution, square, dense layer, square, last layer


@dataclass(frozen=True, slots=True)
class _Layers(Generic[Operand]):
    """The weights of the three layers, and how ciphertexts are multiplied with them."""

    taps: Sequence[Operand]
    dense: Sequence[Sequence[Operand]]
    last: Sequence[Sequence[Operand]]
    inner_products: InnerProducts[Operand]

    def each(self, evaluator: Evaluator, image: Sequence[Handle]) -> dict[str, Handle]:
        """What each layer makes of one image, the last its logits: five levels, a rescaling each."""
        square = evaluator.managed().function("square")
        rescaled = partial(evaluator.apply, "rescale")
        (taps,) = self.inner_products(evaluator, image, [self.taps])
        maps = sums.turned_sum(evaluator, rescaled(taps), packing.MAP_SUMS)
        squared_maps = square(maps)
        dense = diagonals.product(evaluator, squared_maps, self.dense, self.inner_products)
        hidden = sums.turned_sum(evaluator, rescaled(dense), packing.DENSE_SUMS)
        squared_hidden = square(hidden)
        last = diagonals.product(evaluator, squared_hidden, self.last, self.inner_products)
        return {
            "convolution": maps,
            "first square": squared_maps,
            "dense": hidden,
            "second square": squared_hidden,
            "last": sums.turned_sum(evaluator, rescaled(last), packing.LAST_SUMS),
        }


class ByTaps(Workload[held.Image, Floats]):
    """The input is one of the images, the output its logits. ``shipped`` is the network, where options
    name none.
    """

    family = "inference"
    Options = held.Options
    schemes: tuple[Scheme, ...] = ("ckks",)
    stages: tuple[Stage, ...] = (Stage("infer"),)
    tolerance = 0.002

    def __init__(self, name: str, shipped: str, title: str) -> None:
        self.name, self.title = name, title
        self._shipped = shipped

    def as_kept(self, file: str, data: bytes) -> tuple[str, bytes]:
        """A network of an ONNX file as arrays, for parties to read without ``onnx``."""
        path = Path(file)
        if path.suffix.lower() != ".onnx":
            return file, data
        return str(path.with_suffix(".npz")), own.packed(from_onnx.network(file, data))

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        """Raises ``UserError`` for a network that the packing does not hold, and for images of another size."""
        settled = {**values, option: name}
        options = self.with_options(settled).options
        try:
            Packing(held.network(self._shipped, options).shape)
        except Unsupported as error:
            raise UserError(f"{options.network}: {error}") from None
        if option == "images" or not options.images:  # else they are read next
            held.images(self._shipped, options)
        return settled

    @property
    def is_seeded(self) -> bool:
        return True

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "square", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 8192 and 208 bits: 128-bit secure by both tables. Beside a scale of 2^28 the first prime leaves room for
        logits of up to 32.
        """
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 8192, (34, *[28] * _DEPTH, 34), scale_bits=28)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Those of sums and diagonals, whatever the image."""
        layers = (
            packing.MAP_SUMS,
            diagonals.steps(packing.DIAGONALS // packing.QUARTERS, _BABIES),
            packing.DENSE_SUMS,
            diagonals.steps(packing.LAST_DIAGONALS, _LAST_BABIES),
            packing.LAST_SUMS,
        )
        rotations = tuple(sorted({step for layer in layers for step in layer}))
        return KeyRequest(relinearization=True, rotations=rotations)

    def input(self, seed: int, data: Any) -> held.Image:
        """One image of all, alike likely."""
        images = self._images()
        return images.image(int(np.random.default_rng(seed).integers(len(images))))

    def given_input(self, values: Sequence[float]) -> held.Image:
        """An image of somebody's, whose class nobody knows."""
        return held.image(values, self._network().shape.side)

    def require_room(self, given: held.Image, parameters: Parameters) -> None:
        """Raise ``Unsupported`` where a logit is beyond what the first prime holds beside the scale."""
        room = parameters.moduli[0] / 2 / (parameters.scale or 1.0)
        largest = float(np.ldexp(np.abs(self.reference(given)).max(), -self.options.halvings))
        if largest >= room:
            missing = int(np.ceil(np.log2(2 * largest / room)))
            raise Unsupported(
                f"a logit of {largest:.3g} is beyond ±{room:.3g}, which is what a first prime of "
                f"{parameters.moduli[0].bit_length()} bits holds beside the scale: take a longer one, or halve the "
                f"last layer {self.options.halvings + missing} times (halvings)"
            )

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The image's pixels as each tap meets them."""
        return self._packing().image(given.pixels, parameters.slots)

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """One ciphertext for each image, its logits in some of the slots."""
        return [*self.layers(stage, evaluator, inputs, state, public).values()][-1]

    def layers(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> Mapping[str, list[Handle]]:
        """One ciphertext of each image for each layer."""
        weights = self._weights(evaluator, state)
        found = [weights.each(evaluator, image) for image in self._of_images(inputs)]
        return {name: [image[name] for image in found] for name in found[0]}

    def output(self, outputs: Sequence[Vector], given: held.Image, parameters: Parameters) -> Floats:
        logits: Floats = np.ldexp(self._packing().logits(outputs[0]), self.options.halvings)
        return logits

    def reference(self, given: held.Image) -> Floats:
        logits: Floats = self._network().logits(given.pixels[None])[0]
        return logits

    def judge(self, found: Floats, truth: Truth[held.Image, Floats]) -> Judgement:
        return judged(found, truth.expected, truth.input.label, self.tolerance)

    def _weights(self, evaluator: Evaluator, state: Sequence[Handle]) -> _Layers[Any]:
        """The weights as the server has them."""
        return self._layers(evaluator.parameters.slots)

    def _of_images(self, inputs: Sequence[Handle]) -> list[Sequence[Handle]]:
        each = self._packing().ciphertexts
        return [inputs[start : start + each] for start in range(0, len(inputs), each)]

    def _layers(self, slots: int) -> _Layers[Vector]:
        network, layout = held.halved(self._network(), self.options.halvings), self._packing()
        return _Layers(
            layout.taps(network, slots),
            diagonals.columns(layout.dense(network, slots), _BABIES),
            diagonals.columns(layout.last(network, slots), _LAST_BABIES),
            diagonals.with_vectors,
        )

    def _network(self) -> Network:
        return held.network(self._shipped, self.options)

    def _images(self) -> held.Images:
        return held.images(self._shipped, self.options)

    def _packing(self) -> Packing:
        return Packing(self._network().shape)


class EncryptedByTaps(ByTaps):
    """The weights are the key owner's secret, too: the server is sent them encrypted, in a stage of their own."""

    stages = (Stage("load", "state"), Stage("infer"))

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul", "square", "rotate")

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The weights of all layers, one after the other, or the image."""
        if stage == self.stages[-1].name:
            return super().vectors(stage, given, parameters)
        layers = self._layers(parameters.slots)
        return [
            *layers.taps,
            *(vector for part in (layers.dense, layers.last) for column in part for vector in column),
        ]

    def layers(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> Mapping[str, list[Handle]]:
        """First the weights, each at the level at which it is multiplied; then as with weights in the clear."""
        if stage != self.stages[-1].name:
            return {stage: self._lowered(evaluator, inputs)}
        return super().layers(stage, evaluator, inputs, state, public)

    def _lowered(self, evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        """Of several inputs in a pass the weights are sent with each: those of the first are kept."""
        top = evaluator.level(inputs[0])
        taps, dense = self._packing().ciphertexts, packing.DIAGONALS // packing.QUARTERS
        falls = [0] * taps + [2] * dense + [4] * packing.LAST_DIAGONALS
        return [lowered(evaluator, item, top - fall) for item, fall in zip(inputs, falls, strict=False)]

    def _weights(self, evaluator: Evaluator, state: Sequence[Handle]) -> _Layers[Any]:
        """What the stage before returned."""
        taps = self._packing().ciphertexts
        dense = taps + packing.DIAGONALS // packing.QUARTERS
        return _Layers(
            state[:taps],
            _in_columns(state[taps:dense], _BABIES),
            _in_columns(state[dense:], _LAST_BABIES),
            diagonals.with_ciphertexts,
        )


def _in_columns(items: Sequence[Handle], height: int) -> list[Sequence[Handle]]:
    return [items[start : start + height] for start in range(0, len(items), height)]


_LARGE = "an encrypted handwritten digit of 28 × 28 pixels (LoLa's network)"
_SMALL = "an encrypted handwritten digit of 8 × 8 pixels"
WORKLOADS = (
    ByTaps("lola-mnist", "lola-mnist", f"class of {_LARGE}"),
    ByTaps("digits", "digits", f"class of {_SMALL}"),
    EncryptedByTaps("lola-mnist-encrypted", "lola-mnist", f"class of {_LARGE}, weights encrypted, too"),
    EncryptedByTaps("digits-encrypted", "digits", f"class of {_SMALL}, weights encrypted, too"),
)
