"""How OpenFHE is installed: from its wheel, in a virtual environment of its own, whose interpreter is not ours.

Read by the set-up; see `interpreters` there.
"""

import json
import subprocess
from collections.abc import Collection
from functools import partial
from pathlib import Path

import interpreters
from orders import Order, Taken, environment_of, link
from places import PYTHON, ROOT, file_digest
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


# What our own packages need beside OpenFHE: from the user's environment, or as pinned for ours.
_NEEDED = ("msgspec", "numpy", "typing_extensions")
_ASK = (
    "import importlib.util as u, json, sys; found = u.find_spec('openfhe'); "
    "print(json.dumps([list(sys.version_info[:2]), [path for path in sys.path if path.endswith('-packages')], "
    "found.submodule_search_locations[0] if found else None]))"
)


def added(order: Order) -> Taken:
    """Say how an environment of the user's own with an OpenFHE is taken: nothing is written into it."""
    if order.environment is None:
        advice = "install a wheel of yours into a Python environment, and name that with --environment"
        raise FailureError("OpenFHE is taken from a Python environment", advice)
    python = order.environment / "bin" / "python"
    version, folders, package = _asked(python)
    if package is None:
        raise FailureError(f"there is no openfhe in {order.environment}", f"{python} -m pip install openfhe")
    if tuple(version) < (3, 10):
        raise FailureError(
            f"{python} is Python {version[0]}.{version[1]}", "Ciphermark's adapters need 3.10 or newer"
        )
    libraries = sorted(path for path in Path(package).rglob("*.so*") if path.is_file())
    return Taken(
        "openfhe",
        f"the environment {order.environment}",
        (
            ("an environment of its own", partial(environment_of, order, python)),
            ("what the adapter needs there", partial(_complete, order, [Path(item) for item in folders])),
        ),
        tuple(libraries),
    )


def _asked(python: Path) -> tuple[list[int], list[str], str | None]:
    """Return version, folders of packages and OpenFHE's folder of an interpreter."""
    advice = "name the folder of a Python environment: it has bin/python"
    try:
        done = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, check=False)
        version, folders, package = json.loads(done.stdout.splitlines()[-1])
    except (OSError, ValueError, IndexError) as error:
        raise FailureError(f"{python} is no usable Python", advice) from error
    return version, folders, package


def _complete(order: Order, folders: list[Path], shell: Shell) -> None:
    """Let the environment find the user's packages and ours, and install what ours need and the user has not."""
    link(order, [*folders, *_our_packages()])
    has = f"import importlib.util as u; print(*(n for n in {_NEEDED} if u.find_spec(n) is None))"
    lacking = subprocess.run([order.python, "-c", has], capture_output=True, text=True, check=False)
    missing = lacking.stdout.split()
    if missing:
        pinned = [item for item in _pins() if item.split("==")[0].replace("-", "_") in missing]
        options = ("--no-deps", "--only-binary=:all:")
        advice = "install it into your environment yourself, then run it again"
        pip = (PYTHON, "-m", "pip", "--python", order.python, "install")
        shell.run(*pip, *options, *pinned, advice=advice)


def _pins() -> list[str]:
    """Return the pinned `name==version` of our environment's packages."""
    return [line.split()[0] for line in REQUIREMENTS.read_text().splitlines() if "==" in line]
