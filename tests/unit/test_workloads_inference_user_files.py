"""Networks and images in files: what is read is what was written, and what is malformed is refused with its reason."""

from __future__ import annotations

import io
import zipfile
from itertools import pairwise

import numpy as np
import onnx
import pytest
from circuit_execution import ADAPTER
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.errors import UserError
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.inputs import Image
from ciphermark_workloads.inference.network import Layer, Network, Shape
from ciphermark_workloads.inference.networks import user_networks
from ciphermark_workloads.options import to_case

DIGITS = WORKLOADS["digits"]
SHAPE = Shape(side=12, kernel=4, stride=3, maps=3, hidden=20, classes=4, before=1, after=2)
IMAGES = np.random.default_rng(1).integers(0, 256, (6, 12, 12))


def network(seed=0, shape=SHAPE):
    random = np.random.default_rng(seed)
    sizes = ((shape.maps, shape.taps), (shape.hidden, shape.features), (shape.classes, shape.hidden))
    layers = [
        Layer(random.normal(size=size) / np.sqrt(size[1]), random.normal(size=size[0]) / 10) for size in sizes
    ]
    return Network(shape, *layers)


def archive(**arrays):
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def arrays_of(of):
    with np.load(io.BytesIO(user_networks.packed(of))) as held:
        return dict(held)


def taken(**files):
    """The workload with these files as options: name and contents of each."""

    def find(text, form):
        file, data = form(text, files_by_name[text])
        name = user_workloads.file_name(file, data)
        user_workloads.hold_file(name, data)
        return name, data

    files_by_name = dict(files.values())
    values = {option: name for option, (name, _) in files.items()}
    return user_workloads.settled(DIGITS, values, find)


# --- Networks --------------------------------------------------------------------------------------------------------


def test_a_network_is_that_of_the_file():
    of = network()
    found = user_networks.network("a.npz", user_networks.packed(of))
    assert found.shape == of.shape
    images = IMAGES / 255
    assert np.array_equal(found.logits(images), of.logits(images))
    assert user_networks.packed(found) == user_networks.packed(of)


def test_without_padding_there_is_none():
    shape = Shape(side=8, kernel=2, stride=2, maps=2, hidden=5, classes=3)
    arrays = arrays_of(network(shape=shape))
    del arrays["padding"]
    assert user_networks.network("a.npz", archive(**arrays)).shape == shape


def changed(**others):
    return {name: array for name, array in (arrays_of(network()) | others).items() if array is not None}


@pytest.mark.parametrize(
    ("file", "data", "told"),
    [
        ("a.txt", b"", "a network is a file mine.npz or mine.onnx"),
        ("a.npz", b"nothing of the kind", "no archive of arrays"),
        ("a.npz", user_networks.packed(network())[:-30], "no archive of arrays"),
        ("a.npz", archive(side=np.array(12)), "it lacks stride, convolution_weights"),
        ("a.npz", archive(**changed(dense_bias=None)), "it lacks dense_bias; required: side, stride"),
        ("a.npz", archive(**changed(dense_bias=np.array(["a"]))), "dense_bias has <U1, no numbers"),
        ("a.npz", archive(**changed(dense_bias=np.zeros(3))), "layer dense has weights of"),
        ("a.npz", archive(**changed(last_weights=np.zeros((4, 19)))), "layer last has weights of"),
        ("a.npz", archive(**changed(dense_bias=np.full(20, np.nan))), "numbers that are not finite"),
        ("a.npz", archive(**changed(convolution_weights=np.zeros((3, 4, 5)))), r"\(maps, k, k\), not \(3, 4, 5\)"),
        ("a.npz", archive(**changed(side=np.array(20))), "layer dense has weights of"),
        ("a.npz", archive(**changed(side=np.array(-12))), "non-negative integers are required"),
        ("a.npz", archive(**changed(side=np.array(1.5))), "non-negative integers are required"),
        ("a.npz", archive(**changed(side=np.array(np.nan))), "non-negative integers are required"),
        ("a.npz", archive(**changed(stride=np.array(0))), "at least 1"),
        ("a.npz", archive(**changed(side=np.array(0))), "at least 1"),
        ("a.npz", archive(**changed(side=np.array(np.inf))), "non-negative integers are required"),
        ("a.npz", archive(**changed(padding=np.array([10**9, 2]))), "padding must be smaller than the kernel"),
        ("a.npz", archive(**changed(side=np.array(10**9), stride=np.array(10**9))), "a padded image have at most 1024"),
        ("a.npz", archive(**changed(convolution_weights=np.zeros((3, 0, 0)))), "the kernel at most as large"),
        ("a.npz", archive(**changed(dense_weights=np.full((20, 48), 1e300))), "logits may reach inf"),
        ("a.npz", archive(**changed(padding=np.array([1]))), "2 integers are required"),
        ("a.npz", archive(**changed(dense_weights=np.array(3.0))), "layer dense has weights of"),
    ],
)  # fmt: skip
def test_what_is_no_network_is_refused_with_the_reason(file, data, told):
    with pytest.raises(UserError, match=f"^{file}: .*{told}"):
        user_networks.network(file, data)


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(user_networks, "MAX_BYTES", 5000)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("side.npy", bytes(6000))
    with pytest.raises(UserError, match="6000 bytes are too many, 5000 are the most"):
        user_networks.network("a.npz", written.getvalue())


def with_shape(shape, order="<f8"):
    """An archive whose array ``images`` has this shape in its head, and no contents."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"shape": shape, "fortran_order": False, "descr": order})
    return zipped("images", head.getvalue())


def zipped(name, contents):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"{name}.npy", contents)
    return written.getvalue()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (with_shape((1 << 40, 12, 12)), "bytes are too many"),
        (with_shape((1 << 26, 12, 12), "|u1"), "bytes are too many"),  # as floats
        (with_shape((-1, 12, 12)), "images has a shape of"),
        (with_shape((6, 12, 12)), "no archive of arrays"),
        (zipped("images", b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16), "no archive of arrays"),
    ],
)  # fmt: skip
def test_an_array_is_held_to_its_bound_by_its_head(data, told):
    with pytest.raises(UserError, match=f"^a.npz: .*{told}"):
        user_networks.images("a.npz", data, 12, 255)


def mutants(data, count):
    """Bytes that differ from these in a few places, or end early; the same in every call."""
    random = np.random.default_rng(len(data))
    for _ in range(count):
        changed = bytearray(data)
        for place in random.integers(0, len(data), random.integers(1, 6)):
            changed[place] = random.integers(256)
        yield bytes(changed[: random.integers(1, len(data))] if random.random() < 0.2 else changed)


def test_mutated_files_are_read_or_refused():
    of = network()
    small = archive(images=IMAGES.astype(np.uint8), labels=np.zeros(6))
    compressed = io.BytesIO()
    np.savez_compressed(compressed, images=IMAGES.astype(np.uint8))
    readers = [
        (user_networks.network, "a.npz", user_networks.packed(of)),
        (user_networks.of_onnx, "a.onnx", exported(of)),
        (user_networks.of_onnx, "a.onnx", exported(of, "matrix")),
        *((lambda name, data: user_networks.images(name, data, 12, 255), name, data)
          for name, data in (("a.npz", small), ("a.npz", compressed.getvalue()), ("a.csv", lines(IMAGES)))),
    ]  # fmt: skip
    for read, name, data in readers:
        for mutant in mutants(data, 60):
            try:
                read(name, mutant)
            except UserError as error:
                assert str(error).startswith(name)  # noqa: PT017


def test_objects_are_not_unpickled():
    with pytest.raises(UserError, match="side has object, no numbers"):
        user_networks.network("a.npz", archive(**changed(side=np.array([{}], dtype=object))))


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ({"maps": 100}, "1600 neurons of maps, and this packing has slots for 895"),
        ({"hidden": 104}, "104 hidden neurons, and this packing has slots for 103"),
    ],
)
def test_a_network_that_the_circuit_does_not_hold_is_refused_with_the_bound(shape, told):
    sizes = {
        "side": 12,
        "kernel": 4,
        "stride": 3,
        "maps": 3,
        "hidden": 20,
        "classes": 4,
        "before": 1,
        "after": 2,
    }
    of = network(shape=Shape(**(sizes | shape)))
    with pytest.raises(UserError, match=f"^mine@.*npz: .*{told}"):
        taken(
            network=("mine.npz", user_networks.packed(of)), images=("own.npz", archive(images=IMAGES / 255))
        )


# --- ONNX ------------------------------------------------------------------------------------------------------------


def exported(of, kind="gemm", **others):
    """A network as exporters write it: with ``Gemm`` as PyTorch does, or with ``MatMul`` and ``Add``."""
    shape = of.shape
    held = {
        "kernels": of.convolution.weights.reshape(shape.maps, 1, shape.kernel, shape.kernel),
        "kernel_bias": of.convolution.bias,
        "dense": of.dense.weights if kind == "gemm" else of.dense.weights.T,
        "dense_bias": of.dense.bias,
        "last": of.last.weights if kind == "gemm" else of.last.weights.T,
        "last_bias": of.last.bias,
        "two": np.array([2.0]),
    } | others.pop("constants", {})
    pads = [shape.before, shape.before, shape.after, shape.after]
    window = {"kernel_shape": [shape.kernel] * 2, "strides": [shape.stride] * 2, "pads": pads} | others.pop(
        "window", {}
    )
    first = helper.make_node("Conv", ["image", "kernels", "kernel_bias"], ["maps"], **window)
    bodies = {
        "gemm": [
            helper.make_node("Mul", ["maps", "maps"], ["squares"]),
            helper.make_node("Flatten", ["squares"], ["flat"]),
            helper.make_node("Gemm", ["flat", "dense", "dense_bias"], ["hidden"], transB=1),
            helper.make_node("Pow", ["hidden", "two"], ["hidden_squares"]),
            helper.make_node("Gemm", ["hidden_squares", "last", "last_bias"], ["logits"], transB=1),
        ],
        "matrix": [
            helper.make_node("Mul", ["maps", "maps"], ["squares"]),
            helper.make_node("Constant", [], ["shape"], value=numpy_helper.from_array(np.array([1, -1]))),
            helper.make_node("Reshape", ["squares", "shape"], ["flat"]),
            helper.make_node("MatMul", ["flat", "dense"], ["products"]),
            helper.make_node("Add", ["products", "dense_bias"], ["hidden"]),
            helper.make_node("Mul", ["hidden", "hidden"], ["hidden_squares"]),
            helper.make_node("MatMul", ["hidden_squares", "last"], ["last_products"]),
            helper.make_node("Add", ["last_bias", "last_products"], ["logits"]),
        ],
    }  # fmt: skip
    nodes = others.pop("nodes", lambda body: body)([first, *bodies[kind]])
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("image", TensorProto.DOUBLE, others.pop("input", [1, 1, 12, 12]))],
        [helper.make_tensor_value_info("logits", TensorProto.DOUBLE, [1, shape.classes])],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )  # fmt: skip
    return helper.make_model(graph).SerializeToString()


@pytest.mark.parametrize("kind", ["gemm", "matrix"])
def test_a_network_of_onnx_gives_what_onnx_says_of_it(kind):
    """By the reference implementation of ONNX, which shares no code with ours."""
    data = exported(network(), kind)
    found = user_networks.of_onnx("a.onnx", data)
    assert found.shape == SHAPE
    evaluator = ReferenceEvaluator(onnx.load_model_from_string(data))
    for image in IMAGES / 255:
        (expected,) = evaluator.run(None, {"image": image[None, None]})
        np.testing.assert_allclose(found.logits(image[None]), expected, rtol=1e-9, atol=1e-9)


def without(*kinds):
    return lambda nodes: [node for node in nodes if node.op_type not in kinds]


def with_relu(nodes):
    nodes[1] = helper.make_node("Relu", ["maps"], ["squares"])
    return nodes


def with_branch(nodes):
    return [*nodes, helper.make_node("Identity", ["maps"], ["also"])]


def with_cycle(nodes):
    """The first square is made of what comes later; nothing leads to the output."""
    nodes[2] = helper.make_node("Identity", ["squares"], ["maps_again"])
    nodes[3:] = [helper.make_node("Identity", ["maps_again"], ["squares"])]
    return nodes


def with_inputs(node, *inputs):
    def changed(nodes):
        del nodes[node].input[len(inputs) :]
        return nodes

    return changed


def without_output(nodes):
    del nodes[1].output[:]
    return nodes


def with_attribute(node, name, value):
    def changed(nodes):
        nodes[node].attribute.append(helper.make_attribute(name, value))
        return nodes

    return changed


def with_shift(nodes):
    nodes[1] = helper.make_node("Mul", ["maps", "two"], ["squares"])
    return nodes


def with_linear(nodes):
    """A dense layer straight after another: no square between."""
    nodes[4] = helper.make_node("Identity", ["hidden"], ["hidden_squares"])
    return nodes


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({"nodes": with_relu}, "a step Relu; the circuits serve convolution, square, dense layer"),
        ({"nodes": with_branch}, "2 steps continue from 'maps'"),
        ({"nodes": without("Flatten")}, "0 steps continue from 'squares'"),
        ({"nodes": with_cycle}, "its steps come back to 'squares'"),
        ({"nodes": with_inputs(0, "image")}, "its Conv computes with is no constant"),
        ({"nodes": with_inputs(1, "maps")}, "multiplies by something else than the value itself"),
        ({"nodes": with_inputs(3, "flat")}, "its Gemm computes with is no constant"),
        ({"nodes": without_output}, "no ONNX file that can be read"),
        ({"window": {"pads": [1, 1]}}, "pads that are not 4 whole numbers"),
        ({"window": {"strides": [3.0, 3.0]}}, "strides that are not 2 whole numbers"),
        ({"window": {"strides": [0, 0]}}, "at least 1"),
        ({"window": {"pads": [-1, -1, 2, 2]}}, "padding must be smaller than the kernel"),
        ({"constants": {"dense": np.zeros(48)}}, r"weights of \(48,\), no matrix"),
        ({"constants": {"dense": np.full((20, 48), 1j)}}, "complex128, no numbers"),
        ({"constants": {"kernels": np.full((3, 1, 4, 4), 1e200)}}, "logits may reach inf"),
        ({"nodes": with_shift}, "multiplies by something else than the value itself"),
        ({"nodes": with_linear}, "the file has convolution, square, dense layer, dense layer"),
        ({"constants": {"two": np.array([3.0])}}, r"a power of \[3\.\]"),
        ({"constants": {"kernels": np.zeros((3, 2, 4, 4))}}, r"its kernels are \(3, 2, 4, 4\)"),
        ({"window": {"strides": [3, 2]}}, "two different strides"),
        ({"window": {"dilations": [2, 2]}}, "dilations"),
        ({"window": {"pads": [1, 0, 2, 2]}}, "padded otherwise"),
        ({"window": {"auto_pad": "SAME_UPPER", "pads": [0] * 4}}, "by auto_pad"),
        ({"input": [1, 3, 12, 12]}, r"\(batch, 1, side, side\), not \(1, 3, 12, 12\)"),
        ({"input": ["batch", 1, "h", "w"]}, r"\(batch, 1, side, side\), not \(0, 1, 0, 0\)"),
        ({"constants": {"dense_bias": np.zeros(7)}}, "layer dense has weights of"),
    ],
)  # fmt: skip
def test_what_the_circuits_do_not_serve_is_refused_by_its_name(others, told):
    with pytest.raises(UserError, match=f"^a.onnx: .*{told}"):
        user_networks.of_onnx("a.onnx", exported(network(), **others))


def test_each_step_of_a_long_chain_is_looked_at_once():
    """With each step compared with each other one, a file of 100,000 steps took minutes."""
    looks = 0

    class Step(user_networks._Node):
        @property
        def inputs(self):
            nonlocal looks
            looks += 1
            return (self.kind,)

        @inputs.setter
        def inputs(self, value):
            pass

    names = [str(number) for number in range(200)]
    steps = [Step(name, (), after, {}) for name, after in pairwise(names)]
    assert [*user_networks._chain("0", "199", steps)] == steps
    assert looks <= 2 * len(steps)


def test_no_other_file_is_read(tmp_path, monkeypatch):
    """A tensor may name one, relative to the folder of whoever reads."""
    monkeypatch.chdir(tmp_path)
    of = network()
    (tmp_path / "secret").write_bytes(of.dense.bias.tobytes())
    model = onnx.load_model_from_string(exported(of))
    (tensor,) = (item for item in model.graph.initializer if item.name == "dense_bias")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret")
    with pytest.raises(UserError, match="its tensor dense_bias is in another file"):
        user_networks.of_onnx("a.onnx", model.SerializeToString())


@pytest.mark.parametrize("data", [b"", b"no protobuf", exported(network())[:100]])
def test_what_is_no_onnx_is_refused(data):
    with pytest.raises(UserError, match=r"^a\.onnx: "):
        user_networks.of_onnx("a.onnx", data)


def test_of_an_onnx_file_arrays_are_kept():
    """Parties read those: they have no ``onnx``."""
    of = network()
    values = taken(network=("mine.onnx", exported(of)), images=("own.npz", archive(images=IMAGES / 255)))
    assert values["network"] == user_workloads.file_name("mine.npz", user_networks.packed(of))
    assert (
        user_networks.network(values["network"], user_workloads.file_content(values["network"])).shape
        == SHAPE
    )


# --- Images ----------------------------------------------------------------------------------------------------------


def lines(images, labels=None, ending="\n"):
    rows = images.reshape(len(images), -1).tolist()
    if labels is not None:
        rows = [[*row, label] for row, label in zip(rows, labels, strict=True)]
    return ending.join(",".join(map(str, row)) for row in rows).encode()


@pytest.mark.parametrize(
    ("file", "data", "labels"),
    [
        ("a.npz", archive(images=IMAGES.astype(np.uint8)), None),
        ("a.npz", archive(images=IMAGES.astype(np.float32), labels=np.array([3, 2, 1, 0, 1, 2])), [3, 2, 1, 0, 1, 2]),
        ("a.csv", lines(IMAGES), None),
        ("a.csv", b"\xef\xbb\xbf" + lines(IMAGES, [0, 1, 2, 3, 2, 1], "\r\n") + b"\r\n", [0, 1, 2, 3, 2, 1]),
    ],
)  # fmt: skip
def test_images_are_those_of_the_file(file, data, labels):
    pixels, found = user_networks.images(file, data, 12, 255)
    assert np.array_equal(pixels, IMAGES / 255)
    assert (None if found is None else found.tolist()) == labels


@pytest.mark.parametrize(
    ("file", "data", "told"),
    [
        ("a.png", b"", "images are a file mine.npz or mine.csv"),
        ("a.npz", archive(pictures=IMAGES), "it lacks images"),
        ("a.npz", archive(images=IMAGES[:, :11]), r"\(count, 12, 12\), not \(6, 11, 12\)"),
        ("a.npz", archive(images=IMAGES[:0]), r"\(count, 12, 12\), not \(0, 12, 12\)"),
        ("a.npz", archive(images=IMAGES * 2), "pixels range from .* to 510, but must lie in 0 to 255"),
        ("a.npz", archive(images=IMAGES - 300.0), "pixels range from .*, but must lie in 0 to 255"),
        ("a.npz", archive(images=np.where(IMAGES > 250, np.nan, IMAGES)), "not finite"),
        ("a.npz", archive(images=IMAGES, labels=np.arange(5)), "classes: 6 integers are required"),
        ("a.npz", archive(images=IMAGES, labels=np.full(6, 0.5)), "classes: non-negative integers"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"b," * 143 + b"a\n", "line 1: could not convert string to float: 'b'; there is no header"),
        ("a.csv", lines(IMAGES) + b"\n1,2", "line 7: 2 numbers, and an image of 12 × 12 pixels has 144"),
        ("a.csv", lines(IMAGES[:1]) + b"\n" + lines(IMAGES[:1], [1]), "line 2: 145 numbers"),
        ("a.csv", b"\xff\xfe1", "byte 0 is not UTF-8"),
    ],
)  # fmt: skip
def test_other_images_are_refused_with_the_reason(file, data, told):
    with pytest.raises(UserError, match=f"^{file}[:,] .*{told}"):
        user_networks.images(file, data, 12, 255)


def test_shipped_images_of_another_size_are_no_input():
    with pytest.raises(
        UserError, match="takes images of 12 × 12 pixels, and those that are shipped have 8 × 8"
    ):
        taken(network=("mine.npz", user_networks.packed(network())))


# --- Workloads -------------------------------------------------------------------------------------------------------


def test_logits_are_those_of_the_network_however_often_its_last_layer_is_halved():
    of = network()
    images = IMAGES / 255
    values = taken(network=("mine.npz", user_networks.packed(of)), images=("own.npz", archive(images=images)))
    for halvings in (0, 3):
        workload = DIGITS.with_options({**values, "halvings": halvings})
        image = Image(images[4], None)
        both = InProcess(workload, ADAPTER, workload.parameters("ckks"), image)
        found = both.output(both.executed(image)["infer"].outputs, image)
        np.testing.assert_allclose(found, of.logits(images[4][None])[0], rtol=1e-9, atol=1e-9)
        results = both.judged(found, image).results
        assert results["agreement"] == 1
        assert "accuracy" not in results


def test_logits_beyond_the_first_prime_are_refused_and_halvings_help():
    of = network()
    large = Network(of.shape, of.convolution, of.dense, Layer(of.last.weights * 1e4, of.last.bias))
    values = taken(
        network=("mine.npz", user_networks.packed(large)), images=("own.npz", archive(images=IMAGES / 255))
    )
    parameters, image = ADAPTER.resolve(DIGITS.parameters("ckks")), Image(IMAGES[2] / 255, None)

    def refusal(halvings: int) -> str:
        with pytest.raises(Unsupported, match=r"beyond ±.*halve the last layer ") as told:
            DIGITS.with_options({**values, "halvings": halvings}).require_room(image, parameters)
        return str(told.value).rpartition("halve the last layer ")[2]

    enough = int(refusal(0).split()[0])
    assert enough > 3
    assert refusal(0) == f"{enough} times (`halvings: {enough}`)"
    assert refusal(2) == f"{enough - 2} times more (`halvings: {enough}`)"
    DIGITS.with_options({**values, "halvings": enough}).require_room(image, parameters)


def test_defaults_are_no_part_of_a_case():
    """Results that were stored before there were options keep their keys."""
    assert to_case(DIGITS.with_options({}).options) == {}
