"""Families of workloads that present their results: a module ``figures``, and queries beside it, in their folder."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

PACKAGE = "ciphermark_workloads"  # whoever presents results knows its name, and loads no workload


@cache
def names() -> tuple[str, ...]:
    """The packages of the families that have such a module."""
    folders = sorted(files(PACKAGE).iterdir(), key=lambda folder: folder.name)
    return tuple(f"{PACKAGE}.{folder.name}" for folder in folders if (folder / "figures.py").is_file())
