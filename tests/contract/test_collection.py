"""What is collected is what is declared: no cell is lost by a mark."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import installed
import pytest

from ciphermark_contract.declaration import GENERATED, KEY_ITEMS, SEEDED_ITEMS, Declaration
from ciphermark_core.model import Scheme
from ciphermark_workloads.catalogue import WORKLOADS

from . import cells, harness

FOLDER = Path(__file__).parent
# Tests of what a library has, and the values that they must have for a variant in a scheme: told by the declaration.
DECLARED: Mapping[str, Callable[[Declaration, Scheme], Iterable[str]]] = {
    "test_operations.py::test_primitive": lambda declared, scheme: declared.operations[scheme],
    "test_operations.py::test_managed": lambda declared, scheme: declared.managed[scheme],
    "test_levels.py::test_level_scale_and_polynomials_are_those_of_the_table": (
        lambda declared, scheme: declared.operations[scheme]
    ),
    "test_repetition.py::test_a_chain_comes_out_right": (
        lambda declared, scheme: {"add", "sub", "negate", "mul", "square"} & {*declared.operations[scheme]}
    ),
    "test_operations.py::test_fractions_mean_nothing_in_exact_schemes": (
        lambda declared, scheme: {"add_scalar", "mul_scalar"} & {*declared.operations[scheme]}
    ),
    "test_serialization.py::test_keys": lambda declared, scheme: KEY_ITEMS,
    "test_serialization.py::test_what_is_seeded_is_smaller_and_right": lambda declared, scheme: SEEDED_ITEMS,
    "test_key_generation.py::test_what_is_declared_is_generated_and_nothing_else": (
        lambda declared, scheme: GENERATED
    ),
    "test_workloads.py::test_small": (
        lambda declared, scheme: [name for name, item in WORKLOADS.items() if item.family == "learning"]
    ),
}


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """The tests of the whole folder, without its path."""
    options = ["--collect-only", "-q", "-m", "", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(FOLDER), *options],
        cwd=FOLDER.parents[1],
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    lines = (line for line in done.stdout.splitlines() if "::" in line)
    return {line.removeprefix("tests/contract/") for line in lines}


def test_every_cell_that_is_declared_is_collected_and_no_other(collected: set[str]) -> None:
    known = harness.registry.declarations().values()
    for declaration in known:
        is_installed = installed.absence(declaration.variant) is None
        for scheme in declaration.schemes:
            for test, values in DECLARED.items():
                prefix = f"{test}[{declaration.variant}-{scheme}-"
                is_executed = is_installed and cells.executes(test.partition("::")[0], declaration, known)
                present = {item[len(prefix) : -1] for item in collected if item.startswith(prefix)}
                assert present == ({*values(declaration, scheme)} if is_executed else set()), prefix


def test_a_second_build_executes_what_its_kernels_compute() -> None:
    known = harness.registry.declarations()
    files = {file.name for file in FOLDER.glob("test_*.py")}
    assert {*cells.KERNELS} <= files
    executed = {
        name: {file for file in files if cells.executes(file, item, known.values())}
        for name, item in known.items()
    }
    assert executed.pop("seal-hexl") == {*cells.KERNELS}
    assert all(every == files for every in executed.values())


def test_no_test_is_lost(collected: set[str]) -> None:
    """Each is there for one variant at least, but for those of libraries that are not installed."""
    absent = [name for name in harness.registry.declarations() if installed.absence(name) is not None]
    if "seal" in absent:
        pytest.skip(f"many tests are about seal alone: {installed.absence('seal')}")
    lost = {*_defined()} - {test.partition("[")[0] for test in collected}
    assert {test for test in lost if not any(test.startswith(f"test_{name}") for name in absent)} == set()


def _defined() -> Iterator[str]:
    for file in FOLDER.glob("test_*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield f"{file.name}::{node.name}"
