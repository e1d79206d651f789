"""Builds outdated plain programs, once per SEAL prefix, for HElib and for Lattigo, into ``.build/bench``."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.processes import BIN, BUILD, ROOT
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters


def of_seal(program: str, variant: str, parameters: Parameters, *options: object) -> list[str]:
    """The command of a program in ``native/``, for the SEAL build of a variant (``seal`` or ``seal-hexl``).

    Raises ``UserError`` with the end of the compiler's output where it cannot be built.
    """
    folder = _built("native", variant, f"-DCMAKE_PREFIX_PATH={BUILD / variant}")
    return _command(folder / program, parameters, options)


def of_lattigo(program: str) -> Path:
    """A Go program of ``native/``, with the modules of the adapter and as its recipe builds.

    Raises ``UserError`` with the end of the compiler's output where it cannot be built.
    """
    if (setup := str(ROOT / "setup")) not in sys.path:
        sys.path.append(setup)
    recipe = importlib.import_module("recipes").load("lattigo")
    folder = BUILD / "bench" / "lattigo"
    folder.mkdir(parents=True, exist_ok=True)
    for source in (*recipe.NATIVE.glob("go.*"), ROOT / "bench" / "native" / f"{program}.go"):
        shutil.copy2(source, folder)
    go = recipe.go()
    if go is None:
        raise UserError("there is no Go that is new enough; `ciphermark doctor` says which")
    _run([go, "-C", folder, "build", "-o", program, f"{program}.go"], recipe.ENVIRONMENT)
    return folder / program


def plain_loop(variant: str, parameters: Parameters, sets: int, dropped: int) -> list[str]:
    """The command of the plain loop over a variant's library: ``sets`` operand sets, ``dropped`` levels below the top.

    Raises ``UserError`` where it cannot be built.
    """
    if variant == "lattigo":
        program = of_lattigo("plain_loop")
        return _command(program, parameters, (sets, dropped, len(parameters.special_moduli)))
    return of_seal("plain_loop", variant, parameters, sets, dropped)


def _command(program: Path, parameters: Parameters, options: Sequence[object]) -> list[str]:
    spec = parameters.spec
    numbers = (spec.ring_dimension, parameters.plain_modulus or 0, spec.scale_bits or 0)
    primes = parameters.moduli + parameters.special_moduli
    return [str(program), spec.scheme, *map(str, (*numbers, *options, *primes))]


def helib_defaults() -> Path:
    """The program with HElib's own defaults, built against the HElib of the adapter's module.

    Raises ``UserError`` where it cannot be built.
    """
    of_module = (BUILD / "native" / "helib" / "CMakeCache.txt").read_text()
    place = re.search(r"^helib_DIR:PATH=(.+)$", of_module, re.MULTILINE)
    if place is None:
        raise UserError(
            "the build of HElib's native module does not say where HElib is; `make setup` may fix that"
        )
    return _built("native_helib", "helib", f"-Dhelib_DIR={place[1]}") / "plain_defaults"


def _built(sources: str, name: str, library: str) -> Path:
    """The folder with the programs of ``sources``; ``library`` is the CMake setting of their library's path."""
    source, folder = ROOT / "bench" / sources, BUILD / "bench" / name
    cache = folder / "CMakeCache.txt"
    if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={source}\n" not in cache.read_text():
        shutil.rmtree(folder)  # the repository was moved
    if not (folder / "build.ninja").exists():
        settings = ("-DCMAKE_BUILD_TYPE=Release", library)
        _cmake("-G", "Ninja", "-Wno-dev", "-S", str(source), "-B", str(folder), *settings)
    _cmake("--build", str(folder))
    return folder


def _cmake(*arguments: str) -> None:
    _run([BIN / "cmake", *arguments], {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"})


def _run(command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise UserError(f"the plain programs cannot be built; `make setup` may fix that:\n{tail}")
