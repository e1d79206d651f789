"""Settings are environment variables, checked once when a service starts; among them bearer tokens, one per service."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from ciphermark_core.errors import UserError

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
    """A folder that must be named; it is made where it is missing.

    Raises ``UserError`` where it is not named, or cannot be made or written.
    """
    if not environ.get(name):
        raise UserError(f"{name} is not set; it must name the folder {purpose}")
    path = Path(environ[name]).absolute()
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


# Characters of a token as RFC 6750 has them; short ones can be guessed.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{20,512}=*")
_RULE = "a token has 20 characters or more, letters, digits and . _ ~ + / -"


def token_of(service: str, environ: Environ) -> str:
    """The token of a service: ``CIPHERMARK_<SERVICE>_TOKEN``, or the content of the file ``…_TOKEN_FILE``.

    A file that is not there yet is made, readable by its owner alone, with a fresh token. There is no way to go
    without: raises ``UserError`` where neither variable is set, or where what they give is no token.
    """
    variable = f"CIPHERMARK_{service.upper()}_TOKEN"
    if environ.get(variable):
        return _checked(environ[variable], variable)
    path = environ.get(f"{variable}_FILE")
    if not path:
        raise UserError(
            f"{service} has no token: set {variable}_FILE to a file (one that is missing is made, with a fresh "
            f"token) or {variable} to a token"
        )
    try:
        return _checked(_from_file(Path(path)), path)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{variable}_FILE: {path} cannot be read or made: {error}") from None


def forget_tokens(environ: MutableMapping[str, str]) -> None:
    """Take all tokens out of an environment, which child processes would inherit."""
    for name in [name for name in environ if name.startswith("CIPHERMARK_") and "_TOKEN" in name]:
        del environ[name]


def carries(token: str, authorization: str | None) -> bool:
    """Whether an ``Authorization`` header carries the token; takes as long for any wrong one."""
    scheme, _, given = (authorization or "").partition(" ")
    given_bytes = given.strip().encode("utf-8", "replace")
    return hmac.compare_digest(given_bytes, token.encode()) and scheme.lower() == "bearer"


def _checked(token: str, source: str) -> str:
    token = token.strip()
    if not _TOKEN.fullmatch(token):
        raise UserError(f"{source} holds no token: {_RULE}")
    return token


def _from_file(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    token = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{token}\n")
    return token
