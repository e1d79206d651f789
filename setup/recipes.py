"""Finds the recipe of each library's build or installation: the file `recipe.py` next to its adapter.

A recipe has a function `stages(without)` and, if needed, tuples: `PACKAGES` of Debian, `SOURCES` to download,
`IMAGE_PACKAGES` for its own environment in images. It runs in the Python that starts the setup, which has none of our
packages: it imports only the standard library and the modules of this folder.
"""

import importlib.util
import sys
from collections.abc import Collection
from functools import cache
from types import ModuleType

from places import ADAPTERS
from runner import Stage
from sources import Archive
from system import DebianPackage


def stages(without: Collection[str]) -> list[Stage]:
    """Return the stages of all recipes."""
    return [stage for name in names() for stage in load(name).stages(without)]


def packages() -> list[DebianPackage]:
    """Return the Debian packages that recipes request."""
    return [package for name in names() for package in getattr(load(name), "PACKAGES", ())]


def archives() -> list[Archive]:
    """Return the archives that recipes build from, each once."""
    named = [archive for name in names() for archive in getattr(load(name), "SOURCES", ())]
    return list({archive.file: archive for archive in named}.values())


def names() -> list[str]:
    """Return the names of the adapters' folders that have a recipe."""
    return sorted(path.parent.name for path in ADAPTERS.glob("[!_]*/recipe.py"))


@cache
def load(name: str) -> ModuleType:
    """Return the recipe of an adapter's folder as a module."""
    module_name = f"recipe_{name}"
    specification = importlib.util.spec_from_file_location(module_name, ADAPTERS / name / "recipe.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[module_name] = module  # its dataclasses look for it there
    specification.loader.exec_module(module)
    return module
