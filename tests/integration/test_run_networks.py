"""Networks and images of users in runs: from files to classes, and refused where they are malformed or do not fit."""

from __future__ import annotations

import io

import numpy as np
import pytest

from ciphermark_workloads.inference.network import Layer, Network, Shape
from ciphermark_workloads.inference.networks import user_networks

SHAPE = Shape(side=10, kernel=3, stride=2, maps=4, hidden=20, classes=5, before=1, after=1)


def network(factor=1.0):
    random = np.random.default_rng(5)
    sizes = ((SHAPE.maps, SHAPE.taps), (SHAPE.hidden, SHAPE.features), (SHAPE.classes, SHAPE.hidden))
    convolution, dense, last = (
        Layer(random.normal(size=size) / np.sqrt(size[1]), random.normal(size=size[0]) / 10) for size in sizes
    )
    return Network(SHAPE, convolution, dense, Layer(factor * last.weights, last.bias))


def planted(suite, factor=1.0, pixels=255):
    """A network and eight images beside the suite, with classes that the network gives them but for one."""
    of = network(factor)
    images = np.random.default_rng(6).integers(0, pixels + 1, (8, 10, 10))
    labels = of.logits(images / pixels).argmax(axis=1)
    labels[0] = (labels[0] + 1) % SHAPE.classes
    written = io.BytesIO()
    np.savez(written, images=images, labels=labels)
    suite.parent.joinpath("mine.npz").write_bytes(user_networks.packed(of))
    suite.parent.joinpath("pictures.npz").write_bytes(written.getvalue())


def experiment(**options):
    return {
        "kind": "inference",
        "variants": ["seal"],
        "workloads": ["digits"],
        "schemes": ["ckks"],
        "inputs_per_pass": [8],
        "options": {"network": ["mine.npz"], "images": ["pictures.npz"], "largest_pixel": [255]} | options,
    }


def test_a_network_of_ones_own_classifies_images_of_ones_own(ciphermark):
    """Logits up to some 3,000 need halvings: without them the case is unsupported, with the bound and the remedy.

    The recommended parameters leave errors of half the tolerance; these, of a 3000th. But for products of two errors,
    that of a logit is a sum of thousands of independent ones of encryption, rounding and key switching, each bounded or
    normal and small beside the sum, so sub-Gaussian. Were the largest one measured a single standard deviation, the
    tolerance would be 3000 of them, which is exceeded with a probability below exp(-10^6). Network and images are
    fixed: their classes differ by logits of eight tolerances at least, and are right where the logits are.
    """
    roomy = {"ring_dimension": [16384], "modulus_bits": [45, 40, 40, 40, 40, 40, 45], "scale_bits": 40}
    suite = ciphermark.suite(experiment(halvings=[0, 8]) | roomy, min_samples=2)
    planted(suite, factor=1000.0)
    ciphermark("run", str(suite))
    refused, done = sorted(ciphermark.outcomes(), key=lambda item: item["status"], reverse=True)
    assert (refused["status"], done["status"], done["error"]) == ("unsupported", "ok", None)
    assert "halve the last layer" in refused["error"]
    dimensions = done["trial"]["case"]["dimensions"]
    assert dimensions["network"].startswith("mine@")
    assert dimensions["images"].startswith("pictures@")
    results = {
        item["metric"]: item["value"]
        for item in done["samples"]
        if item["metric"] in ("agreement", "accuracy")
    }
    assert results["agreement"] == 1
    assert 0 < results["accuracy"] <= 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"largest_pixel": [100]}, "pictures.npz: pixels range from 0 to 255, but must lie in 0 to 100"),
        ({"network": ["other.onnx"]}, "other.onnx: it is no ONNX file that can be read"),
        ({"network": ["pictures.npz"]}, "pictures.npz: it lacks side, stride"),
        ({"network": ["absent.npz"]}, "absent.npz: there is no such file"),
        (
            {"images": [""]},
            "the network takes images of 10 × 10 pixels, and those that are shipped have 8 × 8",
        ),
    ],
)
def test_what_is_malformed_is_refused_before_any_work(ciphermark, options, complaint):
    suite = ciphermark.suite(experiment(**options))
    planted(suite)
    suite.parent.joinpath("other.onnx").write_bytes(b"none")
    for command in (("suite", "explain"), ("run",)):
        err = " ".join(ciphermark(*command, str(suite), code=2).err.split())
        assert complaint in err
    assert not (ciphermark.data_directory / "files").exists()
    assert not ciphermark.journals()
