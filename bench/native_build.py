"""Builds the plain programs, once per SEAL prefix and for HElib, into ``.build/bench``; what is up to date is kept."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from bench.places import BIN, BUILD, ROOT
from ciphermark_core.errors import UserError

_OF_SEAL = ROOT / "bench" / "native"
_OF_HELIB = ROOT / "bench" / "native_helib"


def plain_loop(variant: str) -> Path:
    """The program for the SEAL build of a variant (``seal`` or ``seal-hexl``).

    Raises ``UserError`` with the end of the compiler's output where it cannot be built.
    """
    return _built(_OF_SEAL, variant, f"-DCMAKE_PREFIX_PATH={BUILD / variant}") / "plain_loop"


def plain_chain(variant: str) -> Path:
    """The program for one chain of operations, built like :func:`plain_loop`."""
    return plain_loop(variant).parent / "plain_chain"


def hand_written(variant: str) -> Path:
    """The program for circuits over SEAL alone, built like :func:`plain_loop`."""
    return plain_loop(variant).parent / "hand_written"


def helib_defaults() -> Path:
    """The program that has HElib's own defaults, against the HElib that the adapter's module was built with.

    Raises ``UserError`` where it cannot be built.
    """
    of_module = (BUILD / "native" / "helib" / "CMakeCache.txt").read_text()
    found = re.search(r"^helib_DIR:PATH=(.+)$", of_module, re.MULTILINE)
    if found is None:
        raise UserError(
            "the build of HElib's native module does not say where HElib is; `make setup` may mend that"
        )
    return _built(_OF_HELIB, "helib", f"-Dhelib_DIR={found[1]}") / "plain_defaults"


def _built(sources: Path, name: str, library: str) -> Path:
    """The folder with the programs of ``sources``; ``library`` is the setting that says where their library is."""
    folder = BUILD / "bench" / name
    cache = folder / "CMakeCache.txt"
    if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={sources}\n" not in cache.read_text():
        shutil.rmtree(folder)  # the repository was moved
    if not (folder / "build.ninja").exists():
        settings = ("-DCMAKE_BUILD_TYPE=Release", library)
        _cmake("-G", "Ninja", "-Wno-dev", "-S", str(sources), "-B", str(folder), *settings)
    _cmake("--build", str(folder))
    return folder


def _cmake(*arguments: str) -> None:
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [BIN / "cmake", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise UserError(f"the plain programs cannot be built; `make setup` may mend that:\n{tail}")
