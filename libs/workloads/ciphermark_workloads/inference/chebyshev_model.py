"""CryptOracle's CIFAR-10 model: the logits are sums of polynomials of single pixels, without hidden neurons.

See :mod:`ciphermark_circuits.pixel_polynomials`. Its weights here are fitted to MNIST, whose digits are padded to color
images of 32 × 32 pixels: see :mod:`.networks.train_chebyshev`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ciphermark_circuits import pixel_polynomials
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.pixel_polynomials import CLASSES, DEPTH, MIN_SLOTS, PIXELS, REACH, Model
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.inference.on_images import judged
from ciphermark_workloads.workload import Arrays, Handles, Judgement, Stage, Truth, Workload

_CHANNELS, _SIDE = 3, 32
_MIN_MARGIN = 0.01  # of 200 images, 197 have more
STORED = Path(stored.__file__).with_name("chebyshev.npz")


@cache
def shipped() -> Model:
    """The packaged model."""
    with np.load(STORED, allow_pickle=False) as archive:
        weights = np.ldexp(archive["weights"].astype(np.float64), -archive["exponents"][:, None, None])
        return Model(weights, archive["bias"])


@cache
def images() -> held.Images:
    """The images of digits that are shipped for LoLa's network, none of which the weights are fitted to, without those
    whose two largest logits are closer than ``_MIN_MARGIN``: noise could change their class.
    """
    digits = stored.shipped("lola-mnist")
    every = held.Images(padded(digits.images), digits.labels)
    second, first = np.sort(shipped().logits(2 * every.pixels - 1), axis=1)[:, -2:].T
    return every.chosen(np.flatnonzero(first - second >= _MIN_MARGIN))


def padded(digits: Floats) -> Floats:
    """Images (count, 28, 28) as color images (count, 3, 32, 32)."""
    margin = (_SIDE - digits.shape[-1]) // 2
    gray = np.pad(digits, ((0, 0), (margin, margin), (margin, margin)))
    return np.repeat(gray[:, None], _CHANNELS, axis=1)


class _Model(Workload[held.Image, Floats]):
    """The input is one of the images, the output its logits (classes,)."""

    schemes: tuple[Scheme, ...] = ("ckks",)
    stages: tuple[Stage, ...] = (Stage("infer"),)
    relative_tolerance: float = 0.002

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square", "rotate")

    def input(self, seed: int, data: Any) -> held.Image:
        """One of the images, uniformly at random."""
        every = images()
        return every.image(int(np.random.default_rng(seed).integers(len(every))))

    def given_input(self, values: Sequence[float]) -> held.Image:
        """A given image of unknown class."""
        return held.image(values, _CHANNELS, _SIDE, _SIDE)

    def vectors(self, stage: str, given: held.Image, parameters: Parameters) -> list[Vector]:
        """The pixels, channel by channel."""
        if parameters.slots < MIN_SLOTS:
            raise Unsupported(f"an image takes {MIN_SLOTS} slots, and a ciphertext has {parameters.slots}")
        return [self.sent(given.pixels.ravel())]

    @abstractmethod
    def sent(self, pixels: Floats) -> Floats:
        """The encrypted values of pixels from 0 to 1."""

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """One ciphertext of logits."""
        return [self.evaluated(evaluator, inputs[0], shipped())]

    @abstractmethod
    def evaluated(self, evaluator: Evaluator, pixels: Handle, model: Model) -> Handle:
        """The circuit on an image."""

    def output(self, outputs: Sequence[Vector], given: held.Image, parameters: Parameters) -> Floats:
        return outputs[0][:CLASSES]

    def reference(self, given: held.Image) -> Floats:
        logits: Floats = shipped().logits(2 * given.pixels.reshape(1, PIXELS) - 1)[0]
        return logits

    def judge(self, found: Floats, truth: Truth[held.Image, Floats]) -> Judgement:
        label = truth.input.label
        labels = None if label is None else np.array([label])
        return judged(
            found[None], truth.expected[None], truth.reference[None], labels, self.relative_tolerance
        )


class ChebyshevModel(_Model):
    """The client normalizes pixels; products of all degrees are added before they are rotated."""

    name = "cifar-chebyshev"
    title = "class of an encrypted color image by Chebyshev polynomials of its pixels"

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 8192 and 214 bits, all that is 128-bit secure by both tables: logits are below 16."""
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 8192, (38, *[33] * DEPTH, 44), scale_bits=33)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """For slightly larger primes, and a special prime of 60 bits."""
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * DEPTH, 60), scale_bits=40)

    def sent(self, pixels: Floats) -> Floats:
        return 2 * pixels - 1

    def evaluated(self, evaluator: Evaluator, pixels: Handle, model: Model) -> Handle:
        return pixel_polynomials.logits(evaluator, pixels, model)


class PublishedChebyshevModel(_Model):
    """The operations of CryptOracle's program in its modulus chain, in the smallest ring that is 128-bit secure."""

    name = "cifar-chebyshev-published"
    title = (
        "class of an encrypted color image by Chebyshev polynomials, by the published program's operations"
    )
    relative_tolerance = 0.01  # at a scale of 2^25 errors reach 0.002
    is_literal = True

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """A first prime of 30 bits and five of 25."""
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 8192, (30, *[25] * (DEPTH + 1), 30), scale_bits=25)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """With a special prime of 60 bits, these have one bit too many for N = 8192 by the guidelines of 2024."""
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (30, *[25] * (DEPTH + 1), 60), scale_bits=25)

    def sent(self, pixels: Floats) -> Floats:
        return 2 * REACH * pixels

    def evaluated(self, evaluator: Evaluator, pixels: Handle, model: Model) -> Handle:
        return pixel_polynomials.as_published(evaluator, pixels, model)


WORKLOADS = (ChebyshevModel(), PublishedChebyshevModel())
