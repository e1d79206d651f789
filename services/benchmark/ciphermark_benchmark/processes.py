"""Worker processes, as the executor starts them."""

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
    """What a worker, or a party, must be started and prepared with. ``baseline_ns`` is the reference-kernel baseline
    that a party's reference kernel is compared with, as far as it is known; workers learn it trial by trial.
    ``is_led``: below another process, which ends all that it starts, since it executes what a user wrote.
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
    """One worker. Starting returns at once; the first request waits for its greeting. It loads the library of a
    ``variant`` before it greets, where one is named.
    """

    def __init__(
        self, confinement: Confinement, interpreter: str = sys.executable, variant: str | None = None
    ) -> None:
        arguments = () if variant is None else ("--variant", variant)
        super().__init__(replace(_WORKER, arguments=arguments), confinement, interpreter)
