"""Worker processes, as started by the executor."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from ciphermark_contract.keys import KeyRequest
from ciphermark_core.model import ParameterSpec
from ciphermark_measure import protocol
from ciphermark_measure.processes import Confinement, Process, Program

_WORKER: Program[protocol.Reply] = Program("ciphermark_measure.worker", protocol.VERSION, protocol.read_reply)


@dataclass(frozen=True, slots=True)
class WorkerNeeds:
    """The configuration of a worker or a party. ``baseline_ns`` is the known reference-kernel baseline of the host for
    a party's reference kernel; workers receive it with each trial. ``is_led`` puts the process below another one, which
    ends all child processes, since a user's code may start some.
    """

    variant: str
    parameters: ParameterSpec
    keys: KeyRequest
    confinement: Confinement
    timeout_s: float
    baseline_ns: float | None = None
    is_led: bool = False

    @property
    def request(self) -> protocol.Prepare:
        """The first request to a worker: keys for all its operations."""
        return protocol.Prepare(variant=self.variant, parameters=self.parameters, keys=self.keys)


class WorkerProcess(Process[protocol.Reply]):
    """One worker. Starting returns at once; the first request waits for its greeting. With a ``variant``, it loads the
    library before its greeting.
    """

    def __init__(
        self, confinement: Confinement, interpreter: str = sys.executable, variant: str | None = None
    ) -> None:
        arguments = () if variant is None else ("--variant", variant)
        super().__init__(replace(_WORKER, arguments=arguments), confinement, interpreter)
