"""The optional stage ``lattigo``: a clear reason without Go, and only a Go that is new enough is taken."""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).parents[2] / "setup"


@pytest.fixture
def lattigo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The recipe on a host whose only Go can be at ``tmp_path``."""
    monkeypatch.syspath_prepend(str(SETUP))
    import recipes

    recipe = recipes.load("lattigo")
    monkeypatch.setattr(recipe, "_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    return recipe


def _go(folder: Path, version: str) -> Path:
    program = folder / "go"
    program.write_text(f"#!/bin/sh\necho go version {version} linux/amd64\n")
    program.chmod(0o755)
    return program


def test_without_go_the_next_step_is_told(lattigo: ModuleType) -> None:
    from runner import FailureError, Shell

    (stage,) = lattigo.stages(())
    assert stage.is_optional
    assert list(stage.inputs())
    with pytest.raises(FailureError, match="there is no Go") as failure:
        lattigo.build(Shell(io.StringIO()))
    assert "install Go 1.24" in failure.value.advice


@pytest.mark.parametrize(("version", "is_taken"), [("go1.19.8", False), ("go1.24.4", True), ("go1.30", True)])
def test_a_go_is_taken_if_it_is_new_enough(
    lattigo: ModuleType, tmp_path: Path, version: str, is_taken: bool
) -> None:
    program = _go(tmp_path, version)
    assert lattigo.go() == (program if is_taken else None)
