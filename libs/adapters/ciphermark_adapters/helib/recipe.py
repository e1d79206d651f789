"""Build recipe of our native module for HElib. Users install HElib: no package registry has it. Read by the setup."""

import subprocess
from collections.abc import Collection
from functools import partial
from pathlib import Path

import builds
import library_facts
from orders import Order, Taken, build_into, environment_like_ours
from places import PYTHON, file_digest, folder_digests, has_package_file, site_packages
from runner import FailureError, Shell, Stage

from ciphermark_adapters.helib import installation

NATIVE = Path(__file__).parent / "native"
# As the adapter does: HElib opens a log file in the current folder.
_LOAD = (PYTHON, "-c", "from ciphermark_adapters.helib import binding; binding.module()")


def stages(without: Collection[str]) -> list[Stage]:
    """Return the single stage, if the user names an HElib or a standard prefix contains one."""
    if not installation.is_present():
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
    config = installation.config(installation.prefixes())
    library = installation.library(config.parents[3]) if config else None
    files = [str(config.parent), *folder_digests(config.parent)] if config else []
    return [*builds.module_inputs(NATIVE), *files, file_digest(library) if library else ""]


def has_module() -> bool:
    """Return whether the module is installed, with the facts about its library, and loads."""
    files = (f"{installation.MODULE}.*so", f"{installation.MODULE}.library.json")
    return (
        all(map(has_package_file, files))
        and not subprocess.run(_LOAD, capture_output=True, check=False).returncode
    )


def build_module(shell: Shell) -> None:
    """Build the module against the installed HElib."""
    installed = _examined(installation.prefixes())
    shell.note(f"HElib in {installed.prefix}")
    builds.build_module(NATIVE, "helib", installed.prefix, shell)
    library_facts.write(
        library_facts.facts(installed.prefix, installed.library), site_packages(), installation.MODULE
    )
    shell.run(*_LOAD, advice="the module does not load: ciphermark doctor gives the next step")


def added(order: Order) -> Taken:
    """Return how a user's installed HElib is added."""
    if order.prefix is None:
        raise FailureError("HElib's sources are in no package registry", "install it, and name its --prefix")
    installed = _examined((str(order.prefix),))
    library = installed.library

    def build(shell: Shell) -> None:
        build_into(order, NATIVE, installed.prefix, {}, shell)
        library_facts.write(
            library_facts.facts(installed.prefix, library), order.packages, installation.MODULE
        )

    environment = ("an environment of its own", partial(environment_like_ours, order))
    outside = () if library.suffix == ".a" else (library.resolve(),)
    origin = f"HElib {installed.version} in {order.prefix}"
    return Taken("helib", origin, (environment, ("its native module", build)), outside)


def _examined(prefixes: tuple[str, ...]) -> installation.Installation:
    found = installation.examined(prefixes)
    if isinstance(found, installation.Fault):
        raise FailureError(found.reason, found.step)
    return found
