"""What images need of the setup: builds that run on other machines than the one that made them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ciphermark_adapters import registry

SETUP = Path(__file__).parents[2] / "setup"


@pytest.fixture
def seal(monkeypatch):
    monkeypatch.syspath_prepend(SETUP)
    before = set(sys.modules)
    import recipes

    yield recipes.load("seal")
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_what_a_portable_hexl_runs_on_is_what_its_adapter_demands(seal):
    assert set(registry.declaration("seal-hexl").isa) == seal._PORTABLE_FLAGS


def test_a_portable_hexl_is_for_no_particular_cpu_and_asks_none(seal, tmp_path):
    for name in seal._HEXL_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("options(-Wextra -march=native -O3)")
    settings = seal._make_hexl_portable(tmp_path)
    for name in seal._HEXL_FILES:
        assert (tmp_path / name).read_text() == "options(-Wextra -march=x86-64-v4 -mavx512ifma -O3)"
    for kernel in ("HEXL_HAS_AVX512DQ", "HEXL_HAS_AVX512IFMA"):
        assert settings[kernel] == "1"
        assert f"-D{kernel}" in settings["CMAKE_CXX_FLAGS"].split()
    assert "VBMI2" not in str(settings)


@pytest.mark.parametrize(
    ("is_portable", "flags", "expected"),
    [
        (False, "", (True, True)),
        (True, "avx2", (True, False)),
        (True, "avx512f avx512dq", (True, False)),
        (True, "avx512f avx512bw avx512cd avx512dq avx512vl avx2", (True, True)),
    ],
)
def test_what_this_cpu_cannot_run_is_built_and_not_started(seal, monkeypatch, is_portable, flags, expected):
    monkeypatch.setattr(seal, "IS_PORTABLE", is_portable)
    monkeypatch.setattr(seal, "cpu_flags", lambda: flags)
    assert (seal._runs_here(seal.PLAIN), seal._runs_here(seal.WITH_HEXL)) == expected
