"""``ciphermark program``: nodes, pictures and counts of a workload's programs, without measuring anything."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from command import Ciphermark

from ciphermark_workloads import user_workloads

LIBRARY = ("--variant", "cleartext")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """These commands need no database: the one named here does not exist."""
    folder = tmp_path_factory.mktemp("bare")
    return Ciphermark(folder / "data", f"postgresql:///none?host={folder}")


def test_counts_add_up_to_the_nodes_that_are_shown(bare):
    shown = bare("program", "show", "lmc-encrypted", "--scheme", "bfv", *LIBRARY).out
    counted = json.loads(
        bare("program", "counts", "lmc-encrypted", "--scheme", "bfv", "--format", "json", *LIBRARY).out
    )
    assert list(counted) == ["train", "infer"]
    facts = [line.split() for line in shown.splitlines()]
    nodes = [int(words[1]) for words in facts if words[:1] == ["nodes"] and len(words) == 2]
    assert nodes == [sum(row["count"] for row in rows) for rows in counted.values()]
    assert {"operation", "level", "count"} == set(counted["infer"][0])
    assert shown.count("return ") == 2


def test_one_stage_and_options_of_the_workload(bare):
    half = bare("program", "counts", "lmc-plain", "test_share=0.5", "--stage", "infer", *LIBRARY)
    assert "mul_plain" in half.out


def test_a_file_has_programs_and_layers_too(bare, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(user_workloads.template())
    counted = json.loads(bare("program", "counts", str(path), "length=4", "--format", "json", *LIBRARY).out)
    assert {row["operation"]: row["count"] for row in counted["compute"]}["rotate"] == 2
    layers = (
        "workload",
        "layers",
        str(path),
        "length=4",
        "--passes",
        "1",
        "--inputs",
        "1",
        "--format",
        "json",
    )
    (layer,) = json.loads(bare(*layers, *LIBRARY).out)["layers"]
    assert layer["name"] == "compute"
    assert sum(layer["operations"].values()) == sum(row["count"] for row in counted["compute"])
    picture = bare("program", "draw", str(path), "-o", str(tmp_path), *LIBRARY).out.strip()
    assert picture == str(tmp_path / "mine-compute.svg")


@pytest.mark.parametrize("command", [("program", "counts"), ("workload", "layers")])
def test_what_a_file_does_wrong_is_told_with_its_place(bare, tmp_path, command):
    text = user_workloads.template()
    old = 'evaluator.managed().apply("mul_plain", inputs[0], weights)'
    (tmp_path / "mine.py").write_text(text.replace(old, "inputs[1]"))
    line = 1 + text[: text.index(old)].count("\n")
    told = bare(*command, str(tmp_path / "mine.py"), *LIBRARY, code=2).err
    assert f"mine.py:{line}, in circuit: IndexError" in told


def test_a_picture_for_each_stage(bare, tmp_path):
    done = bare("program", "draw", "lmc-encrypted", "--scheme", "ckks", "-o", str(tmp_path), *LIBRARY)
    paths = done.out.split()
    assert [path.rpartition("/")[2] for path in paths] == [
        "lmc-encrypted-train.svg",
        "lmc-encrypted-infer.svg",
    ]
    for path in paths:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lmc-encrypte"], "did you mean 'lmc-encrypted'"),
        (["lmc-encrypted", "--stage", "trian"], "no stage 'trian'; stages: train, infer"),
        (["lmc-encrypted", "wide"], "write workload options as OPTION=VALUE"),
        (["lmc-encrypted", "wide=1"], "has no option 'wide'"),
        (["lr-k3-encrypted", "--scheme", "bfv"], "no program of lr-k3-encrypted for cleartext in bfv"),
        (["lmc-encrypted", "--variant", "sael"], "unknown variant 'sael'"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_mistakes_are_told(bare, arguments, told):
    library = () if "--variant" in arguments else LIBRARY
    assert told in bare("program", "counts", *arguments, *library, code=2).err


def test_a_folder_that_is_not_there_is_told(bare, tmp_path):
    folder = tmp_path / "none"
    done = bare("program", "draw", "lmc-plain", "-o", str(folder), *LIBRARY, code=2)
    assert "cannot write" in done.err
