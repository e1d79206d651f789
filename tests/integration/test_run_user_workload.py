"""Workloads of the user's own in runs: named by their files, kept with the run, and told when they are wrong."""

from __future__ import annotations

import json

import pytest
from command import Ciphermark

from ciphermark_workloads import user_workloads

PRODUCTS = '        products = evaluator.managed().apply("mul_plain", inputs[0], weights)\n'
KIND = {"kind": "own", "variants": ["cleartext", "seal"], "security": 128}


@pytest.fixture
def ciphermark(tmp_path, new_url):
    return Ciphermark(tmp_path / "home", new_url())


def written(folder, name, old="", new=""):
    """The template as a file, with some of it otherwise, under a name of its own."""
    text = user_workloads.template().replace('name = "inner-product"', f'name = "{name}"')
    assert old in text
    (folder / f"{name}.py").write_text(text.replace(old, new) if old else text)
    return f"./{name}.py"


def test_a_workload_in_a_file_is_measured_with_its_options(ciphermark, tmp_path):
    text = written(tmp_path, "mine")
    suite = ciphermark.suite(KIND | {"workloads": [f"{text}:InnerProduct"], "options": {"length": [4, 8]}})
    ciphermark("run", str(suite))
    outcomes = ciphermark.outcomes()
    assert [(item["status"], item["error"]) for item in outcomes] == [("ok", None)] * 4
    names = {item["trial"]["case"]["operation"] for item in outcomes}
    (name,) = names
    assert name.startswith("mine@")
    assert {item["trial"]["case"]["dimensions"]["length"] for item in outcomes} == {4, 8}
    assert (ciphermark.home / "workloads" / f"{name}.py").is_file()


def test_what_a_workload_does_wrong_is_recorded_and_the_run_goes_on(ciphermark, tmp_path):
    workloads = [
        written(tmp_path, "raises", PRODUCTS, "        products = inputs[1]\n"),
        # It waits rather than computes: planning and the run give it most of a minute.
        written(tmp_path, "loops", PRODUCTS, "        while True: __import__('time').sleep(60)\n"),
        written(tmp_path, "wrong", "return outputs[0][:1]", "return 2 * outputs[0][:1]"),
        written(tmp_path, "shape", "return outputs[0][:1]", "return outputs[0][:3]"),
        written(tmp_path, "deep", "(60, 40, 60)", "(60, 60)"),
        written(tmp_path, "right"),
    ]
    suite = ciphermark.suite(KIND | {"variants": ["seal"], "workloads": workloads}, timeout_s=40)
    ciphermark("run", str(suite), code=None)
    outcomes = {item["trial"]["case"]["operation"].partition("@")[0]: item for item in ciphermark.outcomes()}
    found = {name: (item["status"], item["error"]) for name, item in outcomes.items()}
    assert {name: status for name, (status, _) in found.items()} == {
        "raises": "crashed",
        "loops": "timed_out",
        "wrong": "wrong",
        "shape": "wrong",
        "deep": "unsupported",
        "right": "ok",
    }
    line = 1 + user_workloads.template()[: user_workloads.template().index(PRODUCTS)].count("\n")
    assert f".py:{line}, in circuit" in found["raises"][1]
    (name,) = (item.name for item in (ciphermark.home / "workloads").glob("loops@*.py"))
    assert found["loops"][1].startswith(f"{name}:{line}, in circuit: the trial took longer than the 40 s")
    assert f"deep.py:{line}, in circuit: " in found["deep"][1]
    assert "which has 0 levels: it needs a depth of 1" in found["deep"][1]
    deep = outcomes["deep"]
    assert (deep["samples"], deep["duration_s"], deep["library"]) == ([], 0.0, None)  # nothing was started
    told = json.loads(ciphermark("suite", "explain", str(suite), "--format", "json").out)
    skipped = {case["operation"].partition("@")[0]: case["skipped"] for case in told["cases"]}
    assert skipped == {name: found["deep"][1] if name == "deep" else None for name in found}
    assert "the output has 3 values, and 1 were expected" in found["shape"][1]


def test_a_file_that_is_no_workload_is_refused_before_anything_runs(ciphermark, tmp_path):
    written(tmp_path, "broken", "class Options(", "class Options)")
    told = ciphermark(
        "suite", "explain", str(ciphermark.suite(KIND | {"workloads": ["./broken.py"]})), code=2
    )
    assert "broken.py:18: SyntaxError" in told.err
    told = ciphermark(
        "suite", "explain", str(ciphermark.suite(KIND | {"workloads": ["./absent.py"]})), code=2
    )
    assert "there is no such file" in told.err
