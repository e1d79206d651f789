"""Examines an HElib that users install: what is wrong with it, and the next step. It loads nothing.

Standard library only: the setup also imports this module.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ciphermark_adapters import binaries

VARIABLE = "HELIB_ROOT"
WORKED = "HElib v2.3.0 with NTL 11.5.1, GMP 6.2.1 and GCC 12.2 (Debian 12: libntl-dev, libgmp-dev)"
CONFIG = Path("share/cmake/helib/helibConfig.cmake")
_CONFIGS = (CONFIG, Path("lib/cmake/helib", CONFIG.name), Path("lib64/cmake/helib", CONFIG.name))
_STANDARD = ("/usr/local", "/usr", "/opt/homebrew", "/opt/local")
_PACKAGE = "helib_pack"  # the folder that a package build of HElib installs to
_LEAST = (2, 2)
MODULE = "_ciphermark_helib"
_COMPILE = f"python3 setup/install.py --only native-helib, with {VARIABLE} set to its prefix"
_AGAIN = "build HElib again with CMAKE_BUILD_TYPE=Release and HELIB_DEBUG=OFF, into the same prefix"
_MACHINES = {"x86_64": "x86-64, 64 bits", "aarch64": "AArch64, 64 bits"}


class Fault(NamedTuple):
    """What is wrong, and the next step."""

    reason: str
    step: str


class Installation(NamedTuple):
    """An installation without faults."""

    prefix: Path
    version: str
    library: Path


def prefixes() -> tuple[str, ...]:
    """The prefix that users name, or the standard ones."""
    named = os.environ.get(VARIABLE)
    return (named,) if named else _STANDARD


def is_present() -> bool:
    """Whether users name an HElib, or a standard prefix contains one."""
    return bool(os.environ.get(VARIABLE)) or config(_STANDARD) is not None


def config(places: Iterable[str]) -> Path | None:
    """The CMake package file of the first prefix that has one."""
    files = (Path(prefix) / file for prefix in places for file in _CONFIGS)
    return next((path for path in files if path.exists()), None)


def fault(message: str | None) -> Fault | None:
    """Return why the module is missing, or, given a ``message``, why it fails; ``None`` if users have no HElib."""
    if message is not None:
        return _failure(message)
    if not is_present():
        return None
    found = examined(prefixes())
    if isinstance(found, Fault):
        return found
    compile_it = f"{VARIABLE}={found.prefix} python3 setup/install.py --only native-helib"
    return Fault(f"the adapter is not compiled for HElib {found.version} in {found.prefix}", compile_it)


def examined(places: tuple[str, ...]) -> Installation | Fault:
    """The installation at the first prefix that has one, or its first fault."""
    file = config(places)
    if file is None:
        return _absence(Path(places[0]))
    prefix, version = file.parents[3], _version(file)
    if version is None or tuple(map(int, version.split(".")[:2])) < _LEAST:
        text = version or "of an unknown version"
        return Fault(f"HElib in {prefix} is {text}; the adapter needs 2.2 or newer", f"install {WORKED}")
    binary = library(prefix)
    if binary is None or not (prefix / "include" / "helib" / "helib.h").is_file():
        part = "library" if binary is None else "headers"
        return Fault(f"HElib in {prefix} has no {part}", "repeat make install of HElib into this prefix")
    return _unusable(file, binary) or Installation(prefix, version, binary)


def _absence(prefix: Path) -> Fault:
    if not prefix.is_dir():
        return Fault(
            f"there is no HElib in {prefix}: no such folder", f"correct {VARIABLE}, or install {WORKED}"
        )
    inner = prefix / _PACKAGE
    if config((str(inner),)) is not None:
        return Fault(f"there is no HElib in {prefix}, but in {inner}", f"set {VARIABLE}={inner}")
    return Fault(
        f"there is no HElib in {prefix}: no {CONFIG}",
        f"set {VARIABLE} to the CMAKE_INSTALL_PREFIX of HElib, after its make install",
    )


def _version(file: Path) -> str | None:
    """The version in the package at its CMake file; releases 2.2.1 to 2.3.0 state 2.2.0."""
    stated = file.with_name("helibConfigVersion.cmake")
    match = re.search(r'PACKAGE_VERSION "([\d.]+)"', stated.read_text() if stated.is_file() else "")
    return match[1] if match else None


def library(prefix: Path) -> Path | None:
    """HElib's library at a prefix."""
    patterns = ("lib/libhelib.*", "lib64/libhelib.*", "lib/*-linux-gnu/libhelib.*")
    return next((path for pattern in patterns for path in sorted(prefix.glob(pattern))), None)


@cache
def _machines(binary: Path) -> list[str]:
    return binaries.making(binary).machines


def _unusable(file: Path, binary: Path) -> Fault | None:
    """A debug build, a library for another machine, or one whose dependencies are missing."""
    targets = "".join(path.read_text() for path in sorted(file.parent.glob("helibTargets*.cmake")))
    if "BOOL:ON>:HELIB_DEBUG" in targets or re.findall(r"IMPORTED_LOCATION_(\w+)", targets) == ["DEBUG"]:
        return Fault(f"HElib in {file.parents[3]} is a debug build, whose times mean nothing", _AGAIN)
    machines, ours = _machines(binary), _MACHINES.get(platform.machine())
    if ours is not None and machines and ours not in machines:
        step = "build HElib on this host"
        return Fault(f"{binary} is for {machines[0]}; this host is {ours}", step)
    links = re.search(r'INTERFACE_LINK_LIBRARIES "([^"]*)"', targets)
    for part in (links[1] if links else "").split(";"):
        if part.startswith("/") and not Path(part).exists():
            return Fault(f"HElib in {file.parents[3]} needs {part}, which is missing", _package_step(part))
    return None


def _package_step(path: str) -> str:
    name = "GMP" if "gmp" in Path(path).name else "NTL"
    return f"install {name} (Debian: apt-get install lib{name.lower()}-dev), or build HElib again with the present one"


def _failure(message: str) -> Fault:
    """The fault behind the message with which the compiled module fails to load or to compute."""
    absent = re.search(r"(lib(?:ntl|gmp|gf2x)\.so\.(\d+))[^:]*: cannot open shared object", message)
    if absent:
        package = absent[1].replace(".so.", "")  # Debian's names: libntl.so.44 is in libntl44
        return Fault(
            message, f"install {absent[1]} (Debian: apt-get install {package}), or build HElib again"
        )
    step = next((step for pattern, step in _STEPS.items() if re.search(pattern, message)), None)
    return Fault(message, step or f"build HElib again, such as {WORKED}, then run {_COMPILE}")


_STEPS = {
    r"libhelib[^:]*: cannot open shared object": f"repeat make install of HElib into its prefix, then run {_COMPILE}",
    r"SIGILL": (
        "HElib was built for another CPU (its option TARGET_ARCHITECTURE is native by default): build it on this host, "
        f"then run {_COMPILE}"
    ),
    r"GLIBCXX_|CXXABI_|GLIBC_": f"a newer compiler built HElib or the adapter: build HElib here, then run {_COMPILE}",
    r"undefined symbol|SIGSEGV": (
        f"HElib, NTL or GMP has changed since the adapter was compiled: build HElib again, then run {_COMPILE}"
    ),
    rf"ELF|file too short|SIGBUS|{MODULE}[^:]*: cannot open shared object": (
        f"the compiled adapter is damaged, or of another machine: run {_COMPILE}"
    ),
    r"is a debug build": f"{_AGAIN}, then run {_COMPILE}",
}
