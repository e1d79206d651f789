"""Copies of packages that recipes are followed on."""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path


def copied(package: Path, folder: Path) -> Path:
    """A copy of a package in a folder, under its own name."""
    copy = folder / package.name
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def touched(package: Path, copy: Path) -> set[str]:
    """The files of a copy that the package has not, or has otherwise."""
    names = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    _, changed, missing = filecmp.cmpfiles(package, copy, names, shallow=False)
    return {*changed, *missing}


def follow(copy: Path, name: str, *changes: tuple[str, str]) -> None:
    """Change the one file of a recipe."""
    text = (copy / name).read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (copy / name).write_text(text)
