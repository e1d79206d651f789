"""The command ``validate-model``: what it refuses before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Ciphermark

SUITE = """
name: one
experiments:
  - kind: micro
    variants: [seal]
    workloads: [matrix-product]
    options: {side: [2]}
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "one.yaml"
    path.write_text(SUITE)
    return str(path)


def test_without_a_cost_table_it_names_the_command_that_makes_one(
    url: str, tmp_path: Path, suite: str
) -> None:
    refused = Ciphermark(tmp_path / "data", url)("validate-model", suite, "--freeze", code=2)
    assert "no cost table on this host: ciphermark calibrate --variant seal" in " ".join(refused.err.split())


def test_another_form_of_output_is_refused(url: str, tmp_path: Path, suite: str) -> None:
    refused = Ciphermark(tmp_path / "data", url)("validate-model", suite, "-o", "errors.csv", code=2)
    assert "a validation is written as .md, .tex or .txt" in " ".join(refused.err.split())
