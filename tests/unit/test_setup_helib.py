"""The optional stage ``native-helib``: there where an HElib is, and a clear reason where the named one is not."""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).resolve().parents[2] / "setup"


@pytest.fixture
def helib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The recipe on a machine without HElib in standard places."""
    monkeypatch.syspath_prepend(str(SETUP))
    import recipes

    helib = recipes.load("helib")
    monkeypatch.setattr(helib.installation, "_STANDARD", (str(tmp_path / "usr"),))
    monkeypatch.delenv("HELIB_ROOT", raising=False)
    return helib


def _install(prefix: Path) -> None:
    config = prefix / "share" / "cmake" / "helib" / "helibConfig.cmake"
    config.parent.mkdir(parents=True)
    config.write_text("# HElib")


def _stages() -> dict[str, bool]:
    from stages import all_stages

    return {stage.name: stage.is_optional for stage in all_stages()}


def test_without_helib_there_is_no_stage(helib: ModuleType) -> None:
    assert "native-helib" not in _stages()


def test_an_helib_in_a_standard_place_is_found(helib: ModuleType, tmp_path: Path) -> None:
    _install(tmp_path / "usr")
    assert _stages()["native-helib"]


def test_a_named_helib_comes_first(
    helib: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path / "usr")
    _install(tmp_path / "mine")
    monkeypatch.setenv("HELIB_ROOT", str(tmp_path / "mine"))
    assert _stages()["native-helib"]
    assert str(tmp_path / "mine" / "share" / "cmake" / "helib") in helib.inputs()


def test_a_prefix_without_helib_is_named(
    helib: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runner import FailureError, Shell

    monkeypatch.setenv("HELIB_ROOT", str(tmp_path / "nothing"))
    assert _stages()["native-helib"]
    with pytest.raises(FailureError, match=r"there is no HElib in .*nothing") as failure:
        helib.build_module(Shell(io.StringIO()))
    assert "correct HELIB_ROOT" in failure.value.advice
