"""CONTRIBUTING's recipe for an operation, on a copy: a row of the table, and one file of the adapter that has it.

One operation is plain. The other has keys of its own, an operand below the top, an effect on the level and a noise
model.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ciphermark_adapters.registry import declaration

REPOSITORY = Path(__file__).parents[2]
PACKAGES = (
    REPOSITORY / "libs/contract/ciphermark_contract",
    REPOSITORY / "libs/adapters/ciphermark_adapters",
)
SUITE = """
name: doubling
budget: {min_samples: 6, min_time_s: 0.01}
experiments:
  - kind: arithmetic
    variants: [cleartext, seal]
    schemes: [bfv, ckks]
    ring_dimension: [4096]
    operations: [double, turn_down]
"""


def _written(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert text.count(before) == 1, f"{before!r} is not once in {file.name}"
    file.write_text(text.replace(before, after))


def _touched(copies: Path) -> list[str]:
    """Files of the copies that differ from ours, or that are new."""
    ours = {package.name: package for package in PACKAGES}
    places = {file: file.relative_to(copies) for file in copies.rglob("*.py")}
    return sorted(
        str(place)
        for file, place in places.items()
        if not (original := ours[place.parts[0]].parent / place).exists()
        or not filecmp.cmp(file, original, shallow=False)
    )


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__", "native", "native_common")
        shutil.copytree(package, folder / package.name, ignore=ignored)
    _written(
        folder / "ciphermark_contract/operations/table.py",
        "_ROWS = (\n",
        "_ROWS = (\n"
        '    Operation("double", "Twice a ciphertext.", _ONE, lambda ring, a: meaning.total(ring, a, a),\n'
        '              absence="doubles nothing in one call"),\n'
        '    Operation("turn_down", "A ciphertext of level 1 turned by 1 step, at level 0.", _ONE,\n'
        "              lambda ring, a: meaning.rotated(ring, a, 1),\n"
        "              lambda parameters, a: shapes.switched(parameters, shapes.turned(parameters, a)),\n"
        '              schemes=("ckks",), not_in="bfv has no level to leave",\n'
        '              absence="turns nothing down", keys=lambda: keys_of_steps(1),\n'
        "              operand_level=lambda parameters: 1,\n"
        "              error=lambda parameters, n: 2 * noise_bound.one_operation(parameters, n)),\n",
    )
    seal = folder / "ciphermark_adapters/seal/declaration.py"
    _written(seal, '"relinearize", "mod_switch",', '"double", "relinearize", "mod_switch",')
    _written(seal, '(*_COMMON, "rescale",', '(*_COMMON, "turn_down", "rescale",')
    _written(
        seal,
        "        composite=_COMPOSITE,\n",
        '        calls={"double": lambda evaluator: lambda a: evaluator.apply("add", a, a),\n'
        '               "turn_down": lambda evaluator: lambda a: evaluator.apply(\n'
        '                   "mod_switch", evaluator.apply("rotate", a, 1))},\n'
        "        composite=_COMPOSITE,\n",
    )
    return folder


def _executed(copies: Path, data_directory: Path, *command: str) -> str:
    theirs = ("CIPHERMARK_ADAPTER_PATH", "CIPHERMARK_DATABASE_URL", "PYTEST_ADDOPTS")
    kept = {name: value for name, value in os.environ.items() if name not in theirs}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=REPOSITORY,
        env={**kept, "PYTHONPATH": str(copies), "CIPHERMARK_DATA": str(data_directory), "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1100,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def test_one_file_for_the_operation_and_one_for_the_adapter_that_has_it(copies: Path) -> None:
    assert _touched(copies) == [
        "ciphermark_adapters/seal/declaration.py",
        "ciphermark_contract/operations/table.py",
    ]


def test_an_operation_of_seal_is_one_kernel_and_its_name_in_the_declaration() -> None:
    native = PACKAGES[1] / "seal/native"
    kernels = set(re.findall(r'^    \{ "(\w+)", \{', (native / "kernels.cpp").read_text(), re.MULTILINE))
    declared = {name for names in declaration("seal").operations.values() for name in names}
    of_plaintexts = {"encode", "encode_coefficients", "transform_plain"}
    assert kernels == declared - of_plaintexts - {*declaration("seal").calls}
    elsewhere = {
        (file.name, name)
        for file in sorted(native.iterdir())
        for name in re.findall(r'"(\w+)"', file.read_text())
        if name in kernels and file.name != "kernels.cpp"
    }
    assert elsewhere == set()


@pytest.mark.extended
@pytest.mark.variants("seal")
def test_the_contract_suite_covers_it(variant: str, copies: Path, tmp_path: Path) -> None:
    variants = [word for name in ("cleartext", variant, "tenseal") for word in ("--variant", name)]
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        f"--basetemp={tmp_path / 'pytest'}",
        "-k",
        "double or turn_down or not_declared",
    )
    printed = _executed(copies, tmp_path, "pytest", "tests/contract", *variants, *options)
    assert "passed" in printed.splitlines()[-1]


@pytest.mark.extended
@pytest.mark.variants("seal")
def test_a_suite_measures_it(variant: str, copies: Path, tmp_path: Path) -> None:
    suite, outcomes, data_directory = (
        tmp_path / "doubling.yaml",
        tmp_path / "outcomes.jsonl",
        tmp_path / "data",
    )
    suite.write_text(SUITE)
    try:
        _executed(
            copies,
            data_directory,
            "ciphermark_benchmark.cli.main",
            "run",
            str(suite),
            "--json",
            str(outcomes),
        )
    finally:
        _executed(copies, data_directory, "ciphermark_benchmark.cli.main", "db", "stop")
    found = [json.loads(line) for line in outcomes.read_text().splitlines()]
    cases = [outcome["trial"]["case"] for outcome in found]
    statuses = Counter(
        (case["operation"], case["parameters"]["scheme"], outcome["status"])
        for case, outcome in zip(cases, found, strict=True)
    )
    assert statuses == {
        ("double", "bfv", "ok"): 2,
        ("double", "ckks", "ok"): 2,
        ("turn_down", "ckks", "ok"): 2,
        ("turn_down", "bfv", "unsupported"): 2,
    }
