"""Families of workloads that present their results: a module ``figures``, and queries beside it, in their folder."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType

PACKAGE = "ciphermark_workloads"  # whoever presents results knows its name, and loads no workload


@cache
def names() -> tuple[str, ...]:
    """The packages of the families that have such a module."""
    folders = sorted(files(PACKAGE).iterdir(), key=lambda folder: folder.name)
    return tuple(f"{PACKAGE}.{folder.name}" for folder in folders if (folder / "figures.py").is_file())


@cache
def modules() -> tuple[ModuleType, ...]:
    """These modules, which import nothing but this package: whoever presents results loads no workload."""
    return tuple(import_module(f"{name}.figures") for name in names())
