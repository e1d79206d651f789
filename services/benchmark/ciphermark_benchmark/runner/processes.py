"""Worker processes, as the executor starts them."""

from __future__ import annotations

import sys

from ciphermark_measure import protocol
from ciphermark_measure.processes import (
    Confinement,
    Process,
    Program,
    WorkerDied,
    explained,
    mismatch,
    require_one_clock,
)

_WORKER: Program[protocol.Reply] = Program("ciphermark_measure.worker", protocol.VERSION, protocol.read_reply)


class WorkerProcess(Process[protocol.Reply]):
    """One worker. Starting returns at once; the first request waits for its greeting."""

    def __init__(self, confinement: Confinement, interpreter: str = sys.executable) -> None:
        super().__init__(_WORKER, confinement, interpreter)


__all__ = ["Confinement", "WorkerDied", "WorkerProcess", "explained", "mismatch", "require_one_clock"]
