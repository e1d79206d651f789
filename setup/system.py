"""The few Debian packages that no other registry has."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from runner import FailureError, Shell


@dataclass(frozen=True, slots=True)
class DebianPackage:
    """A package, a check for the parts that we need, and its stage if only one stage needs it."""

    name: str
    is_there: Callable[[], bool]
    only_for: str = ""


def is_installed(name: str) -> bool:
    """Return whether Debian's package manager has installed the package; false without a package manager."""
    if shutil.which("dpkg-query") is None:
        return False
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", name]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout == "installed"


_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
PACKAGES = (
    DebianPackage("g++", lambda: shutil.which("c++") is not None),
    DebianPackage(f"{_PYTHON}-venv", lambda: importlib.util.find_spec("ensurepip") is not None),
    DebianPackage(f"{_PYTHON}-dev", lambda: Path(sysconfig.get_path("include"), "Python.h").exists()),
)


BROWSER = DebianPackage("chromium", lambda: shutil.which("chromium") is not None)


def missing_packages(packages: Collection[DebianPackage], without: Collection[str]) -> list[str]:
    """Return the names of the missing Debian packages if these stages are left out."""
    return [
        package.name for package in packages if package.only_for not in without and not package.is_there()
    ]


def install_packages(packages: Collection[DebianPackage], without: Collection[str], shell: Shell) -> None:
    """Install missing packages, as root or through sudo without a password."""
    names = missing_packages(packages, without)
    if names:
        _install(names, shell)


def install_browser(shell: Shell) -> None:
    """Install the browser for the dashboard's tests."""
    _install([BROWSER.name], shell)


def _install(names: Collection[str], shell: Shell) -> None:
    command = f"apt-get update && apt-get install --yes {' '.join(names)}"
    advice = f"as root, run: {command}"
    if shutil.which("apt-get") is None:
        raise FailureError(
            f"Debian packages are missing ({', '.join(names)}) and this is no Debian system",
            "install what they contain in your system's way, or leave out what needs them with --without",
        )
    prefix = _become_root(f"Debian packages are missing: {', '.join(names)}", advice)
    shell.run(*prefix, "apt-get", "update", advice=advice)
    install = ("apt-get", "install", "--yes", "--no-install-recommends")
    shell.run(*prefix, "env", "DEBIAN_FRONTEND=noninteractive", *install, *names, advice=advice)


def _become_root(what: str, advice: str) -> tuple[str, ...]:
    """Return the prefix of a command that needs root; raise `FailureError` if root is unavailable."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is not None:
        answer = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
        if answer.returncode == 0:
            return ("sudo", "-n")
    raise FailureError(f"{what}; installing them needs root", advice)
