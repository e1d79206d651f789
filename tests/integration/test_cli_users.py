"""Users through the command line, and what a service makes of them."""

from __future__ import annotations

import stat

import pytest
from command import Ciphermark

from ciphermark_web.keyring import Keyring


def test_users_are_added_listed_and_revoked(ciphermark: Ciphermark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CIPHERMARK_USERS_FILE", raising=False)
    path = ciphermark.data_directory / "tokens" / "users"
    first = ciphermark("users", "add", "ada", "--role", "reader").out.strip()
    second = ciphermark("users", "add", "ada", "--role", "reader").out.strip()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert first not in path.read_text()
    assert ciphermark("users", "list").out == "ada  reader\nada  reader\n"
    keyring = Keyring("the-token-of-the-service", users=path)
    assert keyring.principal(first) == keyring.principal(second)
    ciphermark("users", "add", "ada", "--role", "reader", code=2)  # two at most
    ciphermark("users", "add", "eve", "--role", "king", code=2)
    assert "revoked: 1 of 2" in ciphermark("users", "revoke", "ada", "--oldest").out
    assert keyring.principal(first) is None
    assert keyring.principal(second)
    ciphermark("users", "revoke", "ada")
    assert keyring.principal(second) is None
    ciphermark("users", "revoke", "ada", code=2)
