"""What SEAL lies at a prefix, and why our adapter cannot be built against it. Read by the set-up."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from runner import FailureError

from ciphermark_adapters import binaries

VERSION = "4.1"
_CONFIGS = ("lib/cmake/SEAL-*/SEALConfig.cmake", "lib64/cmake/SEAL-*/SEALConfig.cmake")
_LIBRARIES = ("libseal-*.a", "libseal.so*", "libseal.*dylib")
_NEEDED = {  # what the adapter offers, by the option that brings it
    "SEAL_USE_ZLIB": "compression with zlib",
    "SEAL_USE_ZSTD": "compression with zstd",
}
# What SEAL itself is compiled to take at most, or more: suites count on it.
_LIMITS = {
    "SEAL_COEFF_MOD_COUNT_MAX": (64, "primes of a chain"),
    "SEAL_POLY_MOD_DEGREE_MAX": (32768, "coefficients of a polynomial"),
    "SEAL_USER_MOD_BIT_COUNT_MAX": (60, "bits of a prime"),
}
_MEND = "build SEAL again with -D{}=ON"
_INSTALL = "name the folder that SEAL was installed to (its CMAKE_INSTALL_PREFIX)"


@dataclass(frozen=True, slots=True)
class Found:
    """An installed SEAL: which shipped variant it is like, and the files that a module built against it needs."""

    version: str
    base: str
    library: Path
    outside: tuple[Path, ...]


def of(prefix: Path) -> Found:
    """Return the SEAL at a prefix; raise `FailureError` with the first reason against it."""
    config = next((path for pattern in _CONFIGS for path in sorted(prefix.glob(pattern))), None)
    if config is None:
        raise FailureError(
            f"there is no SEAL in {prefix}: no lib/cmake/SEAL-{VERSION}/SEALConfig.cmake", _INSTALL
        )
    told = dict(re.findall(r"^set\((SEAL_\w+) ([^)\s]+)\)", config.read_text(), re.MULTILINE))
    version = told.get("SEAL_VERSION", "of an unknown version")
    if not f"{version}.".startswith(f"{VERSION}."):
        raise FailureError(f"SEAL in {prefix} is {version}", f"the adapter is written for SEAL {VERSION}")
    _require_headers(prefix, version)
    library = _library(config.parents[2], prefix)
    _require_options(prefix, told)
    base = "seal-hexl" if told.get("SEAL_USE_INTEL_HEXL") == "ON" else "seal"
    is_shared = library.suffix != ".a"
    return Found(version, base, library, (library.resolve(),) if is_shared else ())


def _require_headers(prefix: Path, version: str) -> None:
    headers = prefix / "include" / f"SEAL-{VERSION}" / "seal"
    if not (headers / "seal.h").is_file():
        raise FailureError(f"SEAL in {prefix} has no headers: there is no {headers / 'seal.h'}", _INSTALL)
    of_headers = _value(headers / "util" / "config.h", "SEAL_VERSION").strip('"')
    if of_headers != version:
        raise FailureError(f"SEAL in {prefix} is {version}, and its headers are of {of_headers}", _INSTALL)
    for name, (least, words) in _LIMITS.items():
        most = _value(headers / "util" / "defines.h", name)
        if not most.isdigit() or int(most) < least:
            told = (
                f"SEAL in {prefix} was compiled for {most or 'an unknown number of'} {words} at most ({name})"
            )
            raise FailureError(told, f"the adapter needs {least}")


def _library(folder: Path, prefix: Path) -> Path:
    """Return the library, static rather than shared, for machines like this one."""
    library = next((path for pattern in _LIBRARIES for path in sorted(folder.glob(pattern))), None)
    if library is None:
        raise FailureError(f"SEAL in {prefix} has no library: {folder} has no libseal-{VERSION}.a", _INSTALL)
    ours = binaries.making(Path(sys.executable).resolve()).machines
    others = [machine for machine in binaries.making(library).machines if machine not in ours]
    if ours and others:
        raise FailureError(f"{library} is for {others[0]}; this Python is for {ours[0]}", "build SEAL for it")
    return library


def _require_options(prefix: Path, told: dict[str, str]) -> None:
    if told.get("SEAL_DEBUG") == "ON" or told.get("SEAL_BUILD_TYPE") == "Debug":
        release = "build it with -DCMAKE_BUILD_TYPE=Release"
        raise FailureError(f"SEAL in {prefix} is a debug build, whose times mean nothing", release)
    for option, purpose in _NEEDED.items():
        if told.get(option) != "ON":
            raise FailureError(f"SEAL in {prefix} lacks {purpose} ({option})", _MEND.format(option))


def _value(header: Path, name: str) -> str:
    """Return what a header defines a name as; nothing where it does not."""
    text = header.read_text() if header.is_file() else ""
    found = re.search(rf"^#define {name} (\S+)", text, re.MULTILINE)
    return found[1] if found else ""
