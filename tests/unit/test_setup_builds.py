"""What images need of the set-up: builds that run on other machines than the one that made them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ciphermark_adapters import registry

SETUP = Path(__file__).parents[2] / "setup"


@pytest.fixture
def builds(monkeypatch):
    monkeypatch.syspath_prepend(SETUP)
    before = set(sys.modules)
    import builds

    yield builds
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_what_a_portable_hexl_runs_on_is_what_its_adapter_demands(builds):
    assert set(registry.declaration("seal-hexl").isa) == builds._PORTABLE_FLAGS


def test_a_portable_hexl_is_for_no_particular_cpu_and_asks_none(builds, tmp_path):
    for name in builds._HEXL_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("options(-Wextra -march=native -O3)")
    settings = builds._make_hexl_portable(tmp_path)
    for name in builds._HEXL_FILES:
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
def test_what_this_cpu_cannot_run_is_built_and_not_started(builds, monkeypatch, is_portable, flags, expected):
    monkeypatch.setattr(builds, "IS_PORTABLE", is_portable)
    monkeypatch.setattr(builds, "cpu_flags", lambda: flags)
    assert (builds._runs_here(builds.PLAIN), builds._runs_here(builds.WITH_HEXL)) == expected
