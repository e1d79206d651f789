"""The common part of networks on encrypted images, independent of their packing, and whole-number networks for schemes
that compute exactly modulo t.

Pixels and the weights of each layer are multiplied by powers of two and rounded. A square has the square of its
argument's scale, and biases are weights of an input that is 1 at the pixels' scale. Each layer's numbers thus have one
scale, and the logits have that of all layers together. Only logits must be below t/2: earlier values may exceed it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_contract import checking
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector, next_lower
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import Metric, register
from ciphermark_core.model import Accuracy, Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference.network import Network, Shape, patches
from ciphermark_workloads.inference.networks import user_networks
from ciphermark_workloads.inference.networks.user_networks import Labels
from ciphermark_workloads.workload import Judgement, Layered, Stage, Truth

Given = TypeVar("Given", bound=held.Image | held.Images)
_DEPTH = 5  # convolution, square, dense layer, square, last layer


class OnImages(Layered[Given, Floats]):
    """The input is one image or several, the output their logits. ``shipped`` is the default network."""

    family = "inference"
    Options = held.Options
    schemes: tuple[Scheme, ...] = ("ckks",)
    stages: tuple[Stage, ...] = (Stage("infer"),)
    relative_tolerance: float = 0.002

    def __init__(self, name: str, shipped: str, title: str) -> None:
        self.name, self.title = name, title
        self._shipped = shipped

    @abstractmethod
    def require_shape(self, shape: Shape) -> None:
        """Raise ``Unsupported`` with the bound for networks that the packing cannot hold."""

    def as_kept(self, file: str, data: bytes) -> tuple[str, bytes]:
        """A network of an ONNX file as arrays, for parties to read without ``onnx``."""
        path = Path(file)
        if path.suffix.lower() != ".onnx":
            return file, data
        return str(path.with_suffix(".npz")), user_networks.packed(user_networks.of_onnx(file, data))

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        """See :class:`Workload`. Raises ``UserError`` for a network that the packing cannot hold, and for images of
        another size.
        """
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
        """N = 8192 and 208 bits: 128-bit secure by both tables. With a scale of 2^28 the first prime leaves room for
        logits of up to 32.
        """
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 8192, (34, *[28] * _DEPTH, 34), scale_bits=28)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 16384, (50, *[40] * _DEPTH, 60), scale_bits=40)

    def require_room(self, given: Given, parameters: Parameters) -> None:
        """Raise ``Unsupported`` where a logit exceeds the range of the first prime at the scale."""
        room = parameters.moduli[0] / 2 / (parameters.scale or 1.0)
        largest = float(np.ldexp(np.abs(self.reference(given)).max(), -self.options.halvings))
        if largest >= room:
            missing = int(np.ceil(np.log2(2 * largest / room)))
            raise Unsupported(
                f"a logit of {largest:.3g} is beyond ±{room:.3g}, which is what a first prime of "
                f"{parameters.moduli[0].bit_length()} bits can represent besides the scale: use a longer one, or "
                f"{_advice(self.options.halvings, missing)}"
            )

    def tolerance_of(self, parameters: Parameters) -> float:
        """The tolerance; none for whole numbers, which must be exact."""
        return self.relative_tolerance if parameters.plain_modulus is None else 0.0

    def network(self) -> Network:
        """The network of the output, in the clear."""
        return held.network(self._shipped, self.options)

    def halved_network(self) -> Network:
        """The network of the circuit, whose logits are halved as often as the options require."""
        return held.halved(self.network(), self.options.halvings)

    def images(self) -> held.Images:
        """The images that inputs are taken from."""
        return held.images(self._shipped, self.options)


class OneImage(OnImages[held.Image]):
    """The input is one of the images, the output its logits (classes,)."""

    def input(self, seed: int, data: Any) -> held.Image:
        """One of the images, uniformly at random."""
        images = self.images()
        return images.image(int(np.random.default_rng(seed).integers(len(images))))

    def given_input(self, values: Sequence[float]) -> held.Image:
        """A given image of unknown class."""
        side = self.network().shape.side
        return held.image(values, side, side)

    def reference(self, given: held.Image) -> Floats:
        logits: Floats = self.network().logits(given.pixels[None])[0]
        return logits

    def judge(self, found: Floats, truth: Truth[held.Image, Floats]) -> Judgement:
        label = truth.input.label
        labels = None if label is None else np.array([label])
        tolerance = self.tolerance_of(truth.parameters)
        return judged(found[None], truth.expected[None], truth.reference[None], labels, tolerance)


MARGIN = register(
    Metric(
        "margin",
        "absolute",
        None,
        1.0,
        "margin",
        "By how much the largest logit of the network in the clear is above the next: errors below half of it change "
        "no class.",
    )
)
IMAGES = register(
    Metric(
        "images",
        "count",
        None,
        1.0,
        "images",
        "Images of one input: one, or as many as lie side by side in its ciphertexts.",
    )
)
LOGIT_ERROR = register(
    Metric(
        "logit_error",
        "absolute",
        "lower",
        4.0,
        "largest error of a logit",
        "Largest difference of a logit from that of the network in the clear.",
    )
)


def judged(found: Floats, right: Floats, clear: Floats, labels: Labels | None, tolerance: float) -> Judgement:
    """Compare logits (count, classes) with those of the circuit without noise (``right``) and of the network in the
    clear, for images with classes ``labels`` (count,), if they are known.

    They are correct where every class matches and every error of a logit is at most ``tolerance``, relative to max(1,
    largest): a meaningless result may have the correct class by chance. ``agreement``, with the network in the clear,
    and ``accuracy`` are shares of the images; without labels there is no accuracy.
    """
    accuracy = checking.accuracy([*found], [*right], tolerance)
    chosen, expected = np.argmax(found, axis=1), np.argmax(right, axis=1)
    second, first = np.sort(right, axis=1)[:, -2:].T
    results = {
        IMAGES.name: float(len(right)),
        "agreement": float(np.mean(chosen == np.argmax(clear, axis=1))),
        MARGIN.name: float(np.min(first - second)),
        LOGIT_ERROR.name: accuracy.max_abs_error,
    }
    if labels is not None:
        results["accuracy"] = float(np.mean(chosen == labels))
    return Judgement(accuracy, _complaint(chosen, expected, accuracy, right.size), results)


def _complaint(chosen: Labels, expected: Labels, accuracy: Accuracy, logits: int) -> str | None:
    others = np.flatnonzero(chosen != expected)
    if len(others) and len(expected) == 1:
        return f"the class is {chosen[0]}; the network in the clear gives {expected[0]}"
    if len(others):
        return f"{len(others)} of {len(expected)} images have another class than in the clear"
    if accuracy.incorrect_slots:
        return f"{accuracy.incorrect_slots} of {logits} logits are incorrect, by up to {accuracy.max_abs_error:.3g}"
    return None


Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scales:
    """Powers of two, by their exponents."""

    pixels: int
    convolution: int
    dense: int
    last: int

    @property
    def inputs(self) -> tuple[int, int, int]:
        """The scales of the inputs of the convolution, the dense layer and the last layer."""
        squared_maps = 2 * (self.pixels + self.convolution)
        return self.pixels, squared_maps, 2 * (squared_maps + self.dense)

    @property
    def logits(self) -> int:
        """The scale of logits: ((pixels·convolution)²·dense)²·last."""
        return self.inputs[-1] + self.last

    def of_logits(self, network: Network, pixels: Floats) -> Integers:
        """The logits (count, classes) of images (count, side, side), times their scale; exact below 2^63."""
        met = whole(patches(pixels, network.shape), self.pixels)
        first, second, third = self.inputs
        maps = np.einsum("mt,itp->imp", whole(network.convolution.weights, self.convolution), met)
        convolved = maps + whole(network.convolution.bias, self.convolution, first)[:, None]
        squared = convolved.reshape(len(pixels), -1) ** 2
        hidden = squared @ whole(network.dense.weights, self.dense).T
        hidden += whole(network.dense.bias, self.dense, second)
        logits: Integers = hidden**2 @ whole(network.last.weights, self.last).T
        return logits + whole(network.last.bias, self.last, third)


def whole(values: Floats, scale: int, of_input: int = 0) -> Integers:
    """Values times 2^scale, rounded, then times 2^of_input for biases of a layer whose input has this scale."""
    return np.rint(np.ldexp(values, scale)).astype(np.int64) << of_input


def encoded(vector: Vector, scale: int, modulus: int, of_input: int = 0) -> Vector:
    """A vector as residues modulo t."""
    return whole(vector, scale, of_input) % modulus


def numbers(vectors: Sequence[Vector], scale: int, parameters: Parameters, of_input: int = 0) -> list[Vector]:
    """Vectors encoded for the scheme: reals, or whole numbers at a scale."""
    modulus = parameters.plain_modulus
    return [*vectors] if modulus is None else [encoded(item, scale, modulus, of_input) for item in vectors]


def centred(residues: Vector, modulus: int) -> Integers:
    """The whole numbers from −t/2 to t/2 for these residues."""
    integers: Integers = (residues + modulus // 2) % modulus - modulus // 2
    return integers


# The 200 images packaged with LoLa's network all have the same class as in floating point, and no logit exceeds 48.5
# bits, including its sign.
SCALES = Scales(pixels=3, convolution=3, dense=6, last=9)

# Of t at N = 8192 the three primes after the least that give slots, 51.3 bits: the next has 19 bits, for which five
# levels leave too little room. At N = 16384 primes are others.
T_8192 = 114689 * 147457 * 163841
T_16384 = 65537 * 163841 * 557057
_MOST = 2.0**61  # a fourth of the range of 64 bits: rounded weights may increase logits


class Exact(OnImages[Given]):
    """In bfv the outputs are whole numbers, computed exactly modulo t, a product of primes, residue by residue.

    ``bfv`` are its parameters there, ``roomy_bfv`` those for libraries that choose their own primes.
    """

    schemes: tuple[Scheme, ...] = ("ckks", "bfv")
    bfv = ParameterSpec("bfv", 8192, (42, 43, 43, 43, 43), plain_modulus=T_8192)
    roomy_bfv = ParameterSpec("bfv", 16384, (56, 56, 56, 56, 60), plain_modulus=T_16384)

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """Parameters that are 128-bit secure by both tables, in both schemes."""
        real = super().parameters(scheme)
        return real if real.scheme == scheme else self.bfv

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        real = super().roomy_parameters(scheme)
        return real if real.scheme == scheme else self.roomy_bfv

    def logits(self, found: Vector, parameters: Parameters) -> Floats:
        """The network's logits in the decrypted slots."""
        modulus = parameters.plain_modulus
        values: Vector = found if modulus is None else np.ldexp(centred(found, modulus), -SCALES.logits)
        logits: Floats = np.ldexp(values, self.options.halvings)
        return logits

    def expected(self, given: Given, parameters: Parameters) -> Floats:
        """The expected logits: in bfv, those of whole numbers."""
        if parameters.plain_modulus is None:
            return self.reference(given)
        logits: Floats = np.ldexp(self._whole_logits(given), self.options.halvings - SCALES.logits)
        return logits

    def require_room(self, given: Given, parameters: Parameters) -> None:
        """In bfv, raise ``Unsupported`` where a logit exceeds t/2, which would change its value."""
        modulus = parameters.plain_modulus
        if modulus is None:
            super().require_room(given, parameters)
            return
        largest = self._largest(given)
        if 2 * largest >= modulus:
            missing = (2 * largest).bit_length() - modulus.bit_length() + 1
            raise Unsupported(
                f"a logit of {largest.bit_length()} bits and a sign is beyond t, which has {modulus.bit_length()}: "
                f"take a larger one, or {_advice(self.options.halvings, missing)}"
            )

    def _largest(self, given: Given) -> int:
        """The largest whole logit; by floating point where 64 bits might overflow."""
        about = float(np.abs(self.reference(given)).max()) * 2.0 ** (SCALES.logits - self.options.halvings)
        return int(about) if about > _MOST else int(np.abs(self._whole_logits(given)).max())

    def _whole_logits(self, given: Given) -> Integers:
        """The whole logits of an image (classes,), or of several (count, classes)."""
        pixels = given.pixels
        rows = SCALES.of_logits(self.halved_network(), pixels.reshape(-1, *pixels.shape[-2:]))
        logits: Integers = rows.reshape(*pixels.shape[:-2], -1)
        return logits


def _advice(halvings: int, missing: int) -> str:
    """The remedy where ``missing`` halvings are required in addition to the present ones."""
    times = "once" if missing == 1 else f"{missing} times"
    return f"halve the last layer {times}{' more' if halvings else ''} (`halvings: {halvings + missing}`)"


def by_layer(images: Iterable[Mapping[str, Sequence[Handle]]]) -> dict[str, list[Handle]]:
    """The results of each layer for all images, from those for each image."""
    ends: dict[str, list[Handle]] = {}
    for image in images:
        for name, handles in image.items():
            ends.setdefault(name, []).extend(handles)
    return ends


def rescaled(evaluator: Evaluator, a: Handle) -> Handle:
    """Rescale in ckks; whole numbers have no scale."""
    return a if evaluator.parameters.scale is None else evaluator.apply("rescale", a)


def squared(evaluator: Evaluator, a: Handle) -> Handle:
    """Square; in bfv at the next modulus, which holds the remaining noise, too, and makes later operations faster."""
    square = evaluator.managed().apply("square", a)
    return next_lower(evaluator, square) if evaluator.parameters.scale is None else square
