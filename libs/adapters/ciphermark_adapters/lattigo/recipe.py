"""Build recipe of our shared library with Lattigo, a Go module. Read by the setup."""

import os
import re
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

from environment import identity
from places import (
    BUILD,
    IS_PORTABLE,
    PYTHON,
    compiler_version,
    folder_digests,
    has_package_file,
    site_packages,
)
from runner import FailureError, Shell, Stage
from system import DebianPackage

NATIVE = Path(__file__).parent / "native"
LIBRARY = "_ciphermark_lattigo.so"
# The version in go.mod.
OLDEST = (1, 24)
# Where Go's own installer and Debian's packages of single versions put it.
_PLACES = ("/usr/local/go/bin", "/usr/lib/go-*/bin", "/usr/lib/go/bin")
_ADVICE = (
    "install Go 1.24 or newer (Debian 13: apt-get install golang-go); without it, Lattigo alone is missing"
)
_NETWORK_ADVICE = "check that Go can reach a module proxy (`go env GOPROXY`), then run it again"
# Of Go's compiler.
ENVIRONMENT = {
    "CGO_ENABLED": "1",
    "GOCACHE": str(BUILD / "go" / "cache"),
    "GOFLAGS": "-mod=readonly -modcacherw -trimpath -buildvcs=false",
    "GOMODCACHE": str(BUILD / "go" / "modules"),
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}
_LOAD = f"import ctypes; ctypes.CDLL({str(site_packages() / LIBRARY)!r})"


def go() -> Path | None:
    """Return the first Go that is new enough: on the PATH, or at a usual place."""
    on_path = shutil.which("go")
    folders = [Path(pattern) for pattern in _PLACES]
    found = [path for folder in folders for path in sorted(Path("/").glob(f"{folder.relative_to('/')}/go"))]
    candidates = [*([Path(on_path)] if on_path else []), *found]
    return next((path for path in candidates if _version(path) >= OLDEST), None)


def _version(program: Path) -> tuple[int, ...]:
    """Return the version of a Go; (0,) where it tells none."""
    number = re.search(r"go(\d+)\.(\d+)", _text(program))
    return (int(number[1]), int(number[2])) if number else (0,)


def _text(program: Path) -> str:
    env = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        answer = subprocess.run([program, "version"], capture_output=True, text=True, check=False, env=env)
    except OSError:
        return ""
    return answer.stdout.strip()


# Hosts without Go do without Lattigo; Debian has a Go that is new enough from version 13 on, which images are made of.
PACKAGES = (DebianPackage("golang-go", lambda: go() is not None, only_for="lattigo"),) if IS_PORTABLE else ()


def stages(without: Collection[str]) -> list[Stage]:
    """Return the single stage, where its sources exist."""
    if not (NATIVE / "go.mod").exists():
        return []
    stage = Stage(
        "lattigo",
        "Lattigo 6.2.0",
        inputs=inputs,
        is_present=lambda: has_package_file(LIBRARY),
        build=build,
        needs=("python", "system"),
        is_optional=True,
    )
    return [stage]


def inputs() -> list[str]:
    """Return the inputs of the library: our sources, with the hashes of all modules, and the compilers."""
    program = go()
    return [*folder_digests(NATIVE), _text(program) if program else "", compiler_version(), identity()]


def build(shell: Shell) -> None:
    """Download the pinned modules, build the library, and load it once."""
    program = go()
    if program is None:
        raise FailureError("there is no Go, or none that is new enough", _ADVICE)
    shell.run(program, "-C", NATIVE, "mod", "download", advice=_NETWORK_ADVICE, extra_env=ENVIRONMENT)
    made = BUILD / "native" / "lattigo" / LIBRARY
    options = ("-buildmode=c-shared", "-o", made)
    shell.run(
        program,
        "-C",
        NATIVE,
        "build",
        *options,
        ".",
        advice="please report this, with the log",
        extra_env=ENVIRONMENT,
    )
    shutil.copy2(made, site_packages() / LIBRARY)
    shell.run(PYTHON, "-c", _LOAD, advice="the library does not load; --without lattigo leaves it out")
