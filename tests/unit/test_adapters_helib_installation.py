"""What is said of an HElib that does not load, and the next step: planted prefixes, and recorded messages."""

from __future__ import annotations

import platform
import shutil
import struct
from pathlib import Path

import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.helib import installation
from ciphermark_adapters.helib.installation import Fault, Installation
from ciphermark_benchmark.cli import doctor
from ciphermark_benchmark.cli.adapters import complaint

# As CMake writes it for HElib v2.3.0.
TARGETS = """set_target_properties(helib PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "\\$<\\$<BOOL:ON>:HELIB_THREADS>;\\$<\\$<BOOL:OFF>:HELIB_DEBUG>"
  INTERFACE_LINK_LIBRARIES "{ntl};{gmp};\\$<\\$<BOOL:1>:Threads::Threads>"
)
"""
RELEASE = 'IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libhelib.a"\n'
AARCH64 = 183
MODULE_FILE = "/v/lib/python3.11/site-packages/_ciphermark_helib.cpython-311-x86_64-linux-gnu.so"


@pytest.fixture
def prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An installation without faults, which the user names. The library is an empty archive."""
    prefix, system = tmp_path / "helib", tmp_path / "system"
    cmake = prefix / "share" / "cmake" / "helib"
    for folder in (cmake, prefix / "lib", prefix / "include" / "helib", system):
        folder.mkdir(parents=True)
    links = {name: system / f"lib{name}.so" for name in ("ntl", "gmp")}
    for path in (*links.values(), cmake / "helibConfig.cmake", prefix / "include" / "helib" / "helib.h"):
        path.touch()
    (cmake / "helibConfigVersion.cmake").write_text('set(PACKAGE_VERSION "2.2.0")')
    (cmake / "helibTargets.cmake").write_text(TARGETS.format(**links))
    (cmake / "helibTargets-release.cmake").write_text(RELEASE)
    (prefix / "lib" / "libhelib.a").write_bytes(b"!<arch>\n")
    monkeypatch.setenv("HELIB_ROOT", str(prefix))
    installation._machines.cache_clear()
    return prefix


def test_an_installation_without_faults(prefix: Path) -> None:
    assert installation.examined(installation.prefixes()) == Installation(
        prefix, "2.2.0", prefix / "lib" / "libhelib.a"
    )
    assert installation.fault(None) == Fault(
        f"the adapter is not compiled for HElib 2.2.0 in {prefix}",
        f"HELIB_ROOT={prefix} python3 setup/install.py --only native-helib",
    )


def test_without_an_installation_there_is_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HELIB_ROOT", raising=False)
    monkeypatch.setattr(installation, "_STANDARD", (str(tmp_path),))
    assert installation.fault(None) is None


def _plant(prefix: Path, fault: str) -> None:
    cmake = prefix / "share" / "cmake" / "helib"
    if fault == "no folder":
        shutil.rmtree(prefix)
    elif fault == "another folder":
        shutil.rmtree(cmake)
    elif fault == "package build":
        (prefix / "helib_pack").mkdir()
        (prefix / "share").rename(prefix / "helib_pack" / "share")
    elif fault == "old":
        (cmake / "helibConfigVersion.cmake").write_text('set(PACKAGE_VERSION "1.3.1")')
    elif fault == "no version":
        (cmake / "helibConfigVersion.cmake").unlink()
    elif fault == "no library":
        (prefix / "lib" / "libhelib.a").unlink()
    elif fault == "no headers":
        shutil.rmtree(prefix / "include")
    elif fault == "debug":
        (cmake / "helibTargets-release.cmake").unlink()
        (cmake / "helibTargets-debug.cmake").write_text(RELEASE.replace("RELEASE", "DEBUG"))
    elif fault == "HELIB_DEBUG":
        targets = cmake / "helibTargets.cmake"
        targets.write_text(targets.read_text().replace("OFF", "ON"))
    elif fault == "no ntl":
        (prefix.parent / "system" / "libntl.so").unlink()
    elif fault == "no gmp":
        (prefix.parent / "system" / "libgmp.so").unlink()
    elif fault == "other machine":
        (prefix / "lib" / "libhelib.a").unlink()
        image = bytearray(64)
        image[:6] = b"\x7fELF\x02\x01"
        struct.pack_into("<H", image, 18, AARCH64)
        (prefix / "lib" / "libhelib.so").write_bytes(image)


REASONS = {
    "no folder": ("no such folder", "install HElib v2.3.0 with NTL 11.5.1"),
    "another folder": ("no share/cmake/helib/helibConfig.cmake", "CMAKE_INSTALL_PREFIX"),
    "package build": ("but in", "helib_pack"),
    "old": ("is 1.3.1; the adapter needs 2.2", "install HElib v2.3.0"),
    "no version": ("of an unknown version", "install HElib v2.3.0"),
    "no library": ("has no library", "make install"),
    "no headers": ("has no headers", "make install"),
    "debug": ("is a debug build", "CMAKE_BUILD_TYPE=Release"),
    "HELIB_DEBUG": ("is a debug build", "HELIB_DEBUG=OFF"),
    "no ntl": ("libntl.so, which is missing", "apt-get install libntl-dev"),
    "no gmp": ("libgmp.so, which is missing", "apt-get install libgmp-dev"),
    "other machine": ("is for AArch64, 64 bits; this host is x86-64", "build HElib on this host"),
}


@pytest.mark.parametrize("fault", REASONS)
def test_the_fault_of_a_prefix_and_the_next_step(
    prefix: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    _plant(prefix, fault)
    found = installation.fault(None)
    assert found is not None
    reason, step = REASONS[fault]
    assert reason in found.reason
    assert step in found.step


# Of planted modules on Debian 12: with renamed needs, a renamed symbol, another machine, and cut off.
MESSAGES = {
    "ImportError: libntl.so.45: cannot open shared object file: No such file or directory": "libntl45",
    "ImportError: libgmp.so.11: cannot open shared object file: No such file or directory": "libgmp11",
    "ImportError: libhelib.so: cannot open shared object file: No such file or directory": "make install of HElib",
    f"ImportError: {MODULE_FILE}: undefined symbol: _ZN3NTL3adqERNS_3VecINS_3GF2EEERKS2_S5_": "has changed since",
    f"ImportError: {MODULE_FILE}: cannot open shared object file: No such file or directory": "another machine",
    f"ImportError: {MODULE_FILE}: file too short": "damaged",
    f"ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.9.29' not found (required by "
    f"{MODULE_FILE})": "a newer compiler",
    "ended by SIGBUS": "damaged",
    "ended by SIGILL": "TARGET_ARCHITECTURE",
    "CheckError: HElib is a debug build: its times mean nothing": "CMAKE_BUILD_TYPE=Release",
    "CheckError: mul in bgv has incorrect results in 3 slots": "build HElib again",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_the_next_step_after_a_message(message: str) -> None:
    found = installation.fault(message)
    assert found is not None
    assert found.reason == message
    assert MESSAGES[message] in found.step


def test_a_failed_process_without_a_line_is_told_by_its_ending() -> None:
    assert complaint(b"a\nthe last line\n", 3) == "the last line"
    assert complaint(b"", -4) == "ended by SIGILL"
    assert complaint(b"", 5) == "exit 5"


@pytest.mark.parametrize(
    ("is_installed", "message"), [(False, None), (True, None), (True, "ended by SIGILL")]
)
def test_the_doctor_examines_what_users_install(
    monkeypatch: pytest.MonkeyPatch, prefix: Path, is_installed: bool, message: str | None
) -> None:
    monkeypatch.setattr(registry.interpreters, "has_module", lambda environment, name: is_installed)
    monkeypatch.setattr(doctor, "self_check_failure", lambda variant: message)
    lines = list(doctor.installation_faults(frozenset()))
    if is_installed and message is None:
        assert lines == []
    else:
        fault = installation.fault(message)
        assert fault is not None
        assert lines == [f"helib: {fault.reason}; {fault.step}"]


def test_the_doctor_is_silent_without_an_installation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HELIB_ROOT", raising=False)
    monkeypatch.setattr(installation, "_STANDARD", (str(tmp_path),))
    monkeypatch.setattr(registry.interpreters, "has_module", lambda environment, name: False)
    assert list(doctor.installation_faults(frozenset())) == []
