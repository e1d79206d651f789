"""C++ builds: common functions of recipes for CMake and our native modules."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from environment import identity
from places import ADAPTERS, BUILD, PYTHON, WORK, compiler_version, folder_digests, pins, site_packages
from runner import Shell

NATIVE_COMMON = ADAPTERS / "native_common"
ADVICE = "the log's first `error:` says why; --without leaves this library out"


def build_module(
    source: Path, name: str, prefix: Path, shell: Shell, variable: Mapping[str, str] | None = None
) -> None:
    """Build a native module of ours against the library at a prefix, and install it.

    The build folder, of that name, is kept, so a second build is short.
    """
    folder = BUILD / "native" / name
    cache = folder / "CMakeCache.txt"
    if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={source}\n" not in cache.read_text():
        shutil.rmtree(folder)  # the repository was moved
    compile_module(source, folder, prefix, shell, variable or {})


def compile_module(
    source: Path, folder: Path, prefix: Path, shell: Shell, variable: Mapping[str, str]
) -> None:
    """Build a native module of ours in a folder and install it, by default into our environment."""
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_PREFIX_PATH": str(prefix),
        "Python_EXECUTABLE": str(PYTHON),
        "CMAKE_INSTALL_PREFIX": str(site_packages()),
        **variable,
    }
    cmake(shell, source, folder, settings)
    shell.run("cmake", "--install", folder, advice=ADVICE)


def module_inputs(source: Path) -> list[str]:
    """Return the inputs of a native module of ours except its library: sources, pinned tools, compiler."""
    ours = (*folder_digests(source), *folder_digests(NATIVE_COMMON))
    return [*ours, *pins("cmake", "nanobind", "ninja"), compiler_version(), identity()]


def cmake(shell: Shell, source: Path, build: Path, settings: Mapping[str, str]) -> None:
    """Configure and build; Ninja takes all cores."""
    configure(shell, source, build, settings)
    shell.run("cmake", "--build", build, advice=ADVICE)


def configure(shell: Shell, source: Path, build: Path, settings: Mapping[str, str]) -> None:
    """Configure; write the commands of the build to its `compile_commands.json`."""
    settings = {"CMAKE_EXPORT_COMPILE_COMMANDS": "ON", **settings}
    options = [f"-D{name}={value}" for name, value in settings.items()]
    shell.run("cmake", "-G", "Ninja", "-Wno-dev", "-S", source, "-B", build, *options, advice=ADVICE)


@contextmanager
def work_folder(name: str) -> Iterator[Path]:
    """Yield an empty folder and remove it afterwards: a build writes into its copy of the sources."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
