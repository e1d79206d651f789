"""Workloads of the user's own in runs: named by their files, kept with the run, and told when they are wrong."""

from __future__ import annotations

import json

import psutil
import pytest
from command import Ciphermark

from ciphermark_workloads import user_workloads

PRODUCTS = '        products = evaluator.managed().apply("mul_plain", inputs[0], weights)\n'
KIND = {"kind": "own", "variants": ["seal"], "security": 128}


@pytest.fixture
def ciphermark(tmp_path, new_url):
    return Ciphermark(tmp_path / "data", new_url())


def written(folder, name, old="", new=""):
    """The template as a file, with some of it otherwise, under a name of its own."""
    text = user_workloads.template().replace('name = "inner-product"', f'name = "{name}"')
    assert old in text
    (folder / f"{name}.py").write_text(text.replace(old, new) if old else text)
    return f"./{name}.py"


def test_workloads_in_files_are_measured_and_what_one_does_wrong_is_recorded(ciphermark, tmp_path):
    workloads = [
        written(tmp_path, "raises", PRODUCTS, "        products = inputs[1]\n"),
        # It waits rather than computes.
        written(tmp_path, "loops", PRODUCTS, "        while True: __import__('time').sleep(60)\n"),
        written(tmp_path, "incorrect", "return outputs[0][:1]", "return outputs[0][:3]"),
        written(tmp_path, "deep", "(60, 40, 60)", "(60, 60)"),
    ]
    right = {"workloads": [f"{written(tmp_path, 'right')}:InnerProduct"], "options": {"length": [4, 8]}}
    suite = ciphermark.suite(KIND | {"workloads": workloads}, KIND | right, timeout_s=60)
    ciphermark("run", str(suite), code=None)
    found = {}
    for item in ciphermark.outcomes():
        case = item["trial"]["case"]
        place = case["operation"].partition("@")[0]
        if place == "right":
            assert (ciphermark.data_directory / "workloads" / f"{case['operation']}.py").is_file()
            place += f" {case['dimensions']['length']}"
        found[place] = item
    assert {name: item["status"] for name, item in found.items()} == {
        "raises": "crashed",
        "loops": "timeout",
        "incorrect": "incorrect",
        "deep": "unsupported",
        "right 4": "ok",
        "right 8": "ok",
    }
    errors = {name: item["error"] for name, item in found.items()}
    line = 1 + user_workloads.template()[: user_workloads.template().index(PRODUCTS)].count("\n")
    assert f".py:{line}, in circuit" in errors["raises"]
    (name,) = (item.name for item in (ciphermark.data_directory / "workloads").glob("loops@*.py"))
    assert errors["loops"].startswith(f"{name}:{line}, in circuit: the trial took longer than the 60 s")
    assert f"deep.py:{line}, in circuit: " in errors["deep"]
    assert "which has 0 levels: it needs a depth of 1" in errors["deep"]
    deep = found["deep"]
    assert (deep["samples"], deep["duration_s"], deep["library"]) == ([], 0.0, None)  # nothing was started
    told = json.loads(ciphermark("suite", "explain", str(suite), "--format", "json").out)
    assert [case["skipped"] for case in told["cases"] if case["skipped"]] == [errors["deep"]]
    assert "the output has 3 values, and 1 were expected" in errors["incorrect"]
    sizes = {
        (item["stage"], item["step"]) for item in found["right 4"]["samples"] if item["metric"] == "size"
    }
    assert ("compute", "returned") in sizes
    sent = next(
        item["value"]
        for item in found["right 4"]["samples"]
        if item["metric"] == "size" and item["step"] is None and item["stage"] == "compute"
    )
    assert sent < 2 * 8 * 8192 + 1024  # two primes, and a seed in the place of the other half
    assert found["right 4"]["parameters"]["encryption"] == "secret key"
    largest = [item["value"] for item in found["right 4"]["samples"] if item["metric"] == "max_error"]
    # Errors of encryption and of rotations have a standard deviation of 3.2 per coefficient, so of 3.2 √8192 / 2^40,
    # 3e-10, in a slot, and a few times that in the sum: 1e-3 is 10^5 deviations away. Doubles are 1e-16 apart there, so
    # that an error is 0 with a probability of about 1e-6, and all three are with one of 1e-18.
    assert len(largest) >= 3
    assert 0 < max(largest) < 1e-3
    assert found["right 4"]["accuracy"]["max_abs_error"] in largest
    for form in ((), ("--details",)):
        printed = ciphermark("results", *form).out
        assert "largest error" in printed
        assert "size, returned" in printed


def test_a_party_is_ended_with_what_it_started_and_shared_memory_counts(ciphermark, tmp_path):
    """Daemons, too, and where it crashes; and a shared mapping, which no limit of one process counts."""
    output = "        return outputs[0][:1]\n"
    starts = f"""        import subprocess
        process = subprocess.Popen(["sleep", "600"], start_new_session=True)
        open({str(tmp_path / "started")!r}, "a").write(f"{{process.pid}}\\n")
"""
    takes = """        import mmap, time
        held = mmap.mmap(-1, 1 << 30)
        for _ in range(1 << 10):
            held.write(bytes(1 << 20))
        time.sleep(60)
"""
    crashes = f"{starts}        import os\n        os.kill(os.getpid(), 11)\n"
    workloads = [
        written(tmp_path, "starts", output, starts + output),
        written(tmp_path, "crashes", output, crashes + output),
        written(tmp_path, "takes", output, takes + output),
    ]
    ciphermark("run", str(ciphermark.suite(KIND | {"workloads": workloads}, memory_mb=900)), code=None)
    outcomes = {item["trial"]["case"]["operation"].partition("@")[0]: item for item in ciphermark.outcomes()}
    assert outcomes["starts"]["status"] == "ok"
    assert outcomes["crashes"]["status"] == "crashed"
    assert "SIGSEGV" in outcomes["crashes"]["error"]
    started = [int(line) for line in (tmp_path / "started").read_text().splitlines()]
    assert started
    assert [pid for pid in started if psutil.pid_exists(pid)] == []
    assert outcomes["takes"]["status"] == "out_of_memory"
    assert "shared memory included" in outcomes["takes"]["error"]


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


def test_a_computation_is_measured_by_its_file_and_its_choices_are_shown(ciphermark, tmp_path):
    text = user_workloads.computation_template().replace("4096", "64")
    (tmp_path / "mine.py").write_text(text)
    done = ciphermark("run", str(tmp_path / "mine.py:horner"), "--variant", "seal")
    assert "modulus chain" in done.out
    assert "horner@" in done.out
    (outcome,) = ciphermark.outcomes()
    assert outcome["status"] == "ok"
    assert outcome["accuracy"]["max_abs_error"] < 1e-3
    ciphermark("run", str(tmp_path / "mine.py"), "--variant", "helib-of-nowhere", code=2)
