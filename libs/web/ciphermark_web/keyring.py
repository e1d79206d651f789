"""The callers of a service: holders of its token, or of two during rotation, and users with their own roles and tokens.

Files are read again when they change: a rotation, a new user and a revoked one need no restart.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar, get_args

import structlog

from ciphermark_core.errors import UserError

Role = Literal["reader", "submitter", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each includes the rights of those before it
USERS_VARIABLE = "CIPHERMARK_USERS_FILE"
_DATA_VARIABLE = "CIPHERMARK_DATA"
MAX_TOKENS = 2  # of a service or a user: the old one and the new one

# The characters of a token by RFC 6750; short ones can be guessed.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{20,512}=*")
_RULE = "a token has 20 characters or more, letters, digits and . _ ~ + / -"
_USER = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._@-]{0,63}):(?P<role>[a-z]+):(?P<digest>[0-9a-f]{64})")
_ACTOR = re.compile(rf"(?P<name>[A-Za-z0-9][A-Za-z0-9._@ -]{{0,63}}):(?P<role>{'|'.join(ROLES)})")
_SERVICE_NAME = "service token"
_log = structlog.get_logger()
T = TypeVar("T")


def _role(text: str) -> Role:
    return next(role for role in ROLES if role == text)


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller. ``is_service`` for the service's own token, whose holder may act for others."""

    name: str
    role: Role
    is_service: bool = False

    def may(self, role: Role) -> bool:
        """Whether its role includes another."""
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def header(self) -> str:
        """The header in which one service names the principal of its call to another."""
        return f"{self.name}:{self.role}"

    def acting_for(self, header: str) -> Principal:
        """The principal that it acts for: any one with a service's own token, else itself only."""
        match = _ACTOR.fullmatch(header) if self.is_service else None
        return self if match is None else Principal(match["name"], _role(match["role"]))


class _Watched(Generic[T]):
    """The content of a file, read again when it changes; a missing file is empty. While the file is unreadable or
    invalid, the last content remains valid.
    """

    def __init__(self, path: Path, parse: Callable[[str, str], T]) -> None:
        self._path = path
        self._parse = parse
        self._state = self._stamp()
        self._content = self._read()

    @property
    def content(self) -> T:
        """The file's current content."""
        state = self._stamp()
        if state != self._state:
            self._state = state
            try:
                self._content = self._read()
            except (OSError, UnicodeDecodeError, UserError) as error:
                _log.warning("credentials are not read again", error=str(error))
        return self._content

    def _read(self) -> T:
        try:
            text = self._path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            text = ""
        return self._parse(text, str(self._path))

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


class Keyring:
    """The tokens that a service accepts."""

    def __init__(self, token: str | None = None, file: Path | None = None, users: Path | None = None) -> None:
        """``token`` or ``file`` holds the service's own; ``users`` is a file of users. Raises ``UserError`` for invalid
        content, ``OSError`` for unreadable files.
        """
        self._tokens = () if token is None else tokens_in(token, "the token")
        self._file = None if file is None else _Watched(file, tokens_in)
        self._users = None if users is None else _Watched(users, users_in)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The service's own tokens; its callers send the first one."""
        return self._tokens if self._file is None else self._file.content

    def principal(self, given: str) -> Principal | None:
        """The holder of a token."""
        return self.holder(digest_of(given.strip()))

    def holder(self, digest: str) -> Principal | None:
        """The holder of the token with this digest, in the same time for every unknown one."""
        service = Principal(_SERVICE_NAME, "admin", is_service=True)
        own = tuple((digest_of(token), service) for token in self.tokens)
        found: Principal | None = None
        for known, principal in own + (() if self._users is None else self._users.content):
            if hmac.compare_digest(digest, known):
                found = principal
        return found

    def bearer(self, authorization: str | None) -> Principal | None:
        """The holder of the token in an ``Authorization`` header."""
        scheme, _, given = (authorization or "").partition(" ")
        principal = self.principal(given)
        return principal if scheme.lower() == "bearer" else None


def digest_of(token: str) -> str:
    """The stored digest of a token: tokens are random and long, so that it reveals nothing."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def tokens_in(text: str, source: str) -> tuple[str, ...]:
    """The tokens of a text, one per line; raises ``UserError``, which quotes none of them. Pure."""
    tokens = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not 1 <= len(tokens) <= MAX_TOKENS or not all(_TOKEN.fullmatch(token) for token in tokens):
        raise UserError(f"{source} contains no token: {_RULE}; two lines while a token is replaced")
    return tokens


Users = tuple[tuple[str, Principal], ...]


def users_in(text: str, source: str) -> Users:
    """The users of a text, ``NAME:ROLE:SHA-256`` each, by the digests of their tokens. Raises ``UserError``. Pure."""
    users: list[tuple[str, Principal]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _USER.fullmatch(line.strip())
        if match is None or match["role"] not in ROLES:
            raise UserError(
                f"{source}, line {number}: a user is NAME:ROLE:SHA-256, with a role of {', '.join(ROLES)}"
            )
        users.append((match["digest"], Principal(match["name"], _role(match["role"]))))
        if sum(user.name == match["name"] for _, user in users) > MAX_TOKENS:
            raise UserError(f"{source}, line {number}: {match['name']} has more than {MAX_TOKENS} tokens")
    return tuple(users)


def user_line(name: str, role: str, token: str) -> str:
    """The line of a user; raises ``UserError`` for an invalid name or role. Pure."""
    line = f"{name}:{role}:{digest_of(token)}"
    users_in(line, f"{name}:{role}")
    return line


def users_file(environ: Mapping[str, str], data_directory: Path | None = None) -> Path | None:
    """The file of users that the environment names, else that of the data directory, given or named there. It may not
    exist yet. Commands write it and services read it, so both use this one rule.
    """
    if path := environ.get(USERS_VARIABLE):
        return Path(path)
    folder = data_directory or environ.get(_DATA_VARIABLE)
    return Path(folder) / "tokens" / "users" if folder else None
