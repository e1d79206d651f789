"""The command ``advise`` on a computation in a file, from costs that a small run measured here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Ciphermark
from processes import PATIENCE_OF_RUNS_S

from ciphermark import advise
from ciphermark_benchmark.suite import files

FILE = """
import numpy as np

from ciphermark_core.model import ParameterSpec
from ciphermark_workloads.workload import Workload


class Squares(Workload):
    name, title, schemes = "squares", "squares of 64 numbers", ("ckks",)

    def parameters(self, scheme):
        return ParameterSpec("ckks", 4096, (36, 33, 36), scale_bits=33)

    def input(self, seed, data):
        return np.random.default_rng(seed).uniform(-1, 1, 64)

    def vectors(self, stage, given, parameters):
        return [given]

    def circuit(self, stage, evaluator, inputs, state, public):
        return [evaluator.managed().apply("square", inputs[0])]

    def output(self, outputs, given, parameters):
        return outputs[0][:64]

    def reference(self, given):
        return given**2
"""
COSTS: dict[str, Any] = {
    "kind": "arithmetic",
    "variants": ["seal"],
    "schemes": ["ckks"],
    "ring_dimension": [4096],
    "modulus_bits": [36, 33, 36],
    "scale_bits": 33,
    "operations": ["square", "relinearize", "rescale"],
    "levels": "all",
    "residency": ["cached", "streamed"],
}


@pytest.fixture(scope="module")
def ciphermark(tmp_path_factory: pytest.TempPathFactory, new_url: Any) -> Ciphermark:
    made = Ciphermark(tmp_path_factory.mktemp("advise") / "data", new_url())
    kinds = {
        name: COSTS[name] for name in ("variants", "schemes", "ring_dimension", "modulus_bits", "scale_bits")
    }
    costs = made.suite(COSTS, {"kind": "serialization", **kinds}, name="costs")
    made("run", str(costs), timeout_s=PATIENCE_OF_RUNS_S)
    return made


@pytest.fixture(scope="module")
def file(ciphermark: Ciphermark) -> Path:
    path = ciphermark.data_directory.parent / "mine.py"
    path.write_text(FILE)
    return path


def test_advice_states_the_point_the_reason_and_what_is_left_out(ciphermark: Ciphermark, file: Path) -> None:
    out = ciphermark("advise", str(file), "--variant", "seal", "--threads", "1").out
    assert "Take seal, CKKS, N = 4096, 1 thread: " in out
    assert "Left out: " in out
    assert "not covered by the cost table" in out


def test_advice_names_variants_without_costs(ciphermark: Ciphermark, file: Path) -> None:
    out = ciphermark("advise", str(file), "--variant", "seal", "--variant", "pyfhel").out
    assert "Not compared, for lack of costs: pyfhel" in " ".join(out.split())


def test_a_point_is_a_suite_that_measures_it(ciphermark: Ciphermark, file: Path) -> None:
    suite = file.with_name("point.yaml")
    ciphermark("advise", str(file), "--variant", "seal", "--threads", "1", "-o", str(suite))
    assert f"workloads: [{file}]" in suite.read_text()
    done = ciphermark("suite", "explain", str(suite))
    assert "0 unsupported" in done.out


def test_programs_get_everything(ciphermark: Ciphermark, file: Path) -> None:
    limits = file.with_name("limits.yaml")
    limits.write_text("latency: 1h\nlibraries: [seal]\nthreads: 1\n")
    answer = json.loads(ciphermark("advise", str(file), "--limits", str(limits), "--format", "json").out)
    (point,) = answer["points"]
    own = answer["candidates"][point["index"]]
    assert own["costs"]["latency_s"]["low"] < own["costs"]["latency_s"]["value"]
    assert own["costs"]["operations_s"].keys() == {"square", "relinearize", "rescale"}
    assert 0 < own["costs"]["error"]["low"] < own["costs"]["error"]["high"] < 1e-3
    assert answer["limits"]["latency"] == 3600
    assert answer["limits"]["error"] == 1e-3, "the tolerance of the workload"
    assert len(answer["candidates"]) == 1 + len(answer["left_out"])
    assert files.plain(point["suite"], "suite")["experiments"][0]["variants"] == ["seal"]


def test_limits_that_nothing_meets_end_with_code_1_and_the_nearest_misses(
    ciphermark: Ciphermark, file: Path
) -> None:
    out = ciphermark("advise", str(file), "--variant", "seal", "--latency", "1ns", code=1).out
    assert "No candidate meets all limits" in out
    assert "limit 1.00 ns" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--latency", "soon"), "write a number with a unit"),
        (("--variant", "sael"), "unknown variant 'sael'"),
        (("--price", "1"), "core_hour"),
        (("--format", "docx"), "advice is available as"),
    ],
)
def test_mistakes_are_told(
    ciphermark: Ciphermark, file: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in ciphermark("advise", str(file), *arguments, code=2).err


def test_a_workload_without_a_cost_table_names_the_calibration(ciphermark: Ciphermark) -> None:
    out = ciphermark("advise", "sign", "--variant", "tenseal", code=1).out
    assert "ciphermark calibrate --variant tenseal" in " ".join(out.split())


def test_python_gets_data_frames(ciphermark: Ciphermark, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIPHERMARK_DATA", str(ciphermark.data_directory))
    monkeypatch.setenv("CIPHERMARK_DATABASE_URL", str(ciphermark.database_url))
    given = advise(file, latency="1h", libraries=["seal"], threads=1)
    assert given.finding.startswith("Take seal, CKKS, N = 4096, 1 thread")
    assert given.points["variant"].to_list() == ["seal"]
    assert given.left_out["why_not"].all()
    assert "variants: [seal]" in given.suite()
    assert given.verified.empty
    assert "| seal |" in given._repr_markdown_()


@pytest.mark.extended
def test_verified_points_are_measured(ciphermark: Ciphermark, file: Path) -> None:
    done = ciphermark(
        "advise",
        str(file),
        "--variant",
        "seal",
        "--threads",
        "1",
        "--verify",
        "1",
        timeout_s=PATIENCE_OF_RUNS_S,
    )
    assert "Predicted and measured" in done.out
    for cost in ("evaluation", "upload", "download", "server memory"):
        assert cost in done.out
