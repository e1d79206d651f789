"""What networks on encrypted images have in common, however images are packed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import given as held
from ciphermark_workloads.inference.network import Network, Shape
from ciphermark_workloads.inference.networks import from_onnx, own
from ciphermark_workloads.inference.quality import judged
from ciphermark_workloads.workload import Judgement, Stage, Truth, Workload

Given = TypeVar("Given", bound=held.Image | held.Images)
_DEPTH = 5  # convolution, square, dense layer, square, last layer


class OnImages(Workload[Given, Floats]):
    """The input is one image or several, the output their logits. ``shipped`` is the network, where options name
    none.
    """

    family = "inference"
    Options = held.Options
    schemes: tuple[Scheme, ...] = ("ckks",)
    stages: tuple[Stage, ...] = (Stage("infer"),)
    tolerance = 0.002

    def __init__(self, name: str, shipped: str, title: str) -> None:
        self.name, self.title = name, title
        self._shipped = shipped

    @abstractmethod
    def require_shape(self, shape: Shape) -> None:
        """Raise ``Unsupported`` for networks that the packing does not hold, with the bound."""

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
            self.require_shape(held.network(self._shipped, options).shape)
        except Unsupported as error:
            raise UserError(f"{options.network}: {error}") from None
        if option == "images" or not options.images:  # else they are read next
            held.images(self._shipped, options)
        return settled

    @property
    def is_seeded(self) -> bool:
        return True

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 8192 and 208 bits: 128-bit secure by both tables. Beside a scale of 2^28 the first prime leaves room for
        logits of up to 32.
        """
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 8192, (34, *[28] * _DEPTH, 34), scale_bits=28)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def require_room(self, given: Given, parameters: Parameters) -> None:
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

    def tolerance_of(self, parameters: Parameters) -> float:
        """Whole numbers are right or wrong."""
        return self.tolerance if parameters.plain_modulus is None else 0.0

    def network(self) -> Network:
        """The one that is computed, in the clear."""
        return held.network(self._shipped, self.options)

    def halved_network(self) -> Network:
        """The one that ciphertexts go through: its logits are halved as often as the options say."""
        return held.halved(self.network(), self.options.halvings)

    def images(self) -> held.Images:
        """Those that inputs are taken from."""
        return held.images(self._shipped, self.options)


class OneImage(OnImages[held.Image]):
    """The input is one of the images, the output its logits (classes,)."""

    def input(self, seed: int, data: Any) -> held.Image:
        """One image of all, alike likely."""
        images = self.images()
        return images.image(int(np.random.default_rng(seed).integers(len(images))))

    def given_input(self, values: Sequence[float]) -> held.Image:
        """An image of somebody's, whose class nobody knows."""
        return held.image(values, self.network().shape.side)

    def reference(self, given: held.Image) -> Floats:
        logits: Floats = self.network().logits(given.pixels[None])[0]
        return logits

    def judge(self, found: Floats, truth: Truth[held.Image, Floats]) -> Judgement:
        label = truth.input.label
        labels = None if label is None else np.array([label])
        tolerance = self.tolerance_of(truth.parameters)
        return judged(found[None], truth.expected[None], truth.reference[None], labels, tolerance)
