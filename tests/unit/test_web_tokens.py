from __future__ import annotations

import stat

import pytest

from ciphermark_core.errors import UserError
from ciphermark_web import environment
from ciphermark_web.keyring import Keyring, Principal, tokens_in, user_line, users_in

TOKEN = "a-token.of_enough~characters+/=="


def test_a_token_from_the_environment():
    assert environment.keyring_of("client", {"CIPHERMARK_CLIENT_TOKEN": TOKEN}).tokens == (TOKEN,)


def test_a_token_from_a_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    assert environment.keyring_of("server", {"CIPHERMARK_SERVER_TOKEN_FILE": str(path)}).tokens == (TOKEN,)


def test_a_missing_file_is_made_for_its_owner_alone(tmp_path):
    environ = {"CIPHERMARK_SERVER_TOKEN_FILE": str(tmp_path / "token")}
    (made,) = environment.keyring_of("server", environ).tokens
    assert len(made) >= 40
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert environment.keyring_of("server", environ).tokens == (made,)
    other = {"CIPHERMARK_SERVER_TOKEN_FILE": str(tmp_path / "other")}
    assert environment.keyring_of("server", other).tokens != (made,)


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "client has no token: set CIPHERMARK_CLIENT_TOKEN_FILE"),
        ({"CIPHERMARK_SERVER_TOKEN": TOKEN}, "client has no token"),
        ({"CIPHERMARK_CLIENT_TOKEN": ""}, "client has no token"),
        ({"CIPHERMARK_CLIENT_TOKEN": "short"}, "CIPHERMARK_CLIENT_TOKEN contains no token"),
        ({"CIPHERMARK_CLIENT_TOKEN": "with a space in the middle"}, "contains no token"),
        ({"CIPHERMARK_CLIENT_TOKEN_FILE": "/nowhere/at/all"}, "/nowhere/at/all cannot be read or created"),
        ({"CIPHERMARK_CLIENT_TOKEN_FILE": "/dev/null"}, "/dev/null contains no token"),
    ],
)
def test_what_is_no_token_is_told_and_not_quoted(environ, told):
    with pytest.raises(UserError, match=told) as caught:
        environment.keyring_of("client", environ)
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
    assert (Keyring(TOKEN).bearer(header) is not None) is is_right


def test_no_child_inherits_a_token():
    environ = {"CIPHERMARK_CLIENT_TOKEN": TOKEN, "CIPHERMARK_SERVER_TOKEN_FILE": "x", "CIPHERMARK_PORT": "1"}
    environment.forget_tokens(environ)
    assert environ == {"CIPHERMARK_PORT": "1"}


OTHER = "the-token-that-comes-after-it"


def test_while_a_token_is_replaced_both_are_right_without_a_restart(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    keyring = Keyring(file=path)
    assert keyring.principal(OTHER) is None
    path.write_text(f"{OTHER}\n{TOKEN}\n")
    assert keyring.tokens == (OTHER, TOKEN)
    assert keyring.principal(TOKEN) == keyring.principal(OTHER) == Principal("service token", "admin", True)
    path.write_text("no token\n")
    assert keyring.principal(TOKEN)  # the last content that made sense
    path.write_text(f"{OTHER}\n")
    assert keyring.principal(TOKEN) is None
    assert keyring.principal(OTHER)


def test_users_have_roles_and_tokens_of_their_own(tmp_path):
    path = tmp_path / "users"
    keyring = Keyring(TOKEN, users=path)
    assert keyring.principal(OTHER) is None
    path.write_text(f"# who\n{user_line('ada', 'reader', OTHER)}\n")
    ada = keyring.principal(OTHER)
    assert ada == Principal("ada", "reader")
    assert [ada.may(role) for role in ("reader", "submitter", "admin")] == [True, False, False]
    assert OTHER not in path.read_text()
    path.write_text("")
    assert keyring.principal(OTHER) is None
    assert keyring.principal(TOKEN).may("admin")


def test_a_service_may_call_for_a_user_and_a_user_for_nobody():
    service, ada = Principal("service token", "admin", True), Principal("ada", "submitter")
    assert service.acting_for(ada.header) == ada
    assert service.acting_for("") == service.acting_for("ada:king") == service
    assert ada.acting_for("eve:admin") == ada


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["ada"], "line 1: a user is NAME:ROLE:SHA-256"),
        ([user_line("ada", "reader", TOKEN), f"ada:king:{'0' * 64}"], "line 2: a user is"),
        ([user_line("ada", "reader", TOKEN)] * 3, "line 3: ada has more than 2 tokens"),
    ],
)
def test_what_is_no_user_is_told_with_its_line(lines, told):
    with pytest.raises(UserError, match=f"^users, {told}"):
        users_in("\n".join(lines), "users")


def test_a_file_has_two_tokens_at_most():
    with pytest.raises(UserError, match="two lines while a token is replaced"):
        tokens_in("\n".join([TOKEN] * 3), "file")
