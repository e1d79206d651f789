"""The virtual environment: pinned packages from wheels, and our own packages in editable form."""

import platform
import sys
from importlib.util import cache_from_source
from pathlib import Path

import tomllib
from places import PYTHON, REQUIREMENTS, ROOT, VENV, file_digest, has_package_file
from runner import Shell

_IDENTITY = VENV / "made-for"
_NETWORK_ADVICE = "check that pip can reach a package registry (`pip config list`), then run it again"


def identity() -> str:
    """Return the identity of the environment: its interpreter and its path."""
    return f"{platform.python_implementation()} {platform.python_version()} {platform.machine()} {VENV}"


def is_current_environment() -> bool:
    """Return whether the environment exists and was created for this interpreter and path."""
    return PYTHON.exists() and _IDENTITY.exists() and _IDENTITY.read_text() == identity()


def make_environment(shell: Shell) -> None:
    """Create the environment if it does not exist, and install the pinned packages into it."""
    if not is_current_environment():
        advice = "install the Debian package that has Python's venv module: see the stage `system`"
        shell.run(sys.executable, "-m", "venv", "--clear", VENV, advice=advice)
        _IDENTITY.write_text(identity())
    pip_install(shell, "--require-hashes", "--only-binary=:all:", "--requirement", REQUIREMENTS)


def pip_install(shell: Shell, *arguments: str | Path) -> None:
    """Install into the environment."""
    shell.run(PYTHON, "-m", "pip", "install", *arguments, advice=_NETWORK_ADVICE)


def our_packages() -> list[Path]:
    """Return the `pyproject.toml` of each of our own packages."""
    return [
        path
        for pattern in ("libs/*", "services/*", "db", "dashboards")
        for path in sorted(ROOT.glob(f"{pattern}/pyproject.toml"))
    ]


def has_our_packages() -> bool:
    """Return whether all our packages are installed."""
    return all(has_package_file(f"{_distribution_name(path)}-*.dist-info") for path in our_packages())


def install_our_packages(shell: Shell) -> None:
    """Install our packages in editable form: a changed source file needs no new setup."""
    folders = [word for path in our_packages() for word in ("--editable", str(path.parent))]
    if folders:
        offline = ("--no-deps", "--no-index", "--no-build-isolation")
        advice = "mend the pyproject.toml that the log names, then run it again"
        shell.run(PYTHON, "-m", "pip", "install", *offline, *folders, advice=advice)


def _our_sources() -> list[Path]:
    return [source for path in our_packages() for source in sorted(path.parent.rglob("*.py"))]


def byte_code_inputs() -> list[str]:
    """Return the inputs of byte code: every source, by path and content, and the interpreter."""
    return [identity(), *(f"{path.relative_to(ROOT)} {file_digest(path)}" for path in _our_sources())]


def has_byte_code() -> bool:
    """Return whether each of our sources has byte code for our interpreter."""
    return all(Path(cache_from_source(str(path))).exists() for path in _our_sources())


def compile_our_packages(shell: Shell) -> None:
    """Compile our sources for each interpreter that reads them in place.

    Otherwise, where PYTHONDONTWRITEBYTECODE is set, as in many containers, each worker would compile them again.
    """
    advice = "the log names the file; everything works without, and starts more slowly"
    folders = [path.parent for path in our_packages()]
    for python in (PYTHON, *sorted(ROOT.glob(f"{VENV.name}-*/bin/python"))):
        shell.run(python, "-m", "compileall", "-q", *folders, advice=advice)


def _distribution_name(description: Path) -> str:
    """Return the package's name as its files write it; empty if unreadable, for which pip reports the reason."""
    try:
        name = tomllib.loads(description.read_text())["project"]["name"]
    except (tomllib.TOMLDecodeError, KeyError):
        return ""
    return str(name).replace("-", "_")
