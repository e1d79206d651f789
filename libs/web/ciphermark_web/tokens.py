"""Bearer tokens: one per service, from the environment or from a file, compared in constant time."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import MutableMapping
from pathlib import Path

from ciphermark_core.errors import UserError
from ciphermark_web.environment import Environ

# Characters of a token as RFC 6750 has them; short ones can be guessed.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{20,512}=*")
_RULE = "a token has 20 characters or more, letters, digits and . _ ~ + / -"


def configured(service: str, environ: Environ) -> str:
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


def forget(environ: MutableMapping[str, str]) -> None:
    """Take all tokens out of an environment, which child processes would inherit."""
    for name in [name for name in environ if name.startswith("CIPHERMARK_") and "_TOKEN" in name]:
        del environ[name]


def is_right(token: str, authorization: str | None) -> bool:
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
