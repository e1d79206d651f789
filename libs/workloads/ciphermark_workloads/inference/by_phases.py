"""Classes of encrypted images with one ciphertext up: its four phases, each in a quarter of the slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ciphermark_circuits import diagonals, rotations, sums
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.inference import exact, phases
from ciphermark_workloads.inference import given as held
from ciphermark_workloads.inference.exact import SCALES, Exact
from ciphermark_workloads.inference.network import Network, Shape
from ciphermark_workloads.inference.on_images import OneImage
from ciphermark_workloads.inference.phases import Phases
from ciphermark_workloads.inference.whole_numbers import numbers
from ciphermark_workloads.workload import Arrays

_BABIES, _LAST_BABIES = 8, 4


@dataclass(frozen=True, slots=True)
class _Weights:
    """What is multiplied and added: see :class:`.phases.Phases`."""

    taps: Sequence[Vector]
    dense: Sequence[Sequence[Vector]]
    last: Sequence[Sequence[Vector]]
    convolution_bias: Vector
    dense_bias: Vector
    last_bias: Vector

    @classmethod
    def of(cls, network: Network, layout: Phases, parameters: Parameters) -> _Weights:
        """Of a network, as the scheme takes them."""
        slots, (first, second, third) = parameters.slots, SCALES.inputs
        dense = numbers(layout.dense(network, slots), SCALES.dense, parameters)
        last = numbers(layout.last(network, slots), SCALES.last, parameters)
        biases = (
            (layout.convolution_bias(network, slots), SCALES.convolution, first),
            (layout.dense_bias(network, slots), SCALES.dense, second),
            (layout.last_bias(network, slots), SCALES.last, third),
        )
        return cls(
            numbers(layout.taps(network, slots), SCALES.convolution, parameters),
            diagonals.columns(dense, _BABIES),
            diagonals.columns(last, _LAST_BABIES),
            *(numbers([bias], scale, parameters, of_input)[0] for bias, scale, of_input in biases),
        )


class ByPhases(Exact[held.Image], OneImage):
    """For the smallest upload: a convolution at every second pixel, and up to 100 hidden neurons."""

    def require_shape(self, shape: Shape) -> None:
        Phases(shape)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "mul_plain", "square", "rotate")

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Those of shifts, sums and diagonals, whatever the image."""
        layers = (
            self._layout().shifts,
            phases.QUARTER_SUMS,
            diagonals.steps(phases.DIAGONALS, _BABIES),
            phases.DENSE_SUMS,
            diagonals.steps(phases.LAST_DIAGONALS, _LAST_BABIES),
            phases.LAST_TURNS,
        )
        steps = sorted({step for layer in layers for step in layer if step})
        return KeyRequest.of(relinearization=True, rotations=steps)

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The image's four phases."""
        return numbers([self._layout().image(given.pixels, parameters.slots)], SCALES.pixels, parameters)

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
        layout = self._layout()
        weights = _Weights.of(self.halved_network(), layout, evaluator.parameters)
        found = [_layers(evaluator, image, layout, weights) for image in inputs]
        return {name: [image[name] for image in found] for name in found[0]}

    def output(self, outputs: Sequence[Vector], given: held.Image, parameters: Parameters) -> Floats:
        return self.logits(self._layout().logits(outputs[0]), parameters)

    def _layout(self) -> Phases:
        return Phases(self.network().shape)


def _layers(evaluator: Evaluator, image: Handle, layout: Phases, weights: _Weights) -> dict[str, Handle]:
    """What each layer makes of one image, the last its logits: five levels, in ckks a rescaling each."""
    rescaled, squared = partial(exact.rescaled, evaluator), partial(exact.squared, evaluator)
    add_plain = evaluator.managed().function("add_plain")
    turned = rotations.all_of(evaluator, image, layout.shifts)
    (taps,) = diagonals.with_vectors(evaluator, turned, [weights.taps])
    convolved = sums.turned_sum(evaluator, rescaled(taps), phases.QUARTER_SUMS)
    maps = add_plain(convolved, weights.convolution_bias)
    squared_maps = squared(maps)
    dense = diagonals.product(evaluator, squared_maps, weights.dense, diagonals.with_vectors)
    summed = sums.turned_sum(evaluator, rescaled(dense), phases.DENSE_SUMS)
    hidden = add_plain(summed, weights.dense_bias)
    squared_hidden = squared(hidden)
    last = diagonals.product(evaluator, squared_hidden, weights.last, diagonals.with_vectors)
    quarters = sums.turned_sum(evaluator, rescaled(last), phases.QUARTER_SUMS)
    three = [quarters, *rotations.all_of(evaluator, quarters, phases.LAST_TURNS)]
    return {
        "convolution": maps,
        "first square": squared_maps,
        "dense": hidden,
        "second square": squared_hidden,
        "last": add_plain(sums.total(evaluator, three), weights.last_bias),
    }


WORKLOADS = (
    ByPhases(
        "lola-mnist-one",
        "lola-mnist",
        "class of an encrypted handwritten digit of 28 × 28 pixels (LoLa's network), one ciphertext up",
    ),
    ByPhases(
        "digits-one",
        "digits",
        "class of an encrypted handwritten digit of 8 × 8 pixels, one ciphertext up",
    ),
)
