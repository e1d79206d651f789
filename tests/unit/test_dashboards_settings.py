from __future__ import annotations

import pytest

from ciphermark_core.errors import UserError
from ciphermark_dashboards import access
from ciphermark_dashboards.benchmark import ServiceAwayError, Token
from ciphermark_dashboards.settings import from_environment

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


def test_the_cookie_does_not_tell_the_token():
    assert TOKEN not in access.proof(TOKEN)
    assert access.proof(TOKEN) != access.proof(TOKEN + "x")
    assert access.is_right(TOKEN, f" {TOKEN}\n")
    assert not access.is_right(TOKEN, "")


def test_loopback_needs_no_token_and_other_places_do():
    assert from_environment(DATABASE).token is None
    with pytest.raises(UserError, match="it needs a token"):
        from_environment(DATABASE | {"CIPHERMARK_HOST": "0.0.0.0"})
    with pytest.raises(UserError, match="holds no token"):
        from_environment(DATABASE | {"CIPHERMARK_DASHBOARD_TOKEN": "short"})
    found = from_environment(DATABASE | {"CIPHERMARK_HOST": "0.0.0.0", "CIPHERMARK_DASHBOARD_TOKEN": TOKEN})
    assert (found.host, found.token) == ("0.0.0.0", TOKEN)


def test_who_could_start_runs_needs_a_token():
    service = DATABASE | {"CIPHERMARK_BENCHMARK_URL": "http://127.0.0.1:8100"}
    with pytest.raises(UserError, match="any user of this machine could start runs"):
        from_environment(service)
    assert from_environment(service | {"CIPHERMARK_DASHBOARD_TOKEN": TOKEN}).token == TOKEN


def test_tokens_come_from_files(tmp_path):
    own, other = tmp_path / "own", tmp_path / "benchmark"
    other.write_text("the-token-of-the-service\n")
    files = {
        "CIPHERMARK_DASHBOARD_TOKEN_FILE": str(own),
        "CIPHERMARK_BENCHMARK_TOKEN_FILE": str(other),
    }
    found = from_environment(DATABASE | files)
    assert found.token == own.read_text().strip()
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
