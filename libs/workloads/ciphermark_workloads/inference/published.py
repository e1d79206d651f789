"""LoLa-MNIST as published: 25 ciphertexts sent, some 280 rotations, ten ciphertexts returned.

Brutzkus et al., "Low latency privacy preserving inference", ICML 2019, by the operations of the authors' published
code, which runs for each of four plaintext moduli in bfv; here once, in ckks. It serves to compare the cost of
circuits: :mod:`.by_taps` is another circuit for the same network, with a tenth of the rotations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.layout import Floats, powers
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference.network import Network, Shape, patches
from ciphermark_workloads.inference.on_images import OneImage, by_layer
from ciphermark_workloads.workload import Arrays, Handles

_BLOCK = 1024  # slots of a copy of the neurons of maps
_COPIES = 8
_LENGTH = _COPIES * _BLOCK
_DEPTH = 6  # masks between the dense layer and its square take a level, too


class AsPublished(OneImage):
    """Executes every operation of the authors' code: single copies, sums over all slots."""

    is_literal = True

    def require_shape(self, shape: Shape) -> None:
        """Raise ``Unsupported`` for more neurons of maps than a block has slots, and for more outputs than rows."""
        for what, count in (("neurons of maps", shape.features), ("hidden neurons", shape.hidden)):
            if count > _BLOCK:
                raise Unsupported(f"the network has {count} {what}, and this packing has slots for {_BLOCK}")

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "mul_plain", "square", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 16384, for eight copies side by side, and 340 bits: 128-bit secure by both tables."""
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 50), scale_bits=40)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Keys for the exact steps: each rotation is one key switch."""
        shape = self.network().shape
        steps = {
            *(-shape.positions * number for number in range(1, shape.maps)),
            *(-_BLOCK * number for number in range(1, _COPIES)),
            *powers(1, _LENGTH),
            *(-row for row in range(1, _rows(shape))),
        }
        return KeyRequest.of(relinearization=True, rotations=steps)

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The pixels that each tap meets, position by position."""
        if parameters.slots != _LENGTH:
            raise Unsupported(
                f"the published packing takes {_LENGTH} slots, and a ciphertext has {parameters.slots}"
            )
        return [*patches(given.pixels[None], self.network().shape)[0]]

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """One ciphertext per image in each layer but the last."""
        network = self.halved_network()
        taps = network.shape.taps
        starts = range(0, len(inputs), taps)
        return by_layer(_layers(evaluator, network, inputs[start : start + taps]) for start in starts)

    def output(self, outputs: Sequence[Vector], given: held.Image, parameters: Parameters) -> Floats:
        logits: Floats = np.ldexp(np.array([item[_LENGTH // 2] for item in outputs]), self.options.halvings)
        return logits


def _rows(shape: Shape) -> int:
    """Products of the dense layer: each computes as many neurons as there are copies."""
    return -(-shape.hidden // _COPIES)


def _layers(evaluator: Evaluator, network: Network, taps: Handles) -> dict[str, list[Handle]]:
    square = evaluator.managed().function("square")
    maps = _maps(evaluator, network, taps)
    squared_maps = square(maps)
    hidden = _dense(evaluator, network, squared_maps)
    squared_hidden = square(hidden)
    return {
        "convolution": [maps],
        "first square": [squared_maps],
        "dense": [hidden],
        "second square": [squared_hidden],
        "last": [*_last(evaluator, network, squared_hidden)],
    }


def _maps(evaluator: Evaluator, network: Network, taps: Handles) -> Handle:
    """Each map is a sum of the taps' ciphertexts by its weights; maps are joined, one after the other."""
    shape, layer = network.shape, network.convolution
    add_plain = evaluator.managed().function("add_plain")
    weighted = sums.weighted(evaluator, taps, layer.weights.tolist())
    biases = (np.where(np.arange(_LENGTH) < shape.positions, bias, 0.0) for bias in layer.bias)
    maps = [
        add_plain(evaluator.apply("rescale", item), bias) for item, bias in zip(weighted, biases, strict=True)
    ]
    turned = (
        evaluator.apply("rotate", item, -shape.positions * number) if number else item
        for number, item in enumerate(maps)
    )
    return sums.total(evaluator, turned)


def _dense(evaluator: Evaluator, network: Network, maps: Handle) -> Handle:
    """Eight neurons per product; their results are masked and joined: neuron 8r + c in slot r of block c."""
    mul_plain = evaluator.managed().function("mul_plain")
    copies = (
        evaluator.apply("rotate", maps, -_BLOCK * number) if number else maps for number in range(_COPIES)
    )
    stacked = sums.total(evaluator, copies)
    rows = []
    for row in range(_rows(network.shape)):
        product = mul_plain(stacked, _row_weights(network, row))
        masked = mul_plain(sums.turned_sum(evaluator, product, powers(1, _BLOCK)), _mask())
        rows.append(evaluator.apply("rotate", masked, -row) if row else masked)
    places = _places(network.shape)
    bias = np.zeros(_LENGTH)
    bias[places] = network.dense.bias
    return evaluator.managed().apply("add_plain", sums.total(evaluator, rows), bias)


def _last(evaluator: Evaluator, network: Network, hidden: Handle) -> Iterator[Handle]:
    """Each logit is a sum over all slots."""
    mul_plain, add_plain = (evaluator.managed().function(name) for name in ("mul_plain", "add_plain"))
    places = _places(network.shape)
    for weights, bias in zip(network.last.weights, network.last.bias, strict=True):
        vector = np.zeros(_LENGTH)
        vector[places] = weights
        total = sums.turned_sum(evaluator, mul_plain(hidden, vector), powers(1, _LENGTH))
        yield add_plain(total, np.full(_LENGTH, bias))


def _row_weights(network: Network, row: int) -> Vector:
    """The weights of eight neurons, each in its block."""
    weights = np.zeros((_COPIES, _BLOCK))
    some = network.dense.weights[row * _COPIES : (row + 1) * _COPIES]
    weights[: some.shape[0], : some.shape[1]] = some
    return weights.ravel()


def _mask() -> Vector:
    """1 in the first slot of every block."""
    return np.where(np.arange(_LENGTH) % _BLOCK == 0, 1.0, 0.0)


def _places(shape: Shape) -> list[int]:
    """The slot of each hidden neuron."""
    return [neuron % _COPIES * _BLOCK + neuron // _COPIES for neuron in range(shape.hidden)]


WORKLOADS = (
    AsPublished(
        "lola-mnist-published",
        "lola-mnist",
        "class of an encrypted handwritten digit by the operations of LoLa's published code, in ckks",
    ),
)
