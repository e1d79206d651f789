"""Ports for services that tests start, which no other process of the tests gets meanwhile."""

from __future__ import annotations

import os
import socket
from itertools import count

# Below those that the kernel gives to whoever asks for none in particular; as many for each of the processes that
# pytest-xdist starts ("gw0", "gw1", …), so that two of them never choose the same one.
_FIRST, _SHARE = 20_000, 1_500
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_candidates = count(os.getpid() % 500)


def free_port() -> int:
    """A port that nobody listens at, and that this process gets once."""
    while True:
        port = _FIRST + _worker * _SHARE + next(_candidates) % _SHARE
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
