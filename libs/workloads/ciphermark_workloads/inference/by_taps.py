"""Classes of encrypted images with seven ciphertexts up; the server knows the weights, or has them encrypted, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

import numpy as np

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.diagonals import InnerProducts, Operand
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_contract.managed import lowered
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.inference import given as held
from ciphermark_workloads.inference import packing
from ciphermark_workloads.inference.network import Shape
from ciphermark_workloads.inference.on_images import OnImages
from ciphermark_workloads.inference.packing import Packing
from ciphermark_workloads.inference.quality import judged
from ciphermark_workloads.workload import Arrays, Judgement, Stage, Truth

_BABIES, _LAST_BABIES = 8, 4


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


class ByTaps(OnImages[held.Image]):
    """The input is one of the images, the output its logits (classes,)."""

    def require_shape(self, shape: Shape) -> None:
        Packing(shape)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "square", "rotate")

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
        images = self.images()
        return images.image(int(np.random.default_rng(seed).integers(len(images))))

    def given_input(self, values: Sequence[float]) -> held.Image:
        """An image of somebody's, whose class nobody knows."""
        return held.image(values, self.network().shape.side)

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
        logits: Floats = self.network().logits(given.pixels[None])[0]
        return logits

    def judge(self, found: Floats, truth: Truth[held.Image, Floats]) -> Judgement:
        label = truth.input.label
        labels = None if label is None else np.array([label])
        return judged(found[None], truth.expected[None], labels, self.tolerance)

    def _weights(self, evaluator: Evaluator, state: Sequence[Handle]) -> _Layers[Any]:
        """The weights as the server has them."""
        return self._layers(evaluator.parameters.slots)

    def _of_images(self, inputs: Sequence[Handle]) -> list[Sequence[Handle]]:
        each = self._packing().ciphertexts
        return [inputs[start : start + each] for start in range(0, len(inputs), each)]

    def _layers(self, slots: int) -> _Layers[Vector]:
        network, layout = self.halved_network(), self._packing()
        return _Layers(
            layout.taps(network, slots),
            diagonals.columns(layout.dense(network, slots), _BABIES),
            diagonals.columns(layout.last(network, slots), _LAST_BABIES),
            diagonals.with_vectors,
        )

    def _packing(self) -> Packing:
        return Packing(self.network().shape)


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
