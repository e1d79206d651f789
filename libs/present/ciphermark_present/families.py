"""Families of workloads that present their results: each has a module ``figures``, and queries next to it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType

PACKAGE = "ciphermark_workloads"  # the presentation knows its name, and loads no workload


@cache
def names() -> tuple[str, ...]:
    """The packages of the families that have such a module."""
    folders = sorted(files(PACKAGE).iterdir(), key=lambda folder: folder.name)
    return tuple(f"{PACKAGE}.{folder.name}" for folder in folders if (folder / "figures.py").is_file())


@cache
def modules() -> tuple[ModuleType, ...]:
    """The modules ``figures``, which import nothing but this package: the presentation of results loads no workload."""
    return tuple(import_module(f"{name}.figures") for name in names())
