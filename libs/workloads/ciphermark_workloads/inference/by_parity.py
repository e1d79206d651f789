"""Classes of encrypted colour images by a network of two convolutions: LoLa-CIFAR's, its maps split by parity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import parity_layers, two_convolutions
from ciphermark_workloads.inference.given import Image
from ciphermark_workloads.inference.parities import Parities
from ciphermark_workloads.inference.parity_layers import Weights
from ciphermark_workloads.inference.quality import judged
from ciphermark_workloads.inference.two_convolutions import LOLA_CIFAR, Network, Shape
from ciphermark_workloads.workload import Arrays, Judgement, Stage, Truth, Workload

_DEPTH = 5  # convolution, square, convolution, square, dense layer
# What a plan traces in the place of a large network: as deep, of the same operations.
_SMALL = Parities(
    Shape(channels=1, side=12, kernel=4, padding=1, maps=11, reach=1, features=28, classes=10), 512
)


class Options(msgspec.Struct, frozen=True):
    """Of networks with random weights."""

    weights_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="what the network's random weights are made of")
    ] = 1


class ByParity(Workload[Image, Floats]):
    """The input is a random image, the output its logits. Nothing is trained, and no image has a class: what is judged
    is the agreement with the network in the clear.
    """

    family = "inference"
    Options = Options
    schemes: tuple[Scheme, ...] = ("ckks",)
    stages: tuple[Stage, ...] = (Stage("infer"),)
    tolerance = 0.002
    pass_s = 0.5

    def __init__(self, name: str, title: str, layout: Parities) -> None:
        self.name, self.title, self.layout = name, title, layout

    @property
    def is_seeded(self) -> bool:
        return True

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "add_plain", "mul_plain", "square", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 16384 and 300 bits: 128-bit secure by both tables. Beside a scale of 2^40 the first prime leaves room for
        logits of up to 512.
        """
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 50), scale_bits=40)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Whatever the image and the weights: a client that asks makes nothing of the network."""
        return parity_layers.keys(self.layout)

    def server_bytes(self, parameters: Parameters) -> int:
        """Weights as vectors, and as plaintexts of the level at which they are multiplied."""
        word, top = 8, len(parameters.moduli)
        plaintexts = self.layout.products
        primes = sum(count * (top - 2 * place) for place, count in enumerate(plaintexts))
        return word * (sum(plaintexts) * parameters.slots + primes * parameters.ring_dimension)

    def outline(self, parameters: Parameters) -> Workload[Image, Floats]:
        """A network of few and small maps."""
        return ByParity(self.name, self.title, _SMALL)

    def input(self, seed: int, data: Any) -> Image:
        """Numbers from 0 to 1, independent of each other."""
        shape = self.layout.shape
        return Image(np.random.default_rng(seed).uniform(size=(shape.channels, shape.side, shape.side)), None)

    def given_input(self, values: Sequence[float]) -> Image:
        """Channel by channel, each row by row; raises ``UserError`` for another size and for other numbers."""
        shape, pixels = self.layout.shape, np.asarray(values, dtype=np.float64)
        if pixels.size != shape.channels * shape.side**2:
            raise UserError(
                f"the network takes {shape.channels} × {shape.side} × {shape.side} numbers, and not {pixels.size}"
            )
        if not np.all((pixels >= 0) & (pixels <= 1)):
            raise UserError("pixels are numbers from 0 to 1")
        return Image(pixels.reshape(shape.channels, shape.side, shape.side), None)

    def require_room(self, given: Image, parameters: Parameters) -> None:
        """Raise ``Unsupported`` where a logit is beyond what the first prime holds beside the scale."""
        room = parameters.moduli[0] / 2 / (parameters.scale or 1.0)
        largest = float(np.abs(self.reference(given)).max())
        if largest >= room:
            raise Unsupported(
                f"a logit of {largest:.3g} is beyond ±{room:.3g}, which is what a first prime of "
                f"{parameters.moduli[0].bit_length()} bits holds beside the scale: take a longer one"
            )

    def vectors(self, stage: str, given: Image, parameters: Parameters) -> list[Vector]:
        """The image's pixels as each tap meets them."""
        return self.layout.image(given.pixels, parameters.slots)

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """One ciphertext, the logits in some of its slots."""
        return [*self.layers(stage, evaluator, inputs, state, public).values()][-1]

    def layers(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> Mapping[str, list[Handle]]:
        """The weights are made and laid out here, their plaintexts are the constants of the program."""
        weights = Weights.of(self._network(), self.layout, evaluator.parameters.slots)
        return parity_layers.each(evaluator, inputs, self.layout, weights)

    def output(self, outputs: Sequence[Vector], given: Image, parameters: Parameters) -> Floats:
        return self.layout.logits(outputs[0])

    def reference(self, given: Image) -> Floats:
        return self._network().logits(given.pixels)

    def judge(self, found: Floats, truth: Truth[Image, Floats]) -> Judgement:
        return judged(found[None], truth.expected[None], truth.reference[None], None, self.tolerance)

    def _network(self) -> Network:
        return _drawn(self.layout.shape, self.options.weights_seed)


_drawn = lru_cache(maxsize=2)(two_convolutions.drawn)
WORKLOADS = (
    ByParity(
        "lola-cifar",
        "logits of an encrypted colour image of 32 × 32 pixels (LoLa's network, random weights)",
        Parities(LOLA_CIFAR, 8192),
    ),
)
