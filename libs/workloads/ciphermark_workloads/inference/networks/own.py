"""Networks and images of a user's own, read from files and checked as a whole before anything is made of them.

A network is ``.npz`` with the arrays that :data:`ARRAYS` names and perhaps ``padding``, the rows and columns of zeros
before and after an image; or ``.onnx``, of which :mod:`.from_onnx` makes such a file. A convolution's weights are
(maps, k, k), a dense layer's (outputs, inputs). Images are ``.npz`` with ``images`` (count, side, side) and perhaps
``labels`` (count,), or ``.csv`` without a header: the pixels of an image a line, row by row, and perhaps its class as
one number more.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError
from ciphermark_workloads.inference.network import Layer, Network, Shape

LAYERS = ("convolution", "dense", "last")
ARRAYS = ("side", "stride", *(f"{layer}_{part}" for layer in LAYERS for part in ("weights", "bias")))
MOST_BYTES = 1 << 28
_PADDING = "padding"

Labels = npt.NDArray[np.int64]


def network(name: str, data: bytes) -> Network:
    """The network of a file; raises ``UserError`` for what is none, with the reason."""
    if Path(name).suffix != ".npz":
        raise UserError(f"{name}: a network is a file mine.npz or mine.onnx")
    held = _arrays(name, data, ARRAYS, (_PADDING,))
    try:
        return _network(held)
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None


def packed(of: Network) -> bytes:
    """A network as a file that :func:`network` reads; equal networks make equal files."""
    shape = of.shape
    arrays: dict[str, npt.NDArray[Any]] = {
        "side": np.array(shape.side),
        "stride": np.array(shape.stride),
        _PADDING: np.array([shape.before, shape.after]),
    }
    for name, layer in zip(LAYERS, (of.convolution, of.dense, of.last), strict=True):
        arrays |= {f"{name}_weights": layer.weights, f"{name}_bias": layer.bias}
    kernels = (shape.maps, shape.kernel, shape.kernel)
    arrays["convolution_weights"] = of.convolution.weights.reshape(kernels)
    written = io.BytesIO()
    np.savez(written, allow_pickle=False, **arrays)
    return written.getvalue()


def _network(held: Mapping[str, npt.NDArray[Any]]) -> Network:
    kernels = held["convolution_weights"]
    if kernels.ndim != 3 or kernels.shape[1] != kernels.shape[2]:
        raise ValueError(f"convolution_weights are (maps, k, k), not {kernels.shape}")
    side, stride = (_whole(held[name].reshape(-1), 1)[0] for name in ("side", "stride"))
    before, after = _whole(held.get(_PADDING, np.zeros(2)), 2)
    if side < 1 or stride < 1 or kernels.shape[1] > before + side + after:
        raise ValueError("side and stride are at least 1, and a kernel is not larger than the padded image")
    convolution, dense, last = (
        Layer(weights.astype(np.float64), held[f"{name}_bias"].astype(np.float64))
        for name, weights in (
            (LAYERS[0], kernels.reshape(len(kernels), -1)),
            *((name, held[f"{name}_weights"]) for name in LAYERS[1:]),
        )
    )
    maps, hidden, classes = (np.atleast_1d(layer.weights).shape[0] for layer in (convolution, dense, last))
    shape = Shape(side, kernels.shape[1], stride, maps, hidden, classes, before, after)
    return Network(shape, convolution, dense, last)


def images(name: str, data: bytes, side: int, largest_pixel: float) -> tuple[Floats, Labels | None]:
    """The images of a file (count, side, side) with pixels from 0 to 1, and their classes, where it has them.

    Raises ``UserError`` for images of another size, and for pixels that are not from 0 to ``largest_pixel``.
    """
    read = _IMAGES.get(Path(name).suffix)
    if read is None:
        raise UserError(f"{name}: images are a file mine.npz or mine.csv")
    pixels, labels = read(name, data, side)
    if pixels.ndim != 3 or pixels.shape[1:] != (side, side) or not len(pixels):
        raise UserError(f"{name}: images are of (count, {side}, {side}) here, not {pixels.shape}")
    if not np.isfinite(pixels).all():
        raise UserError(f"{name}: it has pixels that are no finite numbers")
    if pixels.min() < 0 or pixels.max() > largest_pixel:
        raise UserError(
            f"{name}: pixels are from {pixels.min():g} to {pixels.max():g}, and here from 0 to {largest_pixel:g}: say "
            "which pixel stands for 1 (largest_pixel)"
        )
    return pixels / largest_pixel, labels


def _of_npz(name: str, data: bytes, side: int) -> tuple[Floats, Labels | None]:
    held = _arrays(name, data, ("images",), ("labels",))
    pixels, labels = held["images"].astype(np.float64), held.get("labels")
    return pixels, None if labels is None else _labels(name, labels, len(pixels))


def _of_csv(name: str, data: bytes, side: int) -> tuple[Floats, Labels | None]:
    rows: list[list[float]] = []
    for number, line in enumerate(_text(name, data).splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append([float(cell) for cell in line.split(",")])
        except ValueError as error:
            raise UserError(f"{name}, line {number}: {error}; there is no header") from None
        if len(rows[-1]) != len(rows[0]) or len(rows[-1]) - side**2 not in (0, 1):
            raise UserError(
                f"{name}, line {number}: {len(rows[-1])} numbers, and an image of {side} × {side} pixels has "
                f"{side**2}, or with its class one more, the same in all lines"
            )
    if not rows:
        raise UserError(f"{name}: the file is empty")
    table = np.array(rows)
    labels = _labels(name, table[:, -1], len(table)) if table.shape[1] > side**2 else None
    return table[:, : side**2].reshape(-1, side, side), labels


_IMAGES = {".npz": _of_npz, ".csv": _of_csv}


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8") from None


def _labels(name: str, labels: npt.NDArray[Any], count: int) -> Labels:
    try:
        return np.array(_whole(labels, count), dtype=np.int64)
    except ValueError as error:
        raise UserError(f"{name}: classes: {error}") from None


def _whole(values: npt.NDArray[Any], count: int) -> list[int]:
    """So many whole numbers from 0 on; raises ``ValueError`` for others."""
    if values.shape != (count,):
        raise ValueError(f"{count} whole numbers are asked for, and there is an array of {values.shape}")
    if not all(value >= 0 and value == int(value) for value in values.tolist()):
        raise ValueError(f"whole numbers from 0 on are asked for, not {values.tolist()[:10]}")
    return [int(value) for value in values.tolist()]


def _arrays(
    name: str, data: bytes, asked: tuple[str, ...], offered: tuple[str, ...]
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive, numbers all of them; raises ``UserError`` for others and for missing ones."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(item.file_size for item in archive.infolist())
        if unpacked > MOST_BYTES:
            raise UserError(f"{name}: {unpacked} bytes are too many, {MOST_BYTES} are the most")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            held = {key: archive[key] for key in archive.files if key in (*asked, *offered)}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise UserError(f"{name}: it is no archive of arrays (numpy.savez): {error}") from None
    missing = [key for key in asked if key not in held]
    if missing:
        raise UserError(f"{name}: it lacks {', '.join(missing)}; asked for: {', '.join(asked)}")
    for key, array in held.items():
        if array.dtype.kind not in "iuf":
            raise UserError(f"{name}: {key} has {array.dtype}, no numbers")
    return held
