"""The interface of a trial's two parties, and its implementation by processes on this host, confined as workers are,
with a shared folder of blobs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from time import time
from typing import Protocol

from ciphermark_adapters import registry
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_core.model import Trial
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blobs, BlobStore
from ciphermark_measure.processes import Process, Program, WorkerDied
from ciphermark_workloads import user_workloads

_MODULE = "ciphermark_measure.parties.worker"
_PREFIX = "ciphermark-blobs-"
_SETTLING_S = 60.0  # the owner of a younger folder may not have locked it yet


class NoPlace(WorkerDied):
    """A party is at its capacity. ``after_s`` is the pause before the next try; ``None`` if a retry would not help.
    Such a trial was not executed, and says nothing about the library.
    """

    def __init__(self, text: str, after_s: float | None) -> None:
        super().__init__("cancelled", text)
        self.after_s = after_s


class Party(Protocol):
    """One party: it answers one request at a time."""

    def ask(self, request: messages.Request, timeout_s: float) -> messages.Reply:
        """The reply to a request, ``Refused`` included.

        Raises :class:`~ciphermark_measure.processes.WorkerDied` with the reason if there is no reply.
        """
        ...

    def kill(self) -> None:
        """Called from another thread: end the party; a pending request raises ``WorkerDied``."""

    def end(self) -> None:
        """End the party, and release its resources."""


class Parties(ABC):
    """Both parties of one trial, created for it and used by no other trial."""

    client: Party
    server: Party
    # Whether both are confined to their CPUs; None if unknown.
    is_pinned: bool | None = None
    # Whether they are processes on this host, to which its reference-kernel baseline applies.
    is_local = False
    # Their blobs, where this process shares the folder.
    store: Blobs | None = None

    @property
    def is_elsewhere(self) -> bool | None:
        """Whether a party runs on another machine than this process; ``None`` for processes on this host, and if
        unknown.
        """
        return None

    @abstractmethod
    def meet(self, trial: Trial) -> None:
        """Wait, untimed, until both accept requests for the trial that they were created for. Raises ``WorkerDied`` if
        one does not.
        """

    def tidy(self) -> None:  # noqa: B027 - services sweep their own volume
        """Remove blobs that no further request needs. Called between two passes, untimed."""

    def kill(self) -> None:
        """Called from another thread: end both parties; a pending request raises ``WorkerDied``."""
        self.client.kill()
        self.server.kill()

    def end(self) -> None:
        """End both parties, and release their resources."""
        self.client.end()
        self.server.end()


class LocalParties(Parties):
    """Parties as processes on this host. Starting them returns at once. Blobs are in a scratch folder that is removed
    at the end. Data sets, workloads and files that are not shipped come from the folders of a ``data_directory``.
    """

    is_local = True

    def __init__(self, needs: WorkerNeeds, data_directory: DataDirectory | None = None) -> None:
        self._data_directory = data_directory
        self._scratch = Scratch()
        self.folder = self._scratch.folder
        self.store = self._store = BlobStore(self.folder, is_scratch=True)
        self.client = self._client = self._started("client", needs)
        self.server = self._server = self._started("server", needs)

    def meet(self, trial: Trial) -> None:
        """See :class:`Parties`. These processes write no log, and need no trial's name."""
        for party in (self._client, self._server):
            party.is_watched = user_workloads.is_copy(trial.case.operation)
            party.meet()
        self.is_pinned = self._client.is_pinned and self._server.is_pinned

    def tidy(self) -> None:
        self._store.recycle()

    def end(self) -> None:
        super().end()
        self._scratch.end()

    def _started(self, role: messages.Role, needs: WorkerNeeds) -> Process[messages.Reply]:
        arguments: tuple[str, ...] = ("--role", role, "--blobs", str(self.folder), "--scratch")
        if needs.baseline_ns is not None:
            arguments += ("--baseline-ns", repr(needs.baseline_ns))
        if self._data_directory is not None:
            arguments += (
                "--workloads",
                str(self._data_directory.workloads),
                "--files",
                str(self._data_directory.files),
            )
            if role == "client":
                arguments += ("--data-sets", str(self._data_directory.data_sets))
                arguments += ("--keys", str(self._data_directory.secret_keys))
        if needs.is_led:
            arguments += ("--led",)
        program: Program[messages.Reply] = Program(_MODULE, messages.VERSION, messages.read_reply, arguments)
        return Process(program, needs.confinement, registry.interpreter(needs.variant))


class Scratch:
    """A new folder in the system's temporary folder, for this user only. A lock marks it as in use."""

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def end(self) -> None:
        """Remove the folder with its content."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


def _remove_abandoned(parent: Path) -> None:
    """Remove folders of killed processes: keys of a large ring take gigabytes."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            if time() - folder.stat().st_mtime > _SETTLING_S:
                _remove_unlocked(folder)
        except OSError:
            continue  # another user's, in use, or removed meanwhile


def _remove_unlocked(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
