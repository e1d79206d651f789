"""Networks as files: whole numbers of 16 bits with a power of two for each layer, and their provenance as JSON."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError
from ciphermark_workloads.inference.network import Layer, Network, Shape

LAYERS = ("convolution", "dense", "last")


class Provenance(msgspec.Struct, frozen=True):
    """The origin of a network. ``right`` counts the correctly classified ones of ``held_out`` images, which were not
    used for training, by the stored network. Its logits, including the bias, were divided by 2^``halvings``.
    """

    data: str
    data_digest: str
    split: str
    seed: int
    epochs: int
    trained_on: int
    held_out: int
    right: int
    halvings: int
    padding: str
    numpy: str
    digests: Mapping[str, str]


class Stored(msgspec.Struct, frozen=True):
    """A network, held-out images (count, side, side) with pixels from 0 to 1, and their classes (count,)."""

    network: Network
    images: Floats
    labels: npt.NDArray[np.int64]
    provenance: Provenance


@cache
def shipped(name: str) -> Stored:
    """A network packaged in this folder."""
    return read(Path(__file__).parent, name)


def read(folder: Path, name: str) -> Stored:
    """A network of a folder. Raises ``UserError`` where a file differs from the one in its provenance."""
    provenance = msgspec.json.decode((folder / f"{name}.json").read_bytes(), type=Provenance)
    held, tried = (_opened(folder, f"{name}{ending}", provenance) for ending in (".npz", "-images.npz"))
    return Stored(
        Network(Shape(*(int(item) for item in held["shape"])), *(_layer(held, layer) for layer in LAYERS)),
        tried["images"] / float(tried["most"]),
        tried["labels"].astype(np.int64),
        provenance,
    )


def whole(layer: Layer) -> tuple[dict[str, npt.NDArray[Any]], Layer]:
    """A layer in whole numbers of 16 bits, and its rounded values: each number times 2^−exponent."""
    _, exponent = np.frexp(max(np.abs(layer.weights).max(), np.abs(layer.bias).max()))
    power = 15 - int(exponent)
    most = 2**15 - 1
    parts = [
        np.clip(np.rint(np.ldexp(part, power)), -most, most).astype(np.int16)
        for part in (layer.weights, layer.bias)
    ]
    fields = {"weights": parts[0], "bias": parts[1], "exponent": np.int64(power)}
    return {key: np.asarray(value) for key, value in fields.items()}, _of_whole(parts[0], parts[1], power)


def _of_whole(weights: npt.NDArray[Any], bias: npt.NDArray[Any], power: int) -> Layer:
    return Layer(np.ldexp(weights.astype(np.float64), -power), np.ldexp(bias.astype(np.float64), -power))


def _layer(held: Mapping[str, npt.NDArray[Any]], name: str) -> Layer:
    return _of_whole(held[f"{name}_weights"], held[f"{name}_bias"], int(held[f"{name}_exponent"]))


def _opened(folder: Path, name: str, provenance: Provenance) -> dict[str, npt.NDArray[Any]]:
    data = (folder / name).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != provenance.digests[name]:
        raise UserError(
            f"{name} has SHA-256 {digest}, but its provenance states {provenance.digests[name]}: it is not the "
            "network that was trained"
        )
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return dict(archive)
