"""Thousands of encrypted images at once, by weights that are encrypted, too: each in all slots of a ciphertext."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from ciphermark_circuits import diagonals
from ciphermark_contract.interfaces import Evaluator, Handle, Vector, lowered
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference.cryptonets import Affine, CryptoNets, Weights
from ciphermark_workloads.inference.network import Layer
from ciphermark_workloads.workload import Arrays, Stage

_FALLS = (0, 2, 4)  # levels that a layer is below the top: a rescaling each for it and the square before it


class EncryptedCryptoNets(CryptoNets):
    """For small networks: a ciphertext for each weight goes up once, in a stage of its own."""

    schemes: tuple[Scheme, ...] = ("ckks",)
    stages = (Stage("load", "state"), Stage("infer"))

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul", "mul_plain", "square")

    def server_bytes(self, parameters: Parameters) -> int:
        """Weights as they are sent, half as large with seeds, and at each level that they pass on their way down:
        libraries keep memory that they had once.
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
        top, rows = evaluator.level(inputs[0]), zip(self._layers(), _FALLS, strict=True)
        falls = (fall for layer, fall in rows for _ in range(_size(layer)))
        return [lowered(evaluator, item, top - fall) for item, fall in zip(inputs, falls, strict=False)]

    def _weights(self, evaluator: Evaluator, state: Sequence[Handle]) -> Weights:
        """What the stage before returned."""
        handles = iter(state)
        return Weights(*(_encrypted(handles, layer) for layer in self._layers()))

    def _layers(self) -> tuple[Layer, Layer, Layer]:
        network = self.halved_network()
        return network.convolution, network.dense, network.last


def _size(layer: Layer) -> int:
    return layer.weights.size + layer.bias.size


def _encrypted(handles: Iterator[Handle], layer: Layer) -> Affine[Handle, Handle]:
    """Biases stay a level above sums that are rescaled: what brings both to one scale takes it."""
    outputs, inputs = layer.weights.shape
    weights = [[*islice(handles, inputs)] for _ in range(outputs)]
    return Affine(weights, [*islice(handles, outputs)], diagonals.with_ciphertexts, "add")


WORKLOADS = (
    EncryptedCryptoNets(
        "cryptonets-digits-encrypted",
        "digits",
        "classes of thousands of encrypted handwritten digits of 8 × 8 pixels at once, weights encrypted, too",
    ),
)
