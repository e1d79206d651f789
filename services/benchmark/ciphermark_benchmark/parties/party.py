"""The two parties of a trial, as whoever runs the trial sees them, wherever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from ciphermark_core.model import Trial
from ciphermark_measure.parties import messages
from ciphermark_measure.processes import WorkerDied


class NoPlace(WorkerDied):
    """A party has as many others to serve as it may. ``after_s`` says when to ask again; ``None`` where that would not
    help. A trial that ends this way was not executed: nothing is said of the library.
    """

    def __init__(self, text: str, after_s: float | None) -> None:
        super().__init__("cancelled", text)
        self.after_s = after_s


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
    def meet(self, trial: Trial) -> None:
        """Wait until both can be asked, off the clock, for the trial that they were made for; raises ``WorkerDied``
        where one cannot.
        """

    @property
    @abstractmethod
    def is_pinned(self) -> bool | None:
        """Whether both keep to the CPUs that they were given; ``None`` where that cannot be known."""

    @property
    def is_elsewhere(self) -> bool | None:
        """Whether one of them works on another machine than this process; ``None`` for processes of this host's own,
        and where it cannot be known.
        """
        return None

    @abstractmethod
    def tidy(self) -> None:
        """Between two passes, off the clock: remove blobs that nobody asks for again."""

    @abstractmethod
    def kill(self) -> None:
        """From another thread: whoever waits for a party's reply gets ``WorkerDied``."""

    @abstractmethod
    def end(self) -> None:
        """End both, and release what they held."""
