"""The files of the house, and what tests of its rules read of them."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PRODUCT = ("libs/", "services/", "db/", "dashboards/", "setup/", "deploy/", "bench/")


@cache
def files() -> tuple[str, ...]:
    """Every file that is committed or about to be, by its path in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    return tuple(name for name in listed.stdout.split("\0") if name and (REPOSITORY / name).is_file())


def product(*suffixes: str) -> list[str]:
    """The files of the product with one of these suffixes; migrations, which nobody may change, are none of them."""
    return [
        name
        for name in files()
        if name.startswith(PRODUCT) and name.endswith(suffixes) and "/migrations/" not in name
    ]


def lines(name: str) -> list[str]:
    """The lines of a file."""
    return (REPOSITORY / name).read_text().splitlines()


@cache
def tree(name: str) -> ast.Module:
    """A Python file, parsed."""
    return ast.parse((REPOSITORY / name).read_text())
