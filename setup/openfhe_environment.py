"""OpenFHE in a virtual environment of its own, whose interpreter is not ours: see `interpreters`."""

from pathlib import Path

import interpreters
from places import ROOT, SETUP
from runner import FailureError, Shell

REQUIREMENTS = SETUP / "requirements-openfhe.txt"
VENV = ROOT / ".venv-openfhe"  # where ciphermark_adapters.interpreters looks for it
_PYTHON = VENV / "bin" / "python"
_PACKAGES = "lib/python3*/site-packages"
_LIBRARIES = ROOT / "libs"


def inputs() -> list[str]:
    """Return what the environment depends on, beside the pinned packages."""
    return [str(interpreters.chosen()), str(VENV), *map(str, _our_packages())]


def has_environment() -> bool:
    """Tell whether the environment is there, with OpenFHE in it."""
    return _PYTHON.exists() and any(VENV.glob(f"{_PACKAGES}/openfhe/__init__.py"))


def make_environment(shell: Shell) -> None:
    """Make the environment, install the pinned packages and our own, and load OpenFHE once."""
    interpreter = interpreters.chosen()
    if interpreter is None:
        raise FailureError(f"Python {interpreters.VERSION} is gone", "run it again")
    network = "check that pip can reach a package registry (`pip config list`), then run it again"
    shell.run(
        interpreter, "-m", "venv", "--clear", VENV, advice="see the log; --without openfhe leaves it out"
    )
    only_wheels = ("--require-hashes", "--only-binary=:all:", "--no-deps", "--requirement", REQUIREMENTS)
    shell.run(_PYTHON, "-m", "pip", "install", *only_wheels, advice=network)
    (folder,) = VENV.glob(_PACKAGES)
    (folder / "ciphermark.pth").write_text("".join(f"{path}\n" for path in _our_packages()))
    advice = "this wheel of OpenFHE needs x86-64 and glibc 2.35 or newer; --without openfhe leaves it out"
    shell.run(_PYTHON, "-m", "ciphermark_measure.describe", "openfhe", advice=advice)


def _our_packages() -> list[Path]:
    """Return the folders of the packages that work there; their sources are read in place, as in ours."""
    return sorted(path.parent for path in _LIBRARIES.glob("*/pyproject.toml"))
