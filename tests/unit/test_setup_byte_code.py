"""Setup compiles our packages, so that no process has to where byte code is not written."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "setup"))
import environment
from places import PYTHON
from runner import FailureError, Shell


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one module of the one package of a repository."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    package = tmp_path / "libs" / "mine"
    (package / "mine").mkdir(parents=True)
    (package / "pyproject.toml").write_text('[project]\nname = "mine"\n')
    module = package / "mine" / "module.py"
    module.write_text("ANSWER = 42\n")
    return module


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with (tmp_path / "log").open("w") as log:
        yield Shell(log)


def test_every_source_has_byte_code_afterwards(source: Path, shell: Shell) -> None:
    assert not environment.has_byte_code()
    environment.compile_our_packages(shell)
    assert environment.has_byte_code()
    (source.parent / "another.py").write_text("")
    assert not environment.has_byte_code()


def test_it_is_what_an_interpreter_reads(source: Path, shell: Shell) -> None:
    """One that writes none itself, as where PYTHONDONTWRITEBYTECODE is set."""
    environment.compile_our_packages(shell)
    command = [PYTHON, "-B", "-v", "-c", "import module"]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(source.parent)}, capture_output=True, text=True, check=True
    )
    assert f"code object from '{importlib.util.cache_from_source(str(source))}'" in done.stderr


def test_a_changed_source_is_compiled_again(source: Path) -> None:
    before = environment.byte_code_inputs()
    source.write_text("ANSWER = 43\n")
    assert environment.byte_code_inputs() != before


def test_what_does_not_compile_is_told(source: Path, shell: Shell) -> None:
    source.write_text("ANSWER = (\n")
    with pytest.raises(FailureError) as told:
        environment.compile_our_packages(shell)
    assert "everything works without" in told.value.advice
