from __future__ import annotations

import stat

import pytest

from ciphermark_core.errors import UserError
from ciphermark_web import environment

TOKEN = "a-token.of_enough~characters+/=="


def test_a_token_from_the_environment():
    assert environment.token_of("client", {"CIPHERMARK_CLIENT_TOKEN": TOKEN}) == TOKEN


def test_a_token_from_a_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    assert environment.token_of("server", {"CIPHERMARK_SERVER_TOKEN_FILE": str(path)}) == TOKEN


def test_a_missing_file_is_made_for_its_owner_alone(tmp_path):
    environ = {"CIPHERMARK_SERVER_TOKEN_FILE": str(tmp_path / "token")}
    made = environment.token_of("server", environ)
    assert len(made) >= 40
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert environment.token_of("server", environ) == made
    other = {"CIPHERMARK_SERVER_TOKEN_FILE": str(tmp_path / "other")}
    assert environment.token_of("server", other) != made


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "client has no token: set CIPHERMARK_CLIENT_TOKEN_FILE"),
        ({"CIPHERMARK_SERVER_TOKEN": TOKEN}, "client has no token"),
        ({"CIPHERMARK_CLIENT_TOKEN": ""}, "client has no token"),
        ({"CIPHERMARK_CLIENT_TOKEN": "short"}, "CIPHERMARK_CLIENT_TOKEN holds no token"),
        ({"CIPHERMARK_CLIENT_TOKEN": "with a space in the middle"}, "holds no token"),
        ({"CIPHERMARK_CLIENT_TOKEN_FILE": "/nowhere/at/all"}, "/nowhere/at/all cannot be read or made"),
        ({"CIPHERMARK_CLIENT_TOKEN_FILE": "/dev/null"}, "/dev/null holds no token"),
    ],
)
def test_what_is_no_token_is_told_and_not_quoted(environ, told):
    with pytest.raises(UserError, match=told) as caught:
        environment.token_of("client", environ)
    assert "with a space" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "is_right"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer {TOKEN}", True),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        (f"Bearer {TOKEN}x", False),
        (f"Bearer {TOKEN[:-1]}", False),
        ("Bearer ", False),
        ("Bearer \udcff", False),
        ("", False),
        (None, False),
    ],
)
def test_only_the_token_is_right(header, is_right):
    assert environment.carries(TOKEN, header) is is_right


def test_no_child_inherits_a_token():
    environ = {"CIPHERMARK_CLIENT_TOKEN": TOKEN, "CIPHERMARK_SERVER_TOKEN_FILE": "x", "CIPHERMARK_PORT": "1"}
    environment.forget_tokens(environ)
    assert environ == {"CIPHERMARK_PORT": "1"}
