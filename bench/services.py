"""The client and the server service as processes of their own, for the sections that go through them."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import httpx

_STARTING_S = 60.0


@contextmanager
def running() -> Iterator[dict[str, str]]:
    """Both services with a folder of blobs between them: the variables that name them to the executor."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="ciphermark-bench-")))
        variables: dict[str, str] = {}
        for name in ("client", "server"):
            variables |= _started(name, folder, stack)
        for name in ("CLIENT", "SERVER"):
            _wait_for(variables[f"CIPHERMARK_{name}_URL"])
        yield variables


def _started(name: str, folder: Path, stack: ExitStack) -> dict[str, str]:
    for part in ("blobs", "private"):
        (folder / part).mkdir(mode=0o700, exist_ok=True)
    port, token = _free_port(), secrets.token_urlsafe(32)
    environment = os.environ | {
        "CIPHERMARK_PORT": str(port),
        "CIPHERMARK_BLOBS": str(folder / "blobs"),
        "CIPHERMARK_PRIVATE": str(folder / "private"),
        f"CIPHERMARK_{name.upper()}_TOKEN": token,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", f"ciphermark_{name}.main"], env=environment, stderr=subprocess.DEVNULL
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return {
        f"CIPHERMARK_{name.upper()}_URL": f"http://127.0.0.1:{port}",
        f"CIPHERMARK_{name.upper()}_TOKEN": token,
    }


def _free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port


def _wait_for(url: str) -> None:
    deadline = monotonic() + _STARTING_S
    while monotonic() < deadline:
        try:
            if httpx.get(f"{url}/readyz", trust_env=False).is_success:
                return
        except httpx.HTTPError:
            pass
        sleep(0.1)
    raise RuntimeError(f"{url}: the service did not become ready")
