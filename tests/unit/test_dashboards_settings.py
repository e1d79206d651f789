from __future__ import annotations

import pytest

from ciphermark_core.errors import UserError
from ciphermark_dashboards import access
from ciphermark_dashboards.benchmark import ServiceAwayError, Token
from ciphermark_dashboards.settings import from_environment
from ciphermark_web.keyring import Keyring

DATABASE = {"CIPHERMARK_DATABASE_URL": "postgresql://nowhere"}
TOKEN = "a-token-that-is-long-enough"


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("/", "/"),
        ("/operations?run=1&n=8192", "/operations?run=1&n=8192"),
        ("", "/"),
        ("operations", "/"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("https://elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_after_the_log_in_one_stays_here(asked, place):
    assert access.place_within(asked) == place


def test_a_session_ends_with_its_time_by_logging_out_and_with_its_token(tmp_path):
    now_s, file = [0.0], tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    sessions = access.Sessions(Keyring(file=file), lambda: now_s[0])
    assert sessions.opened("another-token-altogether") is None
    opened = [sessions.opened(f" {TOKEN}\n") for _ in range(3)]
    assert len({*opened, TOKEN}) == 4
    assert all(sessions.principal(each).is_service for each in opened)
    sessions.close(opened[0])
    assert [sessions.principal(each) is None for each in (*opened, "", TOKEN)] == [
        True,
        False,
        False,
        True,
        True,
    ]
    file.write_text("the-token-after-it-was-replaced\n")
    assert sessions.principal(opened[1]) is None
    file.write_text(f"{TOKEN}\nthe-token-after-it-was-replaced\n")
    assert sessions.principal(opened[1]).is_service
    now_s[0] = access.SESSION_S
    assert sessions.principal(opened[1]) is None


def test_wrong_tokens_wait_longer_and_longer_and_are_forgotten():
    now_s = [0.0]
    wrong = access.WrongTokens(lambda: now_s[0])
    assert [wrong.delay_s() for _ in range(6)] == [0.5, 1, 2, 4, 8, 8]
    now_s[0] = 61
    assert wrong.delay_s() == 0.5


def test_loopback_needs_no_token_and_other_places_do():
    assert from_environment(DATABASE).keyring is None
    with pytest.raises(UserError, match="it needs a token"):
        from_environment(DATABASE | {"CIPHERMARK_HOST": "0.0.0.0"})
    with pytest.raises(UserError, match="contains no token"):
        from_environment(DATABASE | {"CIPHERMARK_DASHBOARD_TOKEN": "short"})
    found = from_environment(DATABASE | {"CIPHERMARK_HOST": "0.0.0.0", "CIPHERMARK_DASHBOARD_TOKEN": TOKEN})
    assert (found.host, found.keyring.tokens) == ("0.0.0.0", (TOKEN,))


def test_who_could_start_runs_needs_a_token():
    service = DATABASE | {"CIPHERMARK_BENCHMARK_URL": "http://127.0.0.1:8100"}
    with pytest.raises(UserError, match="any user of this machine could start runs"):
        from_environment(service)
    assert from_environment(service | {"CIPHERMARK_DASHBOARD_TOKEN": TOKEN}).keyring.tokens == (TOKEN,)


def test_tokens_come_from_files(tmp_path):
    own, other = tmp_path / "own", tmp_path / "benchmark"
    other.write_text("the-token-of-the-service\n")
    files = {
        "CIPHERMARK_DASHBOARD_TOKEN_FILE": str(own),
        "CIPHERMARK_BENCHMARK_TOKEN_FILE": str(other),
    }
    found = from_environment(DATABASE | files)
    assert found.keyring.tokens == (own.read_text().strip(),)
    assert found.benchmark_token.headers() == {"Authorization": "Bearer the-token-of-the-service"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"CIPHERMARK_DATABASE_URL": ""}, "CIPHERMARK_DATABASE_URL is not set"),
        ({"CIPHERMARK_PORT": "http"}, "CIPHERMARK_PORT is 'http'"),
        ({"CIPHERMARK_LOG_LEVEL": "loud"}, "CIPHERMARK_LOG_LEVEL"),
    ],
)
def test_wrong_settings_are_told(changes, told):
    with pytest.raises(UserError, match=told):
        from_environment(DATABASE | changes)


def test_a_token_file_is_read_when_it_is_needed(tmp_path):
    token = Token(file=tmp_path / "token")
    with pytest.raises(ServiceAwayError, match="cannot be read"):
        token.headers()
    (tmp_path / "token").write_text("made-later\n")
    assert token.headers() == {"Authorization": "Bearer made-later"}
    assert Token().headers() == {}
