"""Networks in ONNX files: a convolution, a square, a dense layer, a square and a dense layer, and nothing else.

That is what exporters of PyTorch and TensorFlow write of such a network. Whatever the circuits do not serve is refused
by its name. Files are read where a suite is read, so that parties need no ``onnx``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ciphermark_core.errors import UserError
from ciphermark_workloads.inference.network import Layer, Network, Shape

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
        """What is known beforehand of an input; raises ``ValueError`` where that is nothing."""
        if self.inputs[place] not in constants:
            raise ValueError(f"what its {self.kind} computes with is no constant of the file")
        return constants[self.inputs[place]].astype(np.float64)

    def bias(self, outputs: int, constants: Constants) -> Array:
        """The third input, zeros where there is none."""
        return self.constant(2, constants).reshape(-1) if len(self.inputs) > 2 else np.zeros(outputs)


@dataclass(frozen=True, slots=True)
class _Part:
    """A layer or a square. Of a convolution, ``window`` has its kernel, stride, and zeros before and after."""

    kind: str
    layer: Layer | None = None
    window: tuple[int, ...] = ()


def network(name: str, data: bytes) -> Network:
    """Of a file; raises ``UserError`` for one that is no such network, or cannot be read."""
    import onnx  # here, since it is needed for such files alone and takes long to load

    try:
        graph = onnx.load_model_from_string(data).graph
        constants = {item.name: onnx.numpy_helper.to_array(item) for item in graph.initializer}
        nodes = []
        for item in graph.node:
            told = {each.name: onnx.helper.get_attribute_value(each) for each in item.attribute}
            if item.op_type == "Constant" and "value" in told:
                constants[item.output[0]] = onnx.numpy_helper.to_array(told["value"])
            else:
                nodes.append(_Node(item.op_type, tuple(item.input), item.output[0], told))
    except Exception as error:  # whatever a parser raises at foreign bytes
        raise UserError(f"{name}: it is no ONNX file that can be read: {error}") from None
    try:
        return _assembled(graph, nodes, constants)
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None


def _assembled(graph: Any, nodes: list[_Node], constants: Constants) -> Network:
    """Raises ``ValueError`` for a graph of another kind, with what it has."""
    given = [item for item in graph.input if item.name not in constants]
    if len(given) != 1 or len(graph.output) != 1:
        raise ValueError(f"a network has one input and one output, not {len(given)} and {len(graph.output)}")
    side = _side(given[0])
    parts = list(_parts(_chain(given[0].name, graph.output[0].name, nodes), constants))
    if tuple(part.kind for part in parts) != _SERVED:
        found = ", ".join(part.kind for part in parts) or "nothing"
        raise ValueError(f"the circuits serve {', '.join(_SERVED)}; the file has {found}")
    convolution, dense, last = (part.layer for part in parts if part.layer is not None)
    kernel, stride, *margin = parts[0].window
    sizes = (len(layer.weights) for layer in (convolution, dense, last))
    return Network(Shape(side, kernel, stride, *sizes, *margin), convolution, dense, last)


def _side(given: Any) -> int:
    sizes = [item.dim_value for item in given.type.tensor_type.shape.dim]
    if len(sizes) != 4 or sizes[1] != 1 or sizes[2] != sizes[3] or sizes[2] < 1:
        raise ValueError(f"its input is to be (batch, 1, side, side), not {tuple(sizes)} (0: not told)")
    return int(sizes[2])


def _chain(start: str, end: str, nodes: list[_Node]) -> Iterator[_Node]:
    """What becomes of the input, step by step. Raises ``ValueError`` where it branches or ends elsewhere."""
    value = start
    while value != end:
        users = [node for node in nodes if value in node.inputs]
        if len(users) != 1:
            raise ValueError(f"{len(users)} steps go on from {value!r}, and a network is one chain")
        yield users[0]
        value = users[0].output


def _parts(chain: Iterator[_Node], constants: Constants) -> Iterator[_Part]:
    """Layers and squares; a constant that is added to a layer is its bias."""
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
    if added is None or added.size not in (1, len(layer.bias)):
        raise ValueError("it adds something to a layer that is no constant for each of its outputs")
    return Layer(layer.weights, layer.bias + added.astype(np.float64).reshape(-1))


def _convolution(node: _Node, constants: Constants) -> _Part:
    kernels, told = node.constant(1, constants), node.attributes
    strides, pads = told.get("strides", [1, 1]), told.get("pads", [0, 0, 0, 0])
    if kernels.ndim != 4 or kernels.shape[1] != 1 or kernels.shape[2] != kernels.shape[3]:
        raise ValueError(f"its kernels are {kernels.shape}, and are to be (maps, 1, k, k)")
    if told.get("group", 1) != 1 or set(told.get("dilations", [1])) != {1} or len(set(strides)) != 1:
        raise ValueError("its convolution has groups, dilations, or two different strides")
    if told.get("auto_pad", b"NOTSET") != b"NOTSET" or pads[0] != pads[1] or pads[2] != pads[3]:
        raise ValueError("its convolution is padded otherwise in rows than in columns, or by auto_pad")
    layer = Layer(kernels.reshape(len(kernels), -1), node.bias(len(kernels), constants))
    return _Part("convolution", layer, (kernels.shape[2], strides[0], pads[0], pads[2]))


def _product(node: _Node, constants: Constants) -> _Part:
    if node.inputs[0] != node.inputs[1]:
        raise ValueError("it multiplies by something else than the value itself, which would be a square")
    return _Part("square")


def _power(node: _Node, constants: Constants) -> _Part:
    exponent = node.constant(1, constants)
    if exponent.size != 1 or exponent.reshape(-1)[0] != 2:
        raise ValueError(f"it has a power of {exponent.tolist()}, and the circuits serve squares")
    return _Part("square")


def _gemm(node: _Node, constants: Constants) -> _Part:
    told, weights = node.attributes, node.constant(1, constants)
    if told.get("alpha", 1.0) != 1 or told.get("beta", 1.0) != 1 or told.get("transA", 0):
        raise ValueError("its dense layer has factors, or its input the wrong way round")
    weights = weights if told.get("transB", 0) else weights.T
    return _Part("dense layer", Layer(weights, node.bias(len(weights), constants)))


def _matrix(node: _Node, constants: Constants) -> _Part:
    weights = node.constant(1, constants).T
    return _Part("dense layer", Layer(weights, np.zeros(len(weights))))


def _in_order(node: _Node, constants: Constants) -> None:
    """Rows of a map after each other, and maps after each other: the order that a dense layer has here, too."""


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
