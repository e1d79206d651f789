"""How OpenFHE is installed: from its wheel, in a virtual environment of its own, whose interpreter is not ours.

Read by the set-up; see `interpreters` there.
"""

from collections.abc import Collection
from pathlib import Path

import interpreters
from places import ROOT, file_digest
from runner import FailureError, Shell, Stage

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
VENV = ROOT / ".venv-openfhe"  # where ciphermark_adapters.interpreters looks for it
_PYTHON = VENV / "bin" / "python"
_PACKAGES = "lib/python3*/site-packages"
_LIBRARIES = ROOT / "libs"


def stages(without: Collection[str]) -> list[Stage]:
    """Return the stages of interpreter and environment: nothing else needs the other Python."""
    if "openfhe" in without:
        return []
    return [
        Stage(
            f"python{interpreters.VERSION}",
            f"Python {interpreters.VERSION}, for OpenFHE",
            inputs=lambda: [file_digest(interpreters.HASHES)],
            is_present=lambda: interpreters.chosen() is not None,
            build=interpreters.provide,
            is_optional=True,
        ),
        Stage(
            "openfhe",
            "OpenFHE",
            inputs=_inputs,
            is_present=has_environment,
            build=make_environment,
            needs=(f"python{interpreters.VERSION}",),
            is_optional=True,
        ),
    ]


def _inputs() -> list[str]:
    own = [str(interpreters.chosen()), str(VENV), *map(str, _our_packages())]
    return [file_digest(REQUIREMENTS), *own]


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
