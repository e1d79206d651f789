"""Builds the plain loop, once per SEAL prefix, into ``.build/bench``; what is up to date is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from bench.places import BIN, BUILD, ROOT
from ciphermark_core.errors import UserError

_SOURCES = ROOT / "bench" / "native"


def plain_loop(variant: str) -> Path:
    """The program for the SEAL build of a variant (``seal`` or ``seal-hexl``).

    Raises ``UserError`` with the end of the compiler's output where it cannot be built.
    """
    folder = BUILD / "bench" / variant
    cache = folder / "CMakeCache.txt"
    if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={_SOURCES}\n" not in cache.read_text():
        shutil.rmtree(folder)  # the repository was moved
    if not (folder / "build.ninja").exists():
        settings = ("-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={BUILD / variant}")
        _cmake("-G", "Ninja", "-Wno-dev", "-S", str(_SOURCES), "-B", str(folder), *settings)
    _cmake("--build", str(folder))
    return folder / "plain_loop"


def plain_chain(variant: str) -> Path:
    """The program for one chain of operations, built like :func:`plain_loop`."""
    return plain_loop(variant).parent / "plain_chain"


def hand_written(variant: str) -> Path:
    """The program for circuits over SEAL alone, built like :func:`plain_loop`."""
    return plain_loop(variant).parent / "hand_written"


def _cmake(*arguments: str) -> None:
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [BIN / "cmake", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise UserError(f"the plain loop cannot be built; `make setup` may mend that:\n{tail}")
