"""Classes of encrypted images with seven ciphertexts up; the server knows the weights, or has them encrypted, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Generic

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.diagonals import InnerProducts, Operand
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_contract.managed import next_lower
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.inference import exact, packing
from ciphermark_workloads.inference import given as held
from ciphermark_workloads.inference.exact import SCALES, T_16384, Exact
from ciphermark_workloads.inference.network import Shape
from ciphermark_workloads.inference.on_images import OneImage
from ciphermark_workloads.inference.packing import Packing
from ciphermark_workloads.inference.whole_numbers import numbers
from ciphermark_workloads.workload import Arrays, Stage

_BABIES, _LAST_BABIES = 8, 4


@dataclass(frozen=True, slots=True)
class _Layers(Generic[Operand]):
    """The weights of the three layers, and how ciphertexts are multiplied with them."""

    taps: Sequence[Operand]
    dense: Sequence[Sequence[Operand]]
    last: Sequence[Sequence[Operand]]
    inner_products: InnerProducts[Operand]

    def each(self, evaluator: Evaluator, image: Sequence[Handle]) -> dict[str, Handle]:
        """What each layer makes of one image, the last its logits: five levels, in ckks a rescaling each."""
        rescaled, squared = partial(exact.rescaled, evaluator), partial(exact.squared, evaluator)
        (taps,) = self.inner_products(evaluator, image, [self.taps])
        maps = sums.turned_sum(evaluator, rescaled(taps), packing.MAP_SUMS)
        squared_maps = squared(maps)
        dense = diagonals.product(evaluator, squared_maps, self.dense, self.inner_products)
        hidden = sums.turned_sum(evaluator, rescaled(dense), packing.DENSE_SUMS)
        squared_hidden = squared(hidden)
        last = diagonals.product(evaluator, squared_hidden, self.last, self.inner_products)
        return {
            "convolution": maps,
            "first square": squared_maps,
            "dense": hidden,
            "second square": squared_hidden,
            "last": sums.turned_sum(evaluator, rescaled(last), packing.LAST_SUMS),
        }


class ByTaps(Exact[held.Image], OneImage):
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
        return KeyRequest.of(relinearization=True, rotations=rotations)

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The image's pixels as each tap meets them."""
        return numbers(self._packing().image(given.pixels, parameters.slots), SCALES.pixels, parameters)

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
        return self.logits(self._packing().logits(outputs[0]), parameters)

    def _weights(self, evaluator: Evaluator, state: Sequence[Handle]) -> _Layers[Any]:
        """The weights as the server has them."""
        return self._layers(evaluator.parameters)

    def _of_images(self, inputs: Sequence[Handle]) -> list[Sequence[Handle]]:
        each = self._packing().ciphertexts
        return [inputs[start : start + each] for start in range(0, len(inputs), each)]

    def _layers(self, parameters: Parameters) -> _Layers[Vector]:
        network, layout, slots = self.halved_network(), self._packing(), parameters.slots
        dense = numbers(layout.dense(network, slots), SCALES.dense, parameters)
        last = numbers(layout.last(network, slots), SCALES.last, parameters)
        return _Layers(
            numbers(layout.taps(network, slots), SCALES.convolution, parameters),
            diagonals.columns(dense, _BABIES),
            diagonals.columns(last, _LAST_BABIES),
            diagonals.with_vectors,
        )

    def _packing(self) -> Packing:
        return Packing(self.network().shape)


class EncryptedByTaps(ByTaps):
    """The weights are the key owner's secret, too: the server is sent them encrypted, in a stage of their own."""

    stages = (Stage("load", "state"), Stage("infer"))
    # Products of ciphertexts take 22 bits of noise budget more than those with plaintexts; N = 8192 has 13 to spare. Of
    # four primes of 50 bits 6 would be left here; of these 18 are, 14 of what is encrypted with the public key.
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
        taps, dense = self._packing().ciphertexts, packing.DIAGONALS // packing.QUARTERS
        layers = [0] * taps + [1] * dense + [2] * packing.LAST_DIAGONALS
        # A layer and a square before it: whole numbers go down with squares alone.
        levels = 1 if evaluator.parameters.scale is None else 2
        return [
            reduce(lambda a, _: next_lower(evaluator, a), range(levels * layer), item)
            for item, layer in zip(inputs, layers, strict=False)
        ]

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
