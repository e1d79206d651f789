"""Build recipe of our native module for HElib. Users install HElib: no package registry has it. Read by the setup."""

import os
import re
from collections.abc import Collection
from functools import partial
from pathlib import Path

import builds
import library_facts
from orders import Order, Taken, build_into, environment_like_ours
from places import PYTHON, folder_digests, has_package_file, site_packages
from runner import FailureError, Shell, Stage

VARIABLE = "HELIB_ROOT"
_LEAST = (2, 2)
MODULE = "_ciphermark_helib"
NATIVE = Path(__file__).parent / "native"
_STANDARD = ("/usr/local", "/usr", "/opt/homebrew", "/opt/local")
_CONFIG = "helibConfig.cmake"
_CONFIGS = ("share/cmake/helib", "lib/cmake/helib", "lib64/cmake/helib")


def stages(without: Collection[str]) -> list[Stage]:
    """Return the single stage, if the user names an HElib or a standard prefix contains one."""
    if not os.environ.get(VARIABLE) and _config(_STANDARD) is None:
        return []
    stage = Stage(
        "native-helib",
        "native module for HElib",
        inputs=inputs,
        is_present=has_module,
        build=build_module,
        needs=("python", "packages"),
        is_optional=True,
    )
    return [stage]


def inputs() -> list[str]:
    """Return the inputs of the module: its own, and the installed HElib."""
    config = _config(_prefixes())
    library = [str(config.parent), *folder_digests(config.parent)] if config else []
    return [*builds.module_inputs(NATIVE), *library]


def has_module() -> bool:
    """Return whether the module is installed, with the facts about its library."""
    return has_package_file(f"{MODULE}.*so") and has_package_file(f"{MODULE}.library.json")


def build_module(shell: Shell) -> None:
    """Build the module against the installed HElib."""
    config = _config(_prefixes())
    if config is None:
        raise FailureError(
            f"there is no HElib in {os.environ.get(VARIABLE)}",
            f"let {VARIABLE} name the prefix that HElib was installed to: it has {_CONFIGS[0]}/{_CONFIG}",
        )
    prefix = config.parents[3]
    shell.note(f"HElib in {prefix}")
    builds.build_module(NATIVE, "helib", prefix, shell)
    library_facts.write(library_facts.facts(prefix, _library(prefix)), site_packages(), MODULE)
    # Load it as the adapter does: HElib opens a log file in the current folder.
    code = "from ciphermark_adapters.helib import binding; binding.module()"
    shell.run(PYTHON, "-c", code, advice="the module does not load; see the log")


def _prefixes() -> tuple[str, ...]:
    named = os.environ.get(VARIABLE)
    return (named,) if named else _STANDARD


def _config(prefixes: tuple[str, ...]) -> Path | None:
    """The CMake package file of the first prefix that has one."""
    files = (Path(prefix) / folder / _CONFIG for prefix in prefixes for folder in _CONFIGS)
    return next((path for path in files if path.exists()), None)


def added(order: Order) -> Taken:
    """Return how a user's installed HElib is added."""
    if order.prefix is None:
        raise FailureError("HElib's sources are in no package registry", "install it, and name its --prefix")
    config = _config((str(order.prefix),))
    if config is None:
        advice = "name the folder that HElib was installed to"
        raise FailureError(f"there is no HElib in {order.prefix}: no {_CONFIGS[0]}/{_CONFIG}", advice)
    version = _version(config)
    if not (order.prefix / "include" / "helib" / "helib.h").is_file():
        raise FailureError(f"HElib in {order.prefix} has no headers", "install it as a whole")
    library = _library(order.prefix)

    def build(shell: Shell) -> None:
        build_into(order, NATIVE, library.parents[1], {}, shell)
        library_facts.write(library_facts.facts(library.parents[1], library), order.packages, MODULE)

    environment = ("an environment of its own", partial(environment_like_ours, order))
    outside = () if library.suffix == ".a" else (library.resolve(),)
    return Taken(
        "helib", f"HElib {version} in {order.prefix}", (environment, ("its native module", build)), outside
    )


def _version(config: Path) -> str:
    """Return the version of the package at its CMake file; raise `FailureError` where it is too old."""
    file = config.with_name("helibConfigVersion.cmake")
    text = file.read_text() if file.is_file() else ""
    version_line = re.search(r'PACKAGE_VERSION "([\d.]+)"', text)
    version = version_line[1] if version_line else "of an unknown version"
    if version_line is None or tuple(map(int, version.split(".")[:2])) < _LEAST:
        raise FailureError(f"HElib in {config.parents[3]} is {version}", "the adapter needs 2.2 or newer")
    return version


def _library(prefix: Path) -> Path:
    """Return HElib's library at a prefix."""
    files = (path for lib in ("lib", "lib64") for path in sorted((prefix / lib).glob("libhelib.*")))
    library = next(files, None)
    if library is None:
        raise FailureError(f"HElib in {prefix} has no library", "install it as a whole")
    return library
