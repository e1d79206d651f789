"""The services that work together on one machine, and what each of them is told."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Service:
    """A program to run; with a port, it is ready when its `/readyz` says so."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    port: int | None = None

    @property
    def url(self) -> str:
        """Where it answers, on this machine alone."""
        return f"http://127.0.0.1:{self.port}"


def services(home: Path, ports: argparse.Namespace, database_url: str) -> list[Service]:
    """Return the services in the order they start; they share blobs, and the client alone has `private`."""
    private = {"CIPHERMARK_PRIVATE": str(home / "private")}
    of_parties = {
        "CIPHERMARK_CLIENT_URL": f"http://127.0.0.1:{ports.client_port}",
        "CIPHERMARK_SERVER_URL": f"http://127.0.0.1:{ports.server_port}",
        **_token_files(home, "benchmark", "client", "server"),
    }
    return [
        _listening("client", ("ciphermark-client",), home, ports.client_port, private),
        _listening("server", ("ciphermark-server",), home, ports.server_port, {}),
        _listening(
            "benchmark", ("ciphermark", "serve"), home, ports.benchmark_port, of_parties | _users(home)
        ),
        Service("worker", ("ciphermark", "worker"), {**_shared(home), **of_parties}),
        _dashboard(home, ports, database_url),
    ]


def _shared(home: Path) -> dict[str, str]:
    return {"CIPHERMARK_HOME": str(home), "CIPHERMARK_BLOBS": str(home / "blobs")}


def _token_files(home: Path, *names: str) -> dict[str, str]:
    return {f"CIPHERMARK_{name.upper()}_TOKEN_FILE": str(home / "tokens" / name) for name in names}


def _users(home: Path) -> dict[str, str]:
    return {"CIPHERMARK_USERS_FILE": str(home / "tokens" / "users")}


def _listening(
    name: str, command: tuple[str, ...], home: Path, port: int, environment: dict[str, str]
) -> Service:
    own = {"CIPHERMARK_PORT": str(port), **_token_files(home, name)}
    return Service(name, command, {**_shared(home), **own, **environment}, port)


def _dashboard(home: Path, ports: argparse.Namespace, database_url: str) -> Service:
    environment = {
        "CIPHERMARK_DATABASE_URL": database_url,
        "CIPHERMARK_HOST": "127.0.0.1",
        "CIPHERMARK_PORT": str(ports.dashboard_port),
        "CIPHERMARK_BENCHMARK_URL": f"http://127.0.0.1:{ports.benchmark_port}",
        "CIPHERMARK_SERVICES_FILE": str(conditions_file(home)),
        **_token_files(home, "benchmark", "dashboard"),
        **_users(home),
    }
    return Service("dashboard", ("ciphermark-dashboard",), environment, ports.dashboard_port)


def conditions_file(home: Path) -> Path:
    """The file that says how the services are; the dashboard reads it."""
    return home / "logs" / "services.json"
