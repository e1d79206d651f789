"""Sessions: each is one party process. Their number is limited, each handles one request at a time, and idle ones
end.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Generic, Protocol, TypeVar

import structlog

from ciphermark_web import layers
from ciphermark_web.problems import Problem

_log = structlog.get_logger()
_REAPING_S = 2.0
_RETRY_AFTER_S = "5"


class Ending(Protocol):
    """An object that can be ended at any time, from any thread."""

    def kill(self) -> None:
        """Kill it; a waiting caller receives the failure."""

    def end(self) -> None:
        """Wait for its end, and release its resources."""


PartyT = TypeVar("PartyT", bound=Ending)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The maximum number of sessions and their idle time."""

    most: int
    idle_s: float


@dataclass(frozen=True, slots=True)
class Purpose:
    """The purpose of a session: the run and the trial, if its caller names them."""

    variant: str
    workload: str
    run_id: str | None = None
    trial_id: str | None = None


@dataclass(slots=True)
class Session(Generic[PartyT]):
    """One session. ``ended`` is the reason of its end, while a request is still in progress."""

    party: PartyT
    purpose: Purpose
    used_at: float
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    is_busy: bool = True
    ended: str | None = None


class Sessions(Generic[PartyT]):
    """All sessions of a service. Every method may be called from any thread."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float] = monotonic) -> None:
        self._allowance = allowance
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[str, Session[PartyT]] = {}
        # The kernel ends a party with the thread that started it, and threads of requests come and go.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="starter")
        self._starting = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def all(self) -> list[Session[PartyT]]:
        """The sessions, oldest first."""
        with self._lock:
            return list(self._sessions.values())

    @contextmanager
    def opened(self, purpose: Purpose, start: Callable[[], PartyT]) -> Iterator[Session[PartyT]]:
        """Start a party and make the body the session's first request; a failure there ends the session.

        A trial has one session: an older one, of an attempt that was killed, ends first. Raises ``Problem`` at the
        maximum number of sessions.
        """
        if purpose.trial_id is not None:
            self._end_where(lambda other: other.trial_id == purpose.trial_id, "its trial starts again")
        with self._lock:
            if len(self._sessions) + self._starting >= self._allowance.most:
                raise self._no_place(purpose)
            self._starting += 1
        try:
            party = self._starter.submit(start).result()
            session = Session(party, purpose, self._clock())
        finally:
            with self._lock:
                self._starting -= 1
        with self._lock:
            self._sessions[session.id] = session
        try:
            with self._occupied(session):
                yield session
                _log.info("session opened", variant=purpose.variant, workload=purpose.workload)
        except BaseException:
            self.end_if_there(session.id, "it could not be opened")
            raise

    @contextmanager
    def used(self, session_id: str) -> Iterator[Session[PartyT]]:
        """Use a session exclusively; raises ``Problem`` for one that is unknown or busy."""
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None:
                raise _unknown(session_id)
            if session.is_busy:
                raise Problem(
                    "session-busy", f"session {session_id} answers one request at a time: wait for it"
                )
            session.is_busy = True
        with self._occupied(session):
            yield session

    def end(self, session_id: str, why: str) -> None:
        """End a session and its party at any time; raises ``Problem`` for an unknown session."""
        with self._lock:
            session = self._sessions.pop(session_id, None)
            if session is None:
                raise _unknown(session_id)
            session.ended = session.ended or why
            is_busy = session.is_busy
        session.party.kill()
        if not is_busy:
            session.party.end()
        _log.info("session ended", session=session_id, why=why)

    def end_of(self, run_id: str, trial_id: str | None = None) -> int:
        """End the sessions of a run, or of one of its trials, at any time; returns their number."""

        def is_meant(purpose: Purpose) -> bool:
            return purpose.run_id == run_id and trial_id in (None, purpose.trial_id)

        return self._end_where(is_meant, "its caller ended it")

    def end_idle(self) -> None:
        """End the sessions that have been idle for too long."""
        limit = self._clock() - self._allowance.idle_s
        for session in self.all():
            if not session.is_busy and session.used_at < limit:
                self.end_if_there(session.id, f"idle for more than {self._allowance.idle_s:g} s")

    def close(self) -> None:
        """End all sessions; no session can be opened afterwards."""
        self._starter.shutdown(wait=True)
        for session in self.all():
            self.end_if_there(session.id, "the service ends")

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """While open, ends idle sessions; on exit, ends all sessions."""
        reaping = asyncio.create_task(self._reap())
        try:
            yield
        finally:
            reaping.cancel()
            self.close()

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(_REAPING_S)
            await asyncio.to_thread(self.end_idle)

    def end_if_there(self, session_id: str, why: str) -> None:
        """End a session that may have ended already."""
        with suppress(Problem):
            self.end(session_id, why)

    def _end_where(self, is_meant: Callable[[Purpose], bool], why: str) -> int:
        sessions = [session for session in self.all() if is_meant(session.purpose)]
        for session in sessions:
            self.end_if_there(session.id, why)
        return len(sessions)

    def _no_place(self, purpose: Purpose) -> Problem:
        """The refusal at the maximum number of sessions. It includes a time to retry, unless the requesting run holds
        all sessions: it would wait for itself. The lock is held.
        """
        reason = f"{self._allowance.most} sessions are open, the most that CIPHERMARK_SESSIONS allows here"
        has_all = all(session.purpose.run_id == purpose.run_id for session in self._sessions.values())
        if purpose.run_id is not None and has_all and not self._starting:
            return Problem("too-many", f"{reason}, all by this run: set it higher")
        return Problem(
            "too-many",
            f"{reason}: end one, or wait until an idle one ends after {self._allowance.idle_s:g} s",
            headers={"Retry-After": _RETRY_AFTER_S},
        )

    @contextmanager
    def _occupied(self, session: Session[PartyT]) -> Iterator[None]:
        structlog.contextvars.bind_contextvars(session=session.id)
        try:
            with layers.awaited(lambda: self.end_if_there(session.id, "its caller left")):
                yield
        finally:
            with self._lock:
                session.is_busy = False
                session.used_at = self._clock()
                is_over = session.ended is not None
            if is_over:
                session.party.end()


def _unknown(session_id: str) -> Problem:
    return Problem("not-found", f"there is no session {session_id}: it was ended, or died, or never was")
