"""The services of one machine, with their commands and environments."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Service:
    """A program to run. A service with a port is ready when its `/readyz` reports so."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    port: int | None = None

    @property
    def url(self) -> str:
        """Its address, reachable from this machine only."""
        return f"http://127.0.0.1:{self.port}"


def services(data_directory: Path, ports: argparse.Namespace, database_url: str) -> list[Service]:
    """Return the services in the order they start. They share blobs; only the client has `private`."""
    private = {"CIPHERMARK_PRIVATE": str(data_directory / "private")}
    of_parties = {
        "CIPHERMARK_CLIENT_URL": f"http://127.0.0.1:{ports.client_port}",
        "CIPHERMARK_SERVER_URL": f"http://127.0.0.1:{ports.server_port}",
        **_token_files(data_directory, "benchmark", "client", "server"),
    }
    return [
        _listening("client", ("ciphermark-client",), data_directory, ports.client_port, private),
        _listening("server", ("ciphermark-server",), data_directory, ports.server_port, {}),
        _listening(
            "benchmark",
            ("ciphermark", "serve"),
            data_directory,
            ports.benchmark_port,
            of_parties,
        ),
        Service("worker", ("ciphermark", "worker"), {**_shared(data_directory), **of_parties}),
        _dashboard(data_directory, ports, database_url),
    ]


def _shared(data_directory: Path) -> dict[str, str]:
    return {"CIPHERMARK_DATA": str(data_directory), "CIPHERMARK_BLOBS": str(data_directory / "blobs")}


def _token_files(data_directory: Path, *names: str) -> dict[str, str]:
    return {f"CIPHERMARK_{name.upper()}_TOKEN_FILE": str(data_directory / "tokens" / name) for name in names}


def _listening(
    name: str, command: tuple[str, ...], data_directory: Path, port: int, environment: dict[str, str]
) -> Service:
    own = {"CIPHERMARK_PORT": str(port), **_token_files(data_directory, name)}
    return Service(name, command, {**_shared(data_directory), **own, **environment}, port)


def _dashboard(data_directory: Path, ports: argparse.Namespace, database_url: str) -> Service:
    environment = {
        "CIPHERMARK_DATABASE_URL": database_url,
        "CIPHERMARK_HOST": "127.0.0.1",
        "CIPHERMARK_PORT": str(ports.dashboard_port),
        "CIPHERMARK_BENCHMARK_URL": f"http://127.0.0.1:{ports.benchmark_port}",
        "CIPHERMARK_SERVICES_FILE": str(conditions_file(data_directory)),
        **_token_files(data_directory, "benchmark", "dashboard"),
        "CIPHERMARK_DATA": str(data_directory),  # holds the file of users
    }
    return Service("dashboard", ("ciphermark-dashboard",), environment, ports.dashboard_port)


def conditions_file(data_directory: Path) -> Path:
    """The file with the services' conditions, which the dashboard reads."""
    return data_directory / "logs" / "services.json"
