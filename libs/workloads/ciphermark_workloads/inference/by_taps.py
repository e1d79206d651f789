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
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_contract.managed import lowered, next_lower
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import given as held
from ciphermark_workloads.inference import packing, whole_numbers
from ciphermark_workloads.inference.network import Shape
from ciphermark_workloads.inference.on_images import OneImage
from ciphermark_workloads.inference.packing import Packing
from ciphermark_workloads.workload import Arrays, Stage

_BABIES, _LAST_BABIES = 8, 4
# Of the 200 images that are shipped with LoLa's network each has the class that it has in floating point, and no logit
# is beyond 48.5 bits, its sign included.
SCALES = whole_numbers.Scales(pixels=3, convolution=3, dense=6, last=9)
# Of t at N = 8192 the three primes after the least that give slots, 51.3 bits: the next has 19 bits, for which five
# levels leave too little room. At N = 16384 they are others.
BFV = ParameterSpec("bfv", 8192, (42, 43, 43, 43, 43), plain_modulus=114689 * 147457 * 163841)
_ROOMY_BFV = ParameterSpec("bfv", 16384, (56, 56, 56, 56, 60), plain_modulus=65537 * 163841 * 557057)


@dataclass(frozen=True, slots=True)
class _Layers(Generic[Operand]):
    """The weights of the three layers, and how ciphertexts are multiplied with them."""

    taps: Sequence[Operand]
    dense: Sequence[Sequence[Operand]]
    last: Sequence[Sequence[Operand]]
    inner_products: InnerProducts[Operand]

    def each(self, evaluator: Evaluator, image: Sequence[Handle]) -> dict[str, Handle]:
        """What each layer makes of one image, the last its logits: five levels, in ckks a rescaling each."""
        rescaled, squared = partial(_rescaled, evaluator), partial(_squared, evaluator)
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


def _rescaled(evaluator: Evaluator, a: Handle) -> Handle:
    """Whole numbers have no scale."""
    return a if evaluator.parameters.scale is None else evaluator.apply("rescale", a)


def _squared(evaluator: Evaluator, a: Handle) -> Handle:
    """In bfv at the next modulus, which holds what noise has left, too: key switches take less time there."""
    square = evaluator.managed().apply("square", a)
    return next_lower(evaluator, square) if evaluator.parameters.scale is None else square


class ByTaps(OneImage):
    """The input is one of the images, the output its logits (classes,). In bfv these are whole numbers, computed
    exactly modulo a product of primes, residue by residue.
    """

    schemes: tuple[Scheme, ...] = ("ckks", "bfv")

    def require_shape(self, shape: Shape) -> None:
        Packing(shape)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "square", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """In bfv 214 bits at the same N, and t of 51; in both schemes 128-bit secure by both tables."""
        real = super().parameters(scheme)
        return real if real.scheme == scheme else BFV

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        real = super().roomy_parameters(scheme)
        return real if real.scheme == scheme else _ROOMY_BFV

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

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The image's pixels as each tap meets them."""
        return _numbers(self._packing().image(given.pixels, parameters.slots), SCALES.pixels, parameters)

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
        found, modulus = self._packing().logits(outputs[0]), parameters.plain_modulus
        if modulus is not None:
            found = np.ldexp(whole_numbers.centred(found, modulus), -SCALES.logits)
        logits: Floats = np.ldexp(found, self.options.halvings)
        return logits

    def expected(self, given: held.Image, parameters: Parameters) -> Floats:
        """In bfv what whole numbers come to."""
        if parameters.plain_modulus is None:
            return self.reference(given)
        logits: Floats = np.ldexp(self._whole_logits(given), self.options.halvings - SCALES.logits)
        return logits

    def require_room(self, given: held.Image, parameters: Parameters) -> None:
        """In bfv, raise ``Unsupported`` where a logit is beyond t/2, which would be another one."""
        modulus = parameters.plain_modulus
        if modulus is None:
            super().require_room(given, parameters)
            return
        largest = int(np.abs(self._whole_logits(given)).max())
        if 2 * largest >= modulus:
            missing = (2 * largest).bit_length() - modulus.bit_length() + 1
            raise Unsupported(
                f"a logit of {largest.bit_length()} bits and a sign is beyond t, which has {modulus.bit_length()}: "
                f"take a larger one, or halve the last layer {self.options.halvings + missing} times (halvings)"
            )

    def _whole_logits(self, given: held.Image) -> whole_numbers.Integers:
        logits: whole_numbers.Integers = SCALES.of_logits(self.halved_network(), given.pixels[None])[0]
        return logits

    def _weights(self, evaluator: Evaluator, state: Sequence[Handle]) -> _Layers[Any]:
        """The weights as the server has them."""
        return self._layers(evaluator.parameters)

    def _of_images(self, inputs: Sequence[Handle]) -> list[Sequence[Handle]]:
        each = self._packing().ciphertexts
        return [inputs[start : start + each] for start in range(0, len(inputs), each)]

    def _layers(self, parameters: Parameters) -> _Layers[Vector]:
        network, layout, slots = self.halved_network(), self._packing(), parameters.slots
        dense = _numbers(layout.dense(network, slots), SCALES.dense, parameters)
        last = _numbers(layout.last(network, slots), SCALES.last, parameters)
        return _Layers(
            _numbers(layout.taps(network, slots), SCALES.convolution, parameters),
            diagonals.columns(dense, _BABIES),
            diagonals.columns(last, _LAST_BABIES),
            diagonals.with_vectors,
        )

    def _packing(self) -> Packing:
        return Packing(self.network().shape)


class EncryptedByTaps(ByTaps):
    """The weights are the key owner's secret, too: the server is sent them encrypted, in a stage of their own."""

    schemes = ("ckks",)
    stages = (Stage("load", "state"), Stage("infer"))

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


def _numbers(vectors: Sequence[Vector], scale: int, parameters: Parameters) -> list[Vector]:
    """As the scheme takes them: reals, or whole numbers at a scale."""
    modulus = parameters.plain_modulus
    return (
        [*vectors] if modulus is None else [whole_numbers.encoded(item, scale, modulus) for item in vectors]
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
