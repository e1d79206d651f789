"""The worker: a fresh process that serves the trials of one variant with one set of keys.

``python -m ciphermark_measure.worker --cpus 1 --memory-mb 8192``. Requests come on standard input, replies go to
the descriptor that standard output was; whatever a library prints goes to standard error.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import resource
import signal
import sys
from typing import BinaryIO

from ciphermark_core import wire
from ciphermark_measure import protocol

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Confine the process, greet, and serve until standard input ends."""
    arguments = _parsed()
    replies = _own_output()
    _confine(arguments.memory_mb)
    is_pinned = _pin(arguments.cpus)
    from ciphermark_measure.service import Service  # numpy and the rest load confined

    clock = Service.clock
    hello = protocol.Hello(protocol.VERSION, platform.python_version(), clock.now_ns(), is_pinned)
    _send(replies, hello)
    service = Service()
    for line in sys.stdin.buffer:
        _send(replies, service.answer(protocol.read_request(line)))


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpus", type=lambda text: {int(cpu) for cpu in text.split(",")}, default=None)
    parser.add_argument("--memory-mb", type=int, required=True)
    return parser.parse_args()


def _own_output() -> BinaryIO:
    """Keep standard output for replies; give libraries standard error instead."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return replies


def _confine(memory_mb: int) -> None:
    """Limit private memory, and die with the executor."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        sys.exit("the executor is gone")
    limit = memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _pin(cpus: set[int] | None) -> bool:
    """Keep to these CPUs; False where the kernel or a container forbids it, or none are given."""
    if not cpus:
        return False
    try:
        os.sched_setaffinity(0, cpus)
    except OSError:
        return False
    return True


def _send(replies: BinaryIO, reply: protocol.Reply) -> None:
    data = wire.to_line(reply)
    while data:
        data = data[replies.write(data) :]


if __name__ == "__main__":
    main()
