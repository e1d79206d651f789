"""An attempt at a job as the worker sees it: a process that can be interrupted and reports its end."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.jobs.decisions import Claim, End
from ciphermark_benchmark.runner.journal import WAITED_FOR
from ciphermark_core import interruption
from ciphermark_core.containment import end_with
from ciphermark_core.errors import UserError
from ciphermark_db.database import DatabaseUnavailable
from ciphermark_web import environment, logs

_LETTING_GO_S = 20.0  # time for an interrupted attempt to end its own processes
_LOADED = ["__main__", *(f"ciphermark_benchmark.jobs.{name}" for name in ("attempts", "execution"))]
_LOADED_BY = os.getpid()  # in an attempt: the process that it was forked from


class Attempts:
    """Starts attempts, forked from a process that has loaded all modules and does nothing else."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(_LOADED)

    def start(self, data_directory: DataDirectory, claim: Claim) -> Attempt:
        """Begin an attempt at a job. Raises ``OSError`` or ``EOFError`` if no process can be started, for example after
        the fork server was killed.
        """
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_attempt, args=(data_directory, claim, sender), name=f"job {claim.job_id}"
        )
        resource_tracker.ensure_running()  # a later start would unblock signals
        try:
            with (
                interruption.held()
            ):  # an attempt that is not ready yet, or the process that it is forked from
                process.start()
        except (OSError, EOFError):
            receiver.close()
            raise
        finally:
            sender.close()
        return Attempt(process, receiver)


class Attempt:
    """An attempt under way."""

    def __init__(self, process: BaseProcess, receiver: Connection) -> None:
        self._process = process
        self._receiver = receiver

    async def ended(self) -> End:
        """Wait for the end. Cancelling this call does not affect the attempt: call :meth:`interrupt`."""
        over = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._process.sentinel, over.set)
        try:
            await over.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        self._process.join()
        return self._answer()

    async def interrupt(self) -> End:
        """Make the attempt end between two turns with all measurements kept; kill it if that takes too long."""
        if self._process.is_alive() and self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGINT)
        try:
            return await asyncio.wait_for(self.ended(), _LETTING_GO_S)
        except TimeoutError:
            self._process.kill()
            return await self.ended()

    def _answer(self) -> End:
        try:
            answer = self._receiver.recv() if self._receiver.poll() else None
        except EOFError:
            answer = None
        self._receiver.close()
        if isinstance(answer, End):
            return answer
        return End("died", f"the process that executed the job ended with exit code {self._process.exitcode}")


def configure_log(environ: Mapping[str, str]) -> None:
    """Configure the log of a worker or an attempt as in services. Raises ``UserError`` for an unknown level."""
    level = environment.one_of(environ, "CIPHERMARK_LOG_LEVEL", logs.LEVELS)
    token = environ.get("CIPHERMARK_BENCHMARK_TOKEN")
    logs.configure("worker", level, lambda: (token,) if token else ())


def _attempt(data_directory: DataDirectory, claim: Claim, sender: Connection) -> None:
    """Execute the attempt: the main function of its process. On a bug, the traceback goes to standard error, and the
    worker sees a dead process.
    """
    if os.getpid() != _LOADED_BY:
        # The worker sees an attempt only through that process: without it, a second attempt would run next to this one.
        end_with(_LOADED_BY, signal.SIGKILL)
    _die_with_the_worker()
    end = _end(data_directory, claim)
    with suppress(BrokenPipeError):  # the worker is gone
        sender.send(end)


def _end(data_directory: DataDirectory, claim: Claim) -> End:
    try:
        with interruption.heard():
            from ciphermark_benchmark.jobs import execution  # loaded before the fork

            configure_log(os.environ)
            execution.execute(data_directory, claim)
        return End("done")
    except KeyboardInterrupt:
        return End("interrupted")
    except (DatabaseUnavailable, UserError) as error:
        if interruption.has_arrived():
            return End("interrupted", str(error))
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in WAITED_FOR:
            return _waiting(data_directory, error.__cause__)
        return End("away" if isinstance(error, DatabaseUnavailable) else "refused", str(error))
    except OSError as error:
        if error.errno not in WAITED_FOR:
            raise
        return _waiting(data_directory, error)


def _waiting(data_directory: DataDirectory, error: OSError) -> End:
    waited_for = WAITED_FOR[error.errno or 0]
    return End(
        "away", f"{error.filename or data_directory.folder}: {error.strerror}; the job waits for {waited_for}"
    )


def _die_with_the_worker() -> None:
    """End this process as soon as the worker is gone. The kernel's parent of this process is not the worker, so a
    thread waits for the worker. Measuring processes end with this one.
    """
    worker = multiprocessing.parent_process()
    assert worker is not None

    def wait() -> None:
        worker.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
