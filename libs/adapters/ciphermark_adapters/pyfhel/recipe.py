"""Build recipe of Pyfhel, from its source distribution, which includes its own SEAL. Read by the setup."""

from collections.abc import Collection
from pathlib import Path

import builds
import recipes
from environment import identity
from places import PYTHON, compiler_version, file_digest, has_package_file, pins
from runner import Shell, Stage

CHECK = Path(__file__).parent / "check" / "pyfhel_check.py"
_SEAL = recipes.load("seal")  # SEAL's sources are in Pyfhel's archive, from which both are built
SOURCES = (_SEAL.PYFHEL, _SEAL.SEALY)


def stages(without: Collection[str]) -> list[Stage]:
    """Return the single stage."""
    stage = Stage(
        "pyfhel",
        f"Pyfhel {_SEAL.PYFHEL.version}",
        inputs=_inputs,
        is_present=has_pyfhel,
        build=build_pyfhel,
        needs=("python", "sources"),
        rebuilt_with=("sources",),
    )
    return [stage]


def _inputs() -> list[str]:
    pinned = pins("cmake", "cython", "ninja", "numpy", "setuptools")
    return [*pinned, compiler_version(), file_digest(CHECK), identity()]


def has_pyfhel() -> bool:
    """Return whether Pyfhel is installed."""
    return has_package_file(f"pyfhel-{_SEAL.PYFHEL.version}.dist-info")


def build_pyfhel(shell: Shell) -> None:
    """Build and install Pyfhel, which includes its own SEAL, and check that its three schemes work."""
    with builds.work_folder("pyfhel") as work:
        third_party = _SEAL.copy_third_party(work)
        toolchain = work / "toolchain.cmake"
        # Pyfhel starts CMake itself: only a toolchain file passes it more options.
        settings = {**_SEAL.fetch_content(third_party), "CMAKE_POLICY_VERSION_MINIMUM": "3.5"}
        lines = [f'set({name} "{value}" CACHE STRING "")\n' for name, value in settings.items()]
        toolchain.write_text("".join(lines))
        env = {
            "CMAKE_TOOLCHAIN_FILE": str(toolchain),
            "CMAKE_GENERATOR": "Ninja",
            "CPATH": str(third_party / "msgsl" / "include"),
            "TMPDIR": str(work),
        }
        options = ("--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir", "--force-reinstall")
        pip = (PYTHON, "-m", "pip", "install")
        shell.run(*pip, *options, _SEAL.PYFHEL.path, advice=builds.ADVICE, extra_env=env)
    shell.run(PYTHON, CHECK, advice="please report this, with the log")
