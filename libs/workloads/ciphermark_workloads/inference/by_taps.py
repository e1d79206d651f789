"""Classes of encrypted images with seven ciphertexts up and weights that the server knows in the clear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ciphermark_circuits import diagonals, sums
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import packing
from ciphermark_workloads.inference.network import Network
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.inference.networks.stored import Stored
from ciphermark_workloads.inference.packing import Packing
from ciphermark_workloads.inference.quality import judged
from ciphermark_workloads.workload import Arrays, Judgement, Stage, Truth, Workload

_BABIES, _LAST_BABIES = 8, 4
_DEPTH = 5  # convolution, square, dense layer, square, last layer


class ByTaps(Workload[int, Floats]):
    """The input is the number of one of the images that are shipped with the network, the output its logits."""

    family = "inference"
    schemes: tuple[Scheme, ...] = ("ckks",)
    stages = (Stage("infer"),)
    tolerance = 0.002

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    @property
    def is_seeded(self) -> bool:
        return True

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "mul_plain", "square", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 8192 and 208 bits: 128-bit secure by both tables. Beside a scale of 2^28 the first prime leaves room for
        logits of up to 32.
        """
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 8192, (34, *[28] * _DEPTH, 34), scale_bits=28)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def input(self, seed: int, data: Any) -> int:
        """One image of all, alike likely."""
        return int(np.random.default_rng(seed).integers(len(self._stored().labels)))

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """The image's pixels as each tap meets them."""
        return self._packing().image(self._stored().images[given], parameters.slots)

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """One ciphertext for each image, its logits in some of the slots."""
        each = self._packing().ciphertexts
        return [
            self._inferred(evaluator, inputs[start : start + each]) for start in range(0, len(inputs), each)
        ]

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Floats:
        return self._packing().logits(outputs[0])

    def reference(self, given: int) -> Floats:
        logits: Floats = self._network().logits(self._stored().images[given][None])[0]
        return logits

    def judge(self, found: Floats, truth: Truth[int, Floats]) -> Judgement:
        label = int(self._stored().labels[truth.input])
        return judged(found, truth.expected, label, self.tolerance)

    def _inferred(self, evaluator: Evaluator, image: Sequence[Handle]) -> Handle:
        network, slots, layout = self._network(), evaluator.parameters.slots, self._packing()
        taps = Factors.of(evaluator, image).inner_product(layout.taps(network, slots))
        maps = sums.turned_sum(evaluator, evaluator.apply("rescale", taps), packing.MAP_SUMS)
        square = evaluator.managed().function("square")
        features = square(_shifted(evaluator, maps, layout.map_bias(network, slots)))
        dense = diagonals.product(evaluator, features, layout.dense(network, slots), _BABIES)
        hidden = sums.turned_sum(evaluator, evaluator.apply("rescale", dense), packing.DENSE_SUMS)
        neurons = square(_shifted(evaluator, hidden, layout.dense_bias(network, slots)))
        last = diagonals.product(evaluator, neurons, layout.last(network, slots), _LAST_BABIES)
        logits = sums.turned_sum(evaluator, evaluator.apply("rescale", last), packing.LAST_SUMS)
        return _shifted(evaluator, logits, layout.last_bias(network, slots))

    def _stored(self) -> Stored:
        return stored.shipped(self.name)

    def _network(self) -> Network:
        return self._stored().network

    def _packing(self) -> Packing:
        return Packing(self._network().shape)


def _shifted(evaluator: Evaluator, a: Handle, bias: Vector) -> Handle:
    """a + bias, encoded at the exact scale of a."""
    return evaluator.apply("add_plain", a, evaluator.encode(bias, like=a, scale=evaluator.scale(a)))


WORKLOADS = (
    ByTaps("lola-mnist", "class of an encrypted handwritten digit of 28 × 28 pixels (LoLa's network)"),
    ByTaps("digits", "class of an encrypted handwritten digit of 8 × 8 pixels"),
)
