"""A database that may say nothing: whoever measures waits for it so long and no longer.

A server that was killed refuses connections; one that is frozen, or cut off, takes them and never answers. So each call
is made in a thread of its own. One that is given up goes on there: what it does in the end is done, and no harm, since
outcomes are recorded once however often this is tried.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
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
    """What outcomes are recorded by, as :class:`ciphermark_db.database.Database` does."""

    def record_run(self, run: Run) -> None:
        """Record a run and its host, unless it is recorded."""
        ...

    def recorded_trials(self, run_id: str) -> set[str]:
        """The ids of the trials that are recorded of a run, and of those that continue it."""
        ...

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes that are not recorded yet: all of them or none."""
        ...

    def record_refusals(self, outcomes: Sequence[Outcome], reason: str) -> None:
        """Record that outcomes cannot be recorded, and why."""
        ...

    def update_host_state(self, run_id: str) -> None:
        """Compute what the host was like during a run."""
        ...

    def analyze(self) -> None:
        """Let the database learn what was recorded."""
        ...

    def close(self) -> None:
        """Disconnect."""
        ...


class Patience:
    """Waits up to ``limit_s`` for each call."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s

    def __call__(self, call: Callable[[], T]) -> T:
        """The result of a call. Raises what it raises, and ``DatabaseUnavailable`` where it takes longer."""
        return self.result(begun(call))

    def result(self, future: Future[T]) -> T:
        """The result of a call that was begun, likewise."""
        if futures.wait({future}, self.limit_s).not_done:
            raise DatabaseUnavailable(f"PostgreSQL has not responded for {self.limit_s:g} s")
        return future.result()


def begun(call: Callable[[], T]) -> Future[T]:
    """Begin a call in a thread that the end of the program does not wait for."""
    future: Future[T] = Future()

    def work() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})  # of interruptions: the main thread's
        try:
            future.set_result(call())
        except BaseException as error:  # raised where the result is asked for
            future.set_exception(error)

    with interruption.held():  # the thread keeps it so: signals interrupt the main thread's waiting
        Thread(target=work, name="recording", daemon=True).start()
    return future


def _closed(connecting: Future[Sink]) -> None:
    if connecting.exception() is None:
        connecting.result().close()


class PatientSink(Sink):
    """Records by a database, each call within a patience. After one that was given up, close it."""

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

    def analyze(self) -> None:
        self._in_time(lambda sink: sink.analyze())

    def close(self) -> None:
        """Disconnect, once a call that was given up is over."""
        self._last.add_done_callback(lambda _: self._sink.close())

    def _in_time(self, call: Callable[[Sink], T]) -> T:
        future = begun(lambda: call(self._sink))
        self._last = future
        return self.patience.result(future)
