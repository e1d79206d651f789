"""Settings are environment variables, checked once when a service starts; among them bearer tokens, one per service."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from ciphermark_core.errors import UserError
from ciphermark_web.keyring import Keyring, tokens_in

Environ = Mapping[str, str]


def text(environ: Environ, name: str, default: str) -> str:
    """A text; unset or empty means the default."""
    return environ.get(name) or default


def one_of(environ: Environ, name: str, choices: tuple[str, ...]) -> str:
    """One of the choices, by default the first; raises ``UserError`` for anything else."""
    choice = text(environ, name, choices[0]).lower()
    if choice not in choices:
        raise UserError(f"{name} is {choice!r}; it must be one of {', '.join(choices)}")
    return choice


def integer(environ: Environ, name: str, default: int, bounds: tuple[int, int]) -> int:
    """A whole number within bounds, both included; raises ``UserError`` for anything else."""
    least, most = bounds
    digits = text(environ, name, str(default))
    if not (digits.isascii() and digits.isdigit() and least <= int(digits) <= most):
        raise UserError(f"{name} is {digits!r}; it must be a whole number from {least} to {most}")
    return int(digits)


def folder(environ: Environ, name: str, purpose: str) -> Path:
    """A folder that the environment must name; a missing one is created.

    Raises ``UserError`` where it is not named, or cannot be created or written.
    """
    if not environ.get(name):
        raise UserError(f"{name} is not set; it must name the folder {purpose}")
    path = Path(environ[name]).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{name}: the folder {path} cannot be created: {error.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise UserError(
            f"{name}: the folder {path} cannot be written; correct its permissions or name another"
        )
    return path


def private_folder(environ: Environ, name: str, purpose: str) -> Path:
    """A folder as in :func:`folder`, made accessible to its owner alone."""
    path = folder(environ, name, purpose)
    try:
        path.chmod(0o700)
    except OSError as error:
        raise UserError(f"{name}: {path} cannot be made private: {error.strerror}; own it") from None
    return path


def require_apart(one: Path, other: Path) -> None:
    """Raise ``UserError`` where one folder contains the other."""
    first, second = one.resolve(), other.resolve()
    if first.is_relative_to(second) or second.is_relative_to(first):
        raise UserError(f"{one} and {other} must be apart: what is private must not be shared")


def keyring_of(service: str, environ: Environ, users: Path | None = None) -> Keyring:
    """The callers of a service. Its token is ``CIPHERMARK_<SERVICE>_TOKEN``, or in the file ``…_TOKEN_FILE``, which may
    hold a second one. The file ``users`` has more callers.

    A missing token file is created with a fresh token, readable by its owner alone. A token is mandatory: raises
    ``UserError`` where neither variable is set, or where the value is no valid token.
    """
    variable = f"CIPHERMARK_{service.upper()}_TOKEN"
    token, path = environ.get(variable), environ.get(f"{variable}_FILE")
    if not (token or path):
        raise UserError(
            f"{service} has no token: set {variable}_FILE to a file (created with a new token if it is "
            f"missing) or {variable} to a token"
        )
    try:
        if token:
            tokens_in(token, variable)
            return Keyring(token, users=users)
        _ensure_token(Path(str(path)))
        return Keyring(file=Path(str(path)), users=users)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{variable}_FILE: {path} cannot be read or created: {error}") from None


def forget_tokens(environ: MutableMapping[str, str]) -> None:
    """Remove all tokens from an environment, which child processes would inherit."""
    for name in [name for name in environ if name.startswith("CIPHERMARK_") and "_TOKEN" in name]:
        del environ[name]


def _ensure_token(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{secrets.token_urlsafe(32)}\n")
