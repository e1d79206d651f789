"""Settings are environment variables, checked once when a service starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ciphermark_core.errors import UserError

Environ = Mapping[str, str]


def text(environ: Environ, name: str, default: str) -> str:
    """A text; unset or empty means the default."""
    return environ.get(name) or default


def one_of(environ: Environ, name: str, choices: tuple[str, ...]) -> str:
    """One of the choices, by default the first; raises ``UserError`` for anything else."""
    found = text(environ, name, choices[0]).lower()
    if found not in choices:
        raise UserError(f"{name} is {found!r}; it must be one of {', '.join(choices)}")
    return found


def integer(environ: Environ, name: str, default: int, bounds: tuple[int, int]) -> int:
    """A whole number within bounds, both included; raises ``UserError`` for anything else."""
    least, most = bounds
    found = text(environ, name, str(default))
    if not (found.isascii() and found.isdigit() and least <= int(found) <= most):
        raise UserError(f"{name} is {found!r}; it must be a whole number from {least} to {most}")
    return int(found)


def folder(environ: Environ, name: str, purpose: str) -> Path:
    """A folder that must be named; it is made where it is missing.

    Raises ``UserError`` where it is not named, or cannot be made or written.
    """
    found = environ.get(name)
    if not found:
        raise UserError(f"{name} is not set; it must name the folder {purpose}")
    path = Path(found).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{name}: the folder {path} cannot be made: {error.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise UserError(f"{name}: the folder {path} cannot be written; mend its permissions or name another")
    return path


def private_folder(environ: Environ, name: str, purpose: str) -> Path:
    """A folder as :func:`folder` has it, which nobody else can enter from then on."""
    path = folder(environ, name, purpose)
    try:
        path.chmod(0o700)
    except OSError as error:
        raise UserError(f"{name}: {path} cannot be made private: {error.strerror}; own it") from None
    return path


def require_apart(one: Path, other: Path) -> None:
    """Raise ``UserError`` where one folder lies in the other."""
    first, second = one.resolve(), other.resolve()
    if first.is_relative_to(second) or second.is_relative_to(first):
        raise UserError(f"{one} and {other} must be apart: what is private must not be shared")
