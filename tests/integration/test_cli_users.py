"""Users through the command line, and what a service makes of them."""

from __future__ import annotations

import argparse
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from benchmark_service import ended, started, suite
from command import REPOSITORY, Ciphermark
from dashboard import HERE, dashboard

from ciphermark_dashboards.settings import from_environment
from ciphermark_web.keyring import Keyring, users_file

sys.path.insert(0, str(REPOSITORY / "deploy"))
import stack


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
    assert "ciphermark users add" in ciphermark("users", "list").err


def test_whoever_was_added_may_call_the_service_of_the_data_directory(
    tmp_path: Path, new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a setting, and without a restart; so does the dashboard of that data directory."""
    monkeypatch.delenv("CIPHERMARK_USERS_FILE", raising=False)
    url = new_url()
    command = Ciphermark(tmp_path / "data", url)
    service = started(tmp_path, url)
    ada, cleo = (command("users", "add", name, "--role", "reader").out.strip() for name in ("ada", "cleo"))
    with service.client(ada) as client, service.client("the-token-of-a-stranger") as stranger:
        assert client.get("/v1/runs").status_code == 200
        assert client.post("/v1/runs", json={"suite": suite()}).status_code == 403
        assert stranger.get("/v1/runs").status_code == 401
        command("users", "revoke", "ada")
        assert client.get("/v1/runs").status_code == 401
    ended(service)
    environ = {
        "CIPHERMARK_DATABASE_URL": url,
        "CIPHERMARK_DATA": str(command.data_directory),
        "CIPHERMARK_DASHBOARD_TOKEN": "the-token-of-the-dashboard",
    }
    with dashboard(url, follow_redirects=False, keyring=from_environment(environ).keyring) as pages:
        codes = [
            pages.post("/login", headers={"origin": HERE}, data={"token": token}).status_code
            for token in (ada, cleo)
        ]
    assert codes == [401, 303]


@pytest.mark.parametrize("named", [{}, {"CIPHERMARK_USERS_FILE": "/elsewhere/users"}])
def test_all_services_of_one_machine_read_the_file_that_commands_write(
    tmp_path: Path, named: dict[str, str]
) -> None:
    ports = argparse.Namespace(
        **{f"{name}_port": 1 for name in ("client", "server", "benchmark", "dashboard")}
    )
    services: Sequence[stack.Service] = stack.services(tmp_path, ports, "postgresql://nowhere")
    files = {
        users_file(named | service.environment)
        for service in services
        if service.name in ("benchmark", "dashboard")
    }
    assert files == {users_file(named | {"CIPHERMARK_DATA": str(tmp_path)})}
    assert files != {None}
