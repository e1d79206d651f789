"""The two parties of a trial, as the seat sees them, wherever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from ciphermark_measure.parties import messages


class Party(Protocol):
    """One party: it answers one request at a time."""

    def ask(self, request: messages.Request, timeout_s: float) -> messages.Reply:
        """The reply to a request, ``Refused`` included.

        Raises :class:`~ciphermark_measure.processes.WorkerDied` where there is none, with the reason.
        """
        ...


class Parties(ABC):
    """Both parties of one trial, made for it and used by no other."""

    client: Party
    server: Party

    @abstractmethod
    def meet(self) -> None:
        """Wait until both can be asked, off the clock; raises ``WorkerDied`` where one cannot."""

    @property
    @abstractmethod
    def is_pinned(self) -> bool | None:
        """Whether both keep to the CPUs that they were given; ``None`` where that cannot be known."""

    @abstractmethod
    def tidy(self) -> None:
        """Between two passes, off the clock: remove blobs that nobody asks for again."""

    @abstractmethod
    def kill(self) -> None:
        """From another thread: whoever waits for a party's reply gets ``WorkerDied``."""

    @abstractmethod
    def end(self) -> None:
        """End both, and release what they held."""
