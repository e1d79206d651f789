"""Paths, and facts about pinned files and tools: shared by all stages."""

import hashlib
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

SETUP = Path(__file__).resolve().parent
ROOT = SETUP.parent
ADAPTERS = ROOT / "libs" / "adapters" / "ciphermark_adapters"
sys.path.append(str(ADAPTERS.parent))  # modules shared by setup and adapters have no installed requirements
BUILD = ROOT / ".build"
LOGS = BUILD / "logs"
STAMPS = BUILD / "stamps"
SOURCES = BUILD / "sources"
WORK = BUILD / "work"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = SETUP / "requirements.txt"
# Images are built on one machine and run on others; without this setting, builds are for this CPU.
IS_PORTABLE = os.environ.get("CIPHERMARK_PORTABLE") == "1"


def site_packages() -> Path:
    """Return the folder where the virtual environment keeps its packages."""
    major, minor, _ = platform.python_version_tuple()
    return VENV / "lib" / f"python{major}.{minor}" / "site-packages"


def has_package_file(pattern: str) -> bool:
    """Return whether the virtual environment has a package file or folder of this name pattern."""
    return any(site_packages().glob(pattern))


def tool_environment() -> dict[str, str]:
    """Return the environment variables for build tools; tools of the virtual environment come first."""
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def file_digest(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def folder_digests(folder: Path) -> list[str]:
    """Return name and SHA-256 of every file below the folder, in a fixed order."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [f"{path.relative_to(folder)} {file_digest(path)}" for path in files]


def pins(*packages: str) -> list[str]:
    """Return the pinned `name==version` of these packages, as `requirements.txt` has them."""
    lines = (line.split()[0] for line in REQUIREMENTS.read_text().splitlines() if "==" in line)
    return [pin for pin in lines if pin.split("==")[0] in packages]


@cache
def compiler_version() -> str:
    """Return the first line of the C++ compiler's version text; empty without a compiler."""
    try:
        answer = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return answer.stdout.partition("\n")[0]


@cache
def cpu_flags() -> str:
    """Return the CPU's instruction-set flags: code built with `-march=native` depends on them."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((" ".join(sorted(line.split()[2:])) for line in lines if line.startswith("flags")), "")
