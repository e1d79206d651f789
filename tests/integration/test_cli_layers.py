"""``ciphermark workload layers``: each layer's operations, bytes and errors, and what has none."""

from __future__ import annotations

import json

import pytest
from command import Ciphermark

NAMES = ["convolution", "first square", "dense", "second square", "last"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """These commands need no database: the one named here does not exist."""
    folder = tmp_path_factory.mktemp("bare")
    return Ciphermark(folder / "data", f"postgresql:///none?host={folder}")


def asked(bare, *arguments, inputs=2):
    return bare("workload", "layers", *arguments, "--passes", "2", "--inputs", str(inputs))


@pytest.mark.parametrize("name", ["digits", "digits-encrypted"])
def test_layers_add_up_to_the_program_and_are_exact_in_the_clear(bare, name):
    found = json.loads(asked(bare, name, "--variant", "cleartext", "--format", "json").out)
    assert [layer["name"] for layer in found["layers"]] == NAMES
    assert [(layer["level"], layer["end_level"]) for layer in found["layers"]] == [
        (level, level - 1) for level in (5, 4, 3, 2, 1)
    ]
    counted = json.loads(
        bare("program", "counts", name, "--variant", "cleartext", "--stage", "infer", "--format", "json").out
    )
    of_layers = sum(sum(layer["operations"].values()) for layer in found["layers"])
    assert of_layers == sum(row["count"] for row in counted["infer"])
    # Floating point on both sides, in the same order: no difference at all.
    assert [layer["error"] for layer in found["layers"]] == [0.0] * 5
    assert (found["passes"], found["inputs"], found["right"]) == (2, 2, 2)


def test_under_encryption_each_layer_is_close_to_the_clear(bare):
    """Slots are off by thousandths of the largest value: 1/20 is more than fifteen standard deviations, in 4,096 slots
    of five layers and two images; a layer on wrong operands is off by all of it.
    """
    found = json.loads(asked(bare, "digits", "--variant", "seal", "--format", "json").out)
    assert found["right"] == 2
    for layer in found["layers"]:
        assert 0 < layer["error"] < layer["largest"] / 20, layer
    assert min(layer["seconds"] for layer in found["layers"]) > 0


def test_the_table_has_a_row_for_each_layer(bare):
    told = asked(bare, "digits", "--variant", "cleartext").out
    for name in NAMES:
        assert name in told
    assert "Correct: 2 of 2 inputs" in " ".join(told.split())
    assert "Medians of 2 passes" in " ".join(told.split())


COLUMNS, GRID = ["products", "rotations"], ["expansion", "first dimension", "second dimension"]


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (["fast-pir", "elements=3000", "element_bytes=32"], COLUMNS),
        (["mul-pir", "elements=3000", "element_bytes=32"], GRID),
        *(
            pytest.param(*more, marks=pytest.mark.extended)
            for more in (
                (["batch-pir", "elements=500", "element_bytes=8", "wanted=16"], COLUMNS),
                (["keyword-pir", "records=300", "value_bytes=8"], COLUMNS),
                (["seal-pir", "elements=3000", "element_bytes=32"], GRID),
            )
        ),
    ],
    ids=lambda value: value[0],
)
def test_parts_of_an_answer_are_its_program_and_answer_right(bare, settings, names):
    told = asked(bare, *settings, "--variant", "seal", "--format", "json").out
    found = json.loads(told)
    assert [layer["name"] for layer in found["layers"]] == names
    counted = json.loads(
        bare("program", "counts", *settings, "--variant", "seal", "--scheme", "bfv", "--format", "json").out
    )
    of_layers = sum(sum(layer["operations"].values()) for layer in found["layers"])
    assert of_layers == sum(row["count"] for row in counted["answer"])
    # What is multiplied by words of a ciphertext depends on its noise: nothing tells what would be right.
    unknown = [any(name == "mul_word" for name in layer["operations"]) for layer in found["layers"]]
    assert [layer["error"] for layer in found["layers"]] == [None if item else 0.0 for item in unknown]
    assert (found["inputs"], found["right"]) == (2, 2)


def test_a_workload_without_layers_of_its_own_is_one(bare):
    found = json.loads(asked(bare, "lmc-plain", "--variant", "cleartext", "--format", "json", inputs=1).out)
    assert [layer["name"] for layer in found["layers"]] == ["infer"]
    assert found["right"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["digit"], "unknown workload 'digit'; did you mean 'digits'"),
        (["digits", "wide=1"], "has no option 'wide'"),
        (["digits", "--variant", "sael"], "unknown variant 'sael'"),
        (
            ["digits", "--variant", "tenseal"],
            "digits has no layers with tenseal in ckks: TenSEAL's vectors offer sums and matrix products",
        ),
        (["digits", "--scheme", "bgv"], "digits is made for ckks, bfv, not bgv"),
        (["lmc-plain", "--variant", "cleartext"], "each input gives the server different public data"),
    ],
    ids=" ".join,
)
def test_what_has_no_layers_says_why(bare, arguments, told):
    done = bare("workload", "layers", *arguments, code=2)
    assert told in " ".join(done.err.split())
