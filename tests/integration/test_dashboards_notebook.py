"""The notebook in docs/ has the outputs of its reference run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "results" / "notebook.py"


@pytest.fixture
def script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("notebook_script", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_stored_outputs_are_those_of_the_reference_run(
    script: ModuleType, reference: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After a change that is meant, ``python docs/results/notebook.py`` writes them."""
    monkeypatch.setenv("CIPHERMARK_DATABASE_URL", "")  # restored afterwards
    stored = script.texts(nbformat.read(script.PATH, as_version=4))
    assert script.texts(script.executed(reference("quick"), tmp_path)) == stored
    assert stored.count("image/svg+xml") == 3
    assert "seal-hexl" in "\n".join(stored)
