"""Connections that may hold locks: each side notices within half a minute that the other one was cut off."""

from __future__ import annotations

import pytest

from ciphermark_db.database import settings

HEARD = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=30000"


@pytest.mark.parametrize(
    ("url", "options", "expected"),
    [
        ("postgresql://a@db/b", (), HEARD),
        ("postgresql://a@db/b", ("jit=off",), f"{HEARD} -c jit=off"),
        ("postgresql://a@db/b?options=-c%20role%3Dc", ("jit=off",), f"-c role=c {HEARD} -c jit=off"),
    ],
)
def test_a_session_has_keepalives_and_the_options_of_its_url(monkeypatch, url, options, expected):
    monkeypatch.delenv("PGOPTIONS", raising=False)
    own = settings(url, *options)
    assert own["options"] == expected
    assert (own["tcp_user_timeout"], own["keepalives_idle"]) == (30_000, 10)


def test_a_session_has_the_options_of_the_environment_where_its_url_has_none(monkeypatch):
    monkeypatch.setenv("PGOPTIONS", "-c role=d")
    assert settings("postgresql://a@db/b")["options"] == f"-c role=d {HEARD}"
    assert "role=d" not in settings("postgresql://a@db/b?options=-c%20role%3Dc")["options"]
