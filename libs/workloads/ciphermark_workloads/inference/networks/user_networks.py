"""Users' networks and images, read from files and checked completely before use.

A network is ``.npz`` with the arrays that :data:`ARRAYS` names and perhaps ``padding``, the rows and columns of zeros
before and after an image; or ``.onnx``, which :func:`of_onnx` converts. A convolution's weights are (maps, k, k), a
dense layer's (outputs, inputs). Images are ``.npz`` with ``images`` (count, side, side) and perhaps ``labels``
(count,). Alternatively they are ``.csv`` without a header: one image per line, its pixels row by row, and perhaps its
class as an additional number.

An ONNX file may contain a convolution, a square, a dense layer, a square and a dense layer, as exporters of PyTorch and
TensorFlow write them. Any operation that the circuits do not support is refused by its name. Files are read when a
suite is read, so that parties need no ``onnx``.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError
from ciphermark_workloads.inference.network import Layer, Network, Shape

LAYERS = ("convolution", "dense", "last")
ARRAYS = ("side", "stride", *(f"{layer}_{part}" for layer in LAYERS for part in ("weights", "bias")))
MAX_BYTES = 1 << 28  # unpacked, and of all arrays as floats
_MAX_SIDE = 1024  # of a padded image
_LARGEST_LOGIT = 1e100
_LARGEST_WHOLE = 1 << 53
_PADDING = "padding"

Labels = npt.NDArray[np.int64]


@contextmanager
def _foreign(name: str, kind: str) -> Iterator[None]:
    """Turn any exception from reading foreign bytes into a ``UserError`` that names the file; ``kind`` is its expected
    content.
    """
    try:
        yield
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UserError(f"{name}: it is no {kind} that can be read: {what}") from None


def network(name: str, data: bytes) -> Network:
    """The network of a file; raises ``UserError`` with the reason for any other content."""
    if Path(name).suffix != ".npz":
        raise UserError(f"{name}: a network is a file mine.npz or mine.onnx")
    with _foreign(name, "network"):
        return _network(_arrays(name, data, ARRAYS, (_PADDING,)))


def packed(of: Network) -> bytes:
    """A network as a file that :func:`network` reads; equal networks give equal files."""
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
    convolution, dense, last = (
        Layer(weights.astype(np.float64), held[f"{name}_bias"].astype(np.float64))
        for name, weights in (
            (LAYERS[0], kernels.reshape(len(kernels), -1)),
            *((name, held[f"{name}_weights"]) for name in LAYERS[1:]),
        )
    )
    return _checked((side, kernels.shape[1], stride, before, after), convolution, dense, last)


def _checked(
    window: tuple[int, int, int, int, int], convolution: Layer, dense: Layer, last: Layer
) -> Network:
    """The network with this side, kernel, stride, and zeros before and after. Raises ``ValueError`` for an invalid
    window, and for weights whose logits may be too large.
    """
    side, kernel, stride, before, after = window
    if side < 1 or stride < 1 or not 0 < kernel <= before + side + after:
        raise ValueError(
            "side and stride must be at least 1, and the kernel at most as large as the padded image"
        )
    if not (0 <= before < kernel and 0 <= after < kernel) or before + side + after > _MAX_SIDE:
        raise ValueError(
            f"padding must be smaller than the kernel, and a padded image have at most {_MAX_SIDE} rows"
        )
    maps, hidden, classes = (np.atleast_1d(layer.weights).shape[0] for layer in (convolution, dense, last))
    shape = Shape(side, kernel, stride, maps, hidden, classes, before, after)
    network = Network(shape, convolution, dense, last)
    largest = _largest_logit(network)
    if not largest <= _LARGEST_LOGIT:
        raise ValueError(
            f"its logits may reach {largest:g}, and {_LARGEST_LOGIT:g} is the largest that is served"
        )
    return network


def _largest_logit(network: Network) -> float:
    """A bound of the logits for all images."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.ones(network.shape.taps)
        for layer in (network.convolution, network.dense, network.last):
            values = np.abs(layer.weights) @ values + np.abs(layer.bias)
            if layer is network.convolution:
                values = np.repeat(values, network.shape.positions)
            reached = float(values.max(initial=0.0))
            values = values**2
    return reached


def images(name: str, data: bytes, side: int, largest_pixel: float) -> tuple[Floats, Labels | None]:
    """The images of a file (count, side, side) with pixels from 0 to 1, and their classes, if it has them.

    Raises ``UserError`` for images of another size, and for pixels outside of 0 to ``largest_pixel``.
    """
    read = _IMAGES.get(Path(name).suffix)
    if read is None:
        raise UserError(f"{name}: images are a file mine.npz or mine.csv")
    with _foreign(name, "file of images"):
        pixels, labels = read(name, data, side)
    if pixels.ndim != 3 or pixels.shape[1:] != (side, side) or not len(pixels):
        raise UserError(f"{name}: images must have shape (count, {side}, {side}), not {pixels.shape}")
    if not np.isfinite(pixels).all():
        raise UserError(f"{name}: some pixels are not finite")
    if pixels.min() < 0 or pixels.max() > largest_pixel:
        raise UserError(
            f"{name}: pixels range from {pixels.min():g} to {pixels.max():g}, but must lie in 0 to {largest_pixel:g}: "
            "give the pixel value that stands for 1 (largest_pixel)"
        )
    return pixels / largest_pixel, labels


def _of_npz(name: str, data: bytes, side: int) -> tuple[Floats, Labels | None]:
    held = _arrays(name, data, ("images",), ("labels",))
    pixels, labels = held["images"].astype(np.float64), held.get("labels")
    return pixels, None if labels is None else _labels(name, labels, len(pixels))


def _of_csv(name: str, data: bytes, side: int) -> tuple[Floats, Labels | None]:
    rows: list[Floats] = []
    for number, line in enumerate(io.StringIO(_text(name, data)), 1):
        if not line.strip():
            continue
        count = line.count(",") + 1
        if count - side**2 not in (0, 1) or (rows and count != len(rows[0])):
            raise UserError(
                f"{name}, line {number}: {count} numbers, and an image of {side} × {side} pixels has "
                f"{side**2}, or with its class one more, the same in all lines"
            )
        try:
            rows.append(np.array([float(cell) for cell in line.split(",")]))
        except ValueError as error:
            raise UserError(f"{name}, line {number}: {error}; there is no header") from None
        if 8 * len(rows) * count > MAX_BYTES:
            raise UserError(
                f"{name}, line {number}: as numbers, the lines up to here take over {MAX_BYTES} bytes"
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
    """``count`` whole numbers, at least 0; raises ``ValueError`` for others."""
    if values.shape != (count,):
        raise ValueError(f"{count} integers are required, not an array of {values.shape}")
    if not all(0 <= value <= _LARGEST_WHOLE and value == int(value) for value in values.tolist()):
        raise ValueError(f"non-negative integers are required, not {values.tolist()[:10]}")
    return [int(value) for value in values.tolist()]


def _arrays(
    name: str, data: bytes, asked: tuple[str, ...], offered: tuple[str, ...]
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive, all numeric. Before unpacking, raises ``UserError`` for other arrays, for missing ones,
    and for archives that exceed the limit.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _require_size(name, sum(item.file_size for item in archive.infolist()))
            entries = {key: f"{key}.npy" for key in (*asked, *offered) if f"{key}.npy" in archive.namelist()}
            missing = [key for key in asked if key not in entries]
            if missing:
                raise UserError(f"{name}: it lacks {', '.join(missing)}; required: {', '.join(asked)}")
            total = 0
            for key, entry in entries.items():
                with archive.open(entry) as file:
                    total += _bytes_as_floats(name, key, file)
            _require_size(name, total)
            return {key: _array(archive, entry) for key, entry in entries.items()}
    except UserError:
        raise
    except Exception as error:  # whatever readers of archives and arrays raise at foreign bytes
        raise UserError(f"{name}: it is no archive of arrays (numpy.savez): {error}") from None


def _array(archive: zipfile.ZipFile, entry: str) -> npt.NDArray[Any]:
    with archive.open(entry) as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


def _bytes_as_floats(name: str, key: str, file: IO[bytes]) -> int:
    """The size of an array as floats, from its header; raises ``UserError`` for an array without numbers."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.kind not in "iuf":
        raise UserError(f"{name}: {key} has {dtype}, no numbers")
    if any(size < 0 for size in shape):
        raise ValueError(f"{key} has a shape of {shape}")
    return 8 * math.prod(shape)


def _require_size(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise UserError(f"{name}: {size} bytes are too many, {MAX_BYTES} are the most")


Array = npt.NDArray[Any]
Constants = Mapping[str, Array]
_SERVED = ("convolution", "square", "dense layer", "square", "dense layer")


@dataclass(frozen=True, slots=True)
class _Node:
    """A step of the graph."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: Mapping[str, Any]

    def constant(self, place: int, constants: Constants) -> Array:
        """The constant value of an input; raises ``ValueError`` where it is not constant, or not numeric."""
        if len(self.inputs) <= place or self.inputs[place] not in constants:
            raise ValueError(f"what its {self.kind} computes with is no constant of the file")
        constant = constants[self.inputs[place]]
        if constant.dtype.kind not in "iuf":
            raise ValueError(f"its {self.kind} computes with {constant.dtype}, no numbers")
        return constant.astype(np.float64)

    def bias(self, outputs: int, constants: Constants) -> Array:
        """The third input, zeros where there is none."""
        return self.constant(2, constants).reshape(-1) if len(self.inputs) > 2 else np.zeros(outputs)


@dataclass(frozen=True, slots=True)
class _Part:
    """A layer or a square. For a convolution, ``window`` has its kernel, stride, and zeros before and after."""

    kind: str
    layer: Layer | None = None
    window: tuple[int, ...] = ()


def of_onnx(name: str, data: bytes) -> Network:
    """The network of a file; raises ``UserError`` for any other graph, or an unreadable file."""
    import onnx  # here, since only such files need it and it loads slowly

    with _foreign(name, "ONNX file"):
        graph = onnx.load_model_from_string(data).graph
        constants = {item.name: _content(item) for item in graph.initializer}
        nodes = []
        for item in graph.node:
            attributes = {each.name: onnx.helper.get_attribute_value(each) for each in item.attribute}
            if item.op_type == "Constant" and "value" in attributes:
                constants[item.output[0]] = _content(attributes["value"])
            else:
                nodes.append(_Node(item.op_type, tuple(item.input), item.output[0], attributes))
        return _assembled(graph, nodes, constants)


def _content(tensor: Any) -> Array:
    """The numbers of a tensor. Raises ``ValueError`` for one in another file, whose path the file would choose."""
    import onnx

    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise ValueError(f"its tensor {tensor.name} is in another file; export it into one file")
    content: Array = onnx.numpy_helper.to_array(tensor)
    return content


def _assembled(graph: Any, nodes: list[_Node], constants: Constants) -> Network:
    """The network of a graph. Raises ``ValueError`` for a graph of another kind, with its operations."""
    given = [item for item in graph.input if item.name not in constants]
    if len(given) != 1 or len(graph.output) != 1:
        raise ValueError(f"a network has one input and one output, not {len(given)} and {len(graph.output)}")
    side = _side(given[0])
    parts = list(_parts(_chain(given[0].name, graph.output[0].name, nodes), constants))
    if tuple(part.kind for part in parts) != _SERVED:
        kinds = ", ".join(part.kind for part in parts) or "nothing"
        raise ValueError(f"the circuits serve {', '.join(_SERVED)}; the file has {kinds}")
    convolution, dense, last = (part.layer for part in parts if part.layer is not None)
    kernel, stride, before, after = parts[0].window
    return _checked((side, kernel, stride, before, after), convolution, dense, last)


def _side(given: Any) -> int:
    sizes = [item.dim_value for item in given.type.tensor_type.shape.dim]
    if len(sizes) != 4 or sizes[1] != 1 or sizes[2] != sizes[3] or sizes[2] < 1:
        raise ValueError(f"its input is to be (batch, 1, side, side), not {tuple(sizes)} (0: unknown)")
    return int(sizes[2])


def _chain(start: str, end: str, nodes: list[_Node]) -> Iterator[_Node]:
    """The operations on the input, step by step. Raises ``ValueError`` where it branches, ends elsewhere or recurs."""
    users_of: dict[str, list[_Node]] = {}
    for node in nodes:
        for item in dict.fromkeys(node.inputs):
            users_of.setdefault(item, []).append(node)
    value, met = start, {start}
    while value != end:
        users = users_of.get(value, [])
        if len(users) != 1:
            raise ValueError(f"{len(users)} steps continue from {value!r}, and a network is one chain")
        yield users[0]
        value = users[0].output
        if value in met:
            raise ValueError(f"its steps come back to {value!r}, and a network is one chain")
        met.add(value)


def _parts(chain: Iterator[_Node], constants: Constants) -> Iterator[_Part]:
    """Layers and squares; a constant added to a layer is its bias."""
    held: _Part | None = None
    for node in chain:
        if node.kind == "Add" and held is not None and held.layer is not None:
            held = _Part(held.kind, _with_bias(held.layer, node, constants), held.window)
            continue
        read = _READERS.get(node.kind)
        if read is None:
            raise ValueError(f"it has a step {node.kind}; the circuits serve {', '.join(_SERVED)}")
        part = read(node, constants)
        if part is not None:
            if held is not None:
                yield held
            held = part
    if held is not None:
        yield held


def _with_bias(layer: Layer, node: _Node, constants: Constants) -> Layer:
    added = next((constants[item] for item in node.inputs if item in constants), None)
    is_bias = added is not None and added.dtype.kind in "iuf" and added.size in (1, len(layer.bias))
    if added is None or not is_bias:
        raise ValueError("it adds something to a layer that is no constant for each of its outputs")
    return Layer(layer.weights, layer.bias + added.astype(np.float64).reshape(-1))


def _convolution(node: _Node, constants: Constants) -> _Part:
    kernels, attributes = node.constant(1, constants), node.attributes
    strides, pads = _sizes(attributes, "strides", [1, 1]), _sizes(attributes, "pads", [0, 0, 0, 0])
    if kernels.ndim != 4 or kernels.shape[1] != 1 or kernels.shape[2] != kernels.shape[3]:
        raise ValueError(f"its kernels are {kernels.shape}, and are to be (maps, 1, k, k)")
    if (
        attributes.get("group", 1) != 1
        or set(attributes.get("dilations", [1])) != {1}
        or len(set(strides)) != 1
    ):
        raise ValueError("its convolution has groups, dilations, or two different strides")
    if attributes.get("auto_pad", b"NOTSET") != b"NOTSET" or pads[0] != pads[1] or pads[2] != pads[3]:
        raise ValueError("its convolution is padded otherwise in rows than in columns, or by auto_pad")
    layer = Layer(kernels.reshape(len(kernels), -1), node.bias(len(kernels), constants))
    return _Part("convolution", layer, (kernels.shape[2], strides[0], pads[0], pads[2]))


def _sizes(attributes: Mapping[str, Any], name: str, default: list[int]) -> list[int]:
    """Whole numbers, as many as in the default; raises ``ValueError`` for others."""
    sizes = attributes.get(name, default)
    if not (
        isinstance(sizes, list) and len(sizes) == len(default) and all(isinstance(n, int) for n in sizes)
    ):
        raise ValueError(f"its convolution has {name} that are not {len(default)} whole numbers")
    return sizes


def _product(node: _Node, constants: Constants) -> _Part:
    if len(node.inputs) != 2 or node.inputs[0] != node.inputs[1]:
        raise ValueError("it multiplies by something else than the value itself, which would be a square")
    return _Part("square")


def _power(node: _Node, constants: Constants) -> _Part:
    exponent = node.constant(1, constants)
    if exponent.size != 1 or exponent.reshape(-1)[0] != 2:
        raise ValueError(f"it has a power of {exponent}, and the circuits serve squares")
    return _Part("square")


def _weights(node: _Node, constants: Constants) -> Array:
    weights = node.constant(1, constants)
    if weights.ndim != 2:
        raise ValueError(f"its dense layer has weights of {weights.shape}, no matrix")
    return weights


def _gemm(node: _Node, constants: Constants) -> _Part:
    attributes, weights = node.attributes, _weights(node, constants)
    if attributes.get("alpha", 1.0) != 1 or attributes.get("beta", 1.0) != 1 or attributes.get("transA", 0):
        raise ValueError("its dense layer has alpha or beta factors, or a transposed input")
    weights = weights if attributes.get("transB", 0) else weights.T
    return _Part("dense layer", Layer(weights, node.bias(len(weights), constants)))


def _matrix(node: _Node, constants: Constants) -> _Part:
    weights = _weights(node, constants).T
    return _Part("dense layer", Layer(weights, np.zeros(len(weights))))


def _in_order(node: _Node, constants: Constants) -> None:
    """Require rows of a map in sequence, and maps in sequence, as for a dense layer here."""


_READERS: Mapping[str, Callable[[_Node, Constants], _Part | None]] = {
    "Conv": _convolution,
    "Mul": _product,
    "Pow": _power,
    "Gemm": _gemm,
    "MatMul": _matrix,
    "Flatten": _in_order,
    "Reshape": _in_order,
    "Identity": _in_order,
}
