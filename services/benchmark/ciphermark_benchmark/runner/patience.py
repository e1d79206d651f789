"""Limits the waiting for a database that may not answer.

A stopped server refuses connections; a frozen or disconnected one accepts them and never answers. So each call runs in
a separate thread. An abandoned call continues there. Its late effect is harmless, since outcomes are recorded once,
however often this is tried.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future
from threading import Thread
from typing import Any, Protocol, TypeVar

from ciphermark_core import interruption
from ciphermark_core.model import Outcome
from ciphermark_core.run import Run
from ciphermark_db.database import DatabaseUnavailable

T = TypeVar("T")


class Sink(Protocol):
    """The interface for recording outcomes, as in :class:`ciphermark_db.database.Database`."""

    def record_run(self, run: Run) -> None:
        """Record a run and its host, unless it is already recorded."""
        ...

    def recorded_trials(self, run_id: str) -> set[str]:
        """The ids of the recorded trials of a run and of its continuations."""
        ...

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Record new outcomes: all of them or none."""
        ...

    def record_refusals(self, outcomes: Sequence[Outcome], reason: str) -> None:
        """Record that outcomes cannot be recorded, and why."""
        ...

    def update_host_state(self, run_id: str) -> None:
        """Compute the host state of a run."""
        ...

    def record_progress(self, run_id: str, progress: Mapping[str, Any] | None) -> None:
        """Record how far a run's present trial is; ``None`` between trials."""
        ...

    def analyze(self) -> None:
        """Update the database's planner statistics."""
        ...

    def close(self) -> None:
        """Disconnect."""
        ...


class Patience:
    """Waits up to ``limit_s`` for each call."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s

    def __call__(self, call: Callable[[], T]) -> T:
        """The result of a call. Raises the call's exception, and ``DatabaseUnavailable`` if it exceeds the limit."""
        return self.result(begun(call))

    def result(self, future: Future[T]) -> T:
        """The result of a call that has begun, with the same limit and errors."""
        if futures.wait({future}, self.limit_s).not_done:
            raise DatabaseUnavailable(f"PostgreSQL has not responded for {self.limit_s:g} s")
        return future.result()


def begun(call: Callable[[], T]) -> Future[T]:
    """Begin a call in a thread that the end of the program does not wait for."""
    future: Future[T] = Future()

    def work() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})  # the main thread handles interruptions
        try:
            future.set_result(call())
        except BaseException as error:  # raised by the reader of the result
            future.set_exception(error)

    with interruption.held():  # the thread inherits the mask: signals interrupt the main thread's wait
        Thread(target=work, name="recording", daemon=True).start()
    return future


def _closed(connecting: Future[Sink]) -> None:
    if connecting.exception() is None:
        connecting.result().close()


class PatientSink(Sink):
    """Records outcomes in a database, each call within a time limit. Close it after an abandoned call."""

    def __init__(self, connect: Callable[[], Sink], patience: Patience) -> None:
        """Raises as ``connect`` does, or :class:`Patience`."""
        self.patience = patience
        connecting = begun(connect)
        self._last: Future[Any] = connecting
        try:
            self._sink = patience.result(connecting)
        except DatabaseUnavailable:
            connecting.add_done_callback(_closed)
            raise

    def record_run(self, run: Run) -> None:
        self._in_time(lambda sink: sink.record_run(run))

    def recorded_trials(self, run_id: str) -> set[str]:
        return self._in_time(lambda sink: sink.recorded_trials(run_id))

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        self._in_time(lambda sink: sink.record_outcomes(outcomes))

    def record_refusals(self, outcomes: Sequence[Outcome], reason: str) -> None:
        self._in_time(lambda sink: sink.record_refusals(outcomes, reason))

    def update_host_state(self, run_id: str) -> None:
        self._in_time(lambda sink: sink.update_host_state(run_id))

    def record_progress(self, run_id: str, progress: Mapping[str, Any] | None) -> None:
        self._in_time(lambda sink: sink.record_progress(run_id, progress))

    def analyze(self) -> None:
        self._in_time(lambda sink: sink.analyze())

    def close(self) -> None:
        """Disconnect, after an abandoned call has ended."""
        self._last.add_done_callback(lambda _: self._sink.close())

    def _in_time(self, call: Callable[[Sink], T]) -> T:
        future = begun(lambda: call(self._sink))
        self._last = future
        return self.patience.result(future)
