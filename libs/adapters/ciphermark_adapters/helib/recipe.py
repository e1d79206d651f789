"""How our native module for HElib is built. The user installs HElib: no package registry has it. Read by the set-up."""

import os
from collections.abc import Collection
from pathlib import Path

import builds
from places import PYTHON, folder_digests, has_package_file
from runner import FailureError, Shell, Stage

VARIABLE = "HELIB_ROOT"
MODULE = "_ciphermark_helib"
NATIVE = Path(__file__).parent / "native"
_STANDARD = ("/usr/local", "/usr", "/opt/homebrew", "/opt/local")
_CONFIGS = ("share/cmake/helib", "lib/cmake/helib", "lib64/cmake/helib")


def stages(without: Collection[str]) -> list[Stage]:
    """Return the one stage, where the user names an HElib or a standard prefix has one."""
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
    """Return what the module depends on: its own inputs, and the HElib found."""
    config = _config(_prefixes())
    library = [str(config.parent), *folder_digests(config.parent)] if config else []
    return [*builds.module_inputs(NATIVE), *library]


def has_module() -> bool:
    """Tell whether the module is installed."""
    return has_package_file(f"{MODULE}.*so")


def build_module(shell: Shell) -> None:
    """Build the module against the HElib that is found."""
    config = _config(_prefixes())
    if config is None:
        raise FailureError(
            f"there is no HElib in {os.environ.get(VARIABLE)}",
            f"let {VARIABLE} name the prefix that HElib was installed to: it has share/cmake/helib/helibConfig.cmake",
        )
    prefix = config.parents[3]
    shell.note(f"HElib in {prefix}")
    builds.build_module(NATIVE, "helib", prefix, shell)
    # By our own way to load it: HElib opens a log file in the current folder.
    code = "from ciphermark_adapters.helib import binding; binding.module()"
    shell.run(PYTHON, "-c", code, advice="the module does not load; see the log")


def _prefixes() -> tuple[str, ...]:
    named = os.environ.get(VARIABLE)
    return (named,) if named else _STANDARD


def _config(prefixes: tuple[str, ...]) -> Path | None:
    """The CMake package file of the first prefix that has one."""
    found = (Path(prefix) / folder / "helibConfig.cmake" for prefix in prefixes for folder in _CONFIGS)
    return next((path for path in found if path.exists()), None)
