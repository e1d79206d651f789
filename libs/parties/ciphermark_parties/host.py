"""Party processes behind sessions: starting them, sending requests, and reporting failures as problems."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from time import time
from typing import Any, TypeVar

import msgspec
import prometheus_client
import structlog

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import FULL, Blob, BlobStore
from ciphermark_measure.processes import Confinement, Process, Program, WorkerDied
from ciphermark_measure.protocol import Refused, plain_text
from ciphermark_parties.sessions import Allowance, Purpose, Session, Sessions
from ciphermark_web import environment, observe
from ciphermark_web.observe import Metrics
from ciphermark_web.problems import Problem

Place = tuple[str, str | None]


class Written:
    """The blobs that the parties of a service wrote. Two parties may write the same blob: it is removed with the last
    of them.

    Methods may be called from any thread.
    """

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._lock = Lock()
        self._holders: Counter[str] = Counter()
        self._held_at_s: dict[str, float] = {}

    def hold(self, blobs: Iterable[Blob]) -> None:
        """Note that one more party wrote these blobs."""
        with self._lock:
            for blob in blobs:
                self._holders[blob.digest] += 1
                self._held_at_s[blob.digest] = time()

    def release(self, blobs: Iterable[Blob]) -> None:
        """Note that a party no longer needs its blobs, and remove those without another party."""
        with self._lock:
            for blob in blobs:
                self._holders[blob.digest] -= 1
                if self._holders[blob.digest] == 0:
                    del self._holders[blob.digest]
                    self._store.remove(blob, self._held_at_s.pop(blob.digest))


class Party:
    """One party process. The blobs of a reply are removed when the party has answered the same request again, or ends:
    each pass replaces the one before.
    """

    def __init__(self, process: Process[messages.Reply], written: Written) -> None:
        self._process = process
        self._written = written
        self._blobs: dict[Place, tuple[Blob, ...]] = {}

    def ask(self, request: object, timeout_s: float) -> messages.Reply:
        """See :meth:`Process.ask`."""
        reply = self._process.ask(request, timeout_s)
        blobs, place = blobs_in(reply), _place(request)
        if blobs:
            self._written.hold(blobs)
            self._written.release(self._blobs.pop(place, ()))
            self._blobs[place] = blobs
        return reply

    def kill(self) -> None:
        """Kill the process, from any other thread."""
        self._process.kill()

    def end(self) -> None:
        """Wait for its end, and remove its blobs."""
        self._process.end()
        for blobs in self._blobs.values():
            self._written.release(blobs)
        self._blobs.clear()


def blobs_in(message: Any) -> tuple[Blob, ...]:
    """The blobs that a message names. Pure."""
    fields = msgspec.structs.asdict(message).values()
    flat = [item for field in fields for item in (field if isinstance(field, tuple) else (field,))]
    return tuple(item for item in flat if isinstance(item, Blob))


def _place(request: object) -> Place:
    """The place of a request: a pass requests each stage once."""
    stage = request.stage if isinstance(request, messages.Encrypt | messages.Evaluate) else None
    return type(request).__name__, stage


# A comparison group has a session of every variant at a time: the limit is the number of Ciphermark's own variants.
SESSIONS = 8


@dataclass(frozen=True, slots=True)
class PartySettings:
    """The location of blobs, their sweep interval, and the parties' resources."""

    blobs: Path
    blob_age_s: int
    allowance: Allowance
    confinement: Confinement
    timeout_s: int

    @classmethod
    def read(cls, environ: environment.Environ) -> PartySettings:
        """Read the variables of docs/reference/environment.md; raises ``UserError`` for invalid values."""

        def number(name: str, default: int, least: int, most: int) -> int:
            return environment.integer(environ, name, default, (least, most))

        return cls(
            blobs=environment.folder(environ, "CIPHERMARK_BLOBS", "that both parties share for blobs"),
            blob_age_s=number("CIPHERMARK_BLOB_AGE_S", 900, 1, 365 * 86_400),
            allowance=Allowance(
                most=number("CIPHERMARK_SESSIONS", SESSIONS, 1, 64),
                idle_s=number("CIPHERMARK_SESSION_IDLE_S", 900, 1, 86_400),
            ),
            confinement=Confinement(
                cpus=(),
                threads=number("CIPHERMARK_PARTY_THREADS", 1, 1, 1024),
                memory_mb=number("CIPHERMARK_PARTY_MEMORY_MB", 8192, 256, 1 << 22),
            ),
            timeout_s=number("CIPHERMARK_REQUEST_TIMEOUT_S", 600, 1, 86_400),
        )


PartySession = Session[Party]
ReplyT = TypeVar("ReplyT", bound=msgspec.Struct)

_SWEEPING_S = 60
_log = structlog.get_logger()
# The problem for a party's refusal, by the class of the party's exception, else by status.
_BY_CAUSE = {
    "BlobError": "blob-refused",
    "DiskFull": "disk-full",
    "OutOfOrder": "out-of-turn",
    "UserError": "invalid",
}
_BY_STATUS = {"unsupported": "unsupported", "budget_exhausted": "budget-exhausted"}


class PartyHost:
    """The party processes of one role."""

    def __init__(
        self, role: messages.Role, settings: PartySettings, metrics: Metrics, *arguments: str
    ) -> None:
        """``arguments`` are for the party's program, in addition to its role and the blobs. ``machine`` is the result
        of :func:`~ciphermark_core.host.machine`.
        """
        self.sessions: Sessions[Party] = Sessions(settings.allowance)
        self._settings = settings
        self._store = BlobStore(settings.blobs)
        self._written = Written(self._store)
        self._program: Program[messages.Reply] = Program(
            module="ciphermark_measure.parties.worker",
            version=messages.VERSION,
            read_reply=messages.read_reply,
            arguments=("--role", role, "--blobs", str(settings.blobs), *arguments),
        )
        self._cpu_flags = frozenset(host.collect().cpu_flags)
        self.machine = host.machine()
        gauge = prometheus_client.Gauge("ciphermark_sessions", "Open sessions", registry=metrics.registry)
        gauge.set_function(lambda: len(self.sessions))
        self._refused = prometheus_client.Counter(
            "ciphermark_refusals",
            "Requests that a party refused or died of",
            ["kind"],
            registry=metrics.registry,
        )
        self._blob_bytes = prometheus_client.Counter(
            "ciphermark_blob_bytes", "Bytes of blobs by direction", ["direction"], registry=metrics.registry
        )

    def opened(
        self, request: messages.MakeKeys | messages.Load, headers: Mapping[str, str], expected: type[ReplyT]
    ) -> dict[str, Any]:
        """Open a session by its first request. The library gets the number of threads in the request, or else the
        maximum allowed. Returns the party's reply with the session's id, machine and version.

        Raises ``Problem`` where the variant, or that number of threads, is unavailable here.
        """
        purpose = Purpose(request.variant, request.workload, **observe.ids(headers))
        interpreter = self._interpreter(purpose.variant)
        confinement = replace(self._settings.confinement, threads=self._threads(request.threads))

        def start() -> Party:
            return Party(Process(self._program, confinement, interpreter), self._written)

        with self.sessions.opened(purpose, start) as session:
            reply = msgspec.structs.asdict(self._ask(session, request, expected))
        return reply | {"id": session.id, "machine": self.machine, "version": messages.VERSION}

    def asked_in(self, session_id: str, request: messages.Request, expected: type[ReplyT]) -> ReplyT:
        """The reply of a session's party; raises ``Problem`` like :meth:`opened`, and for an unknown session."""
        with self.sessions.used(session_id) as session:
            return self._ask(session, request, expected)

    def _ask(self, session: PartySession, request: object, expected: type[ReplyT]) -> ReplyT:
        """The party's reply; raises ``Problem`` for a refusal, and for a party that dies during the request."""
        try:
            reply = session.party.ask(request, self._settings.timeout_s)
        except WorkerDied as death:
            raise self._lost(session, death) from None
        if isinstance(reply, Refused):
            raise self._refusal(reply)
        if not isinstance(reply, expected):
            raise self._lost(
                session, WorkerDied("crashed", "the party answers something else than was asked")
            )
        self._blob_bytes.labels("read").inc(_bytes(blobs_in(request)))
        self._blob_bytes.labels("written").inc(_bytes(blobs_in(reply)))
        return reply

    def available(self) -> list[Availability]:
        """Every declared variant, and whether it can be used here."""
        return [registry.availability(name, self._cpu_flags) for name in sorted(registry.declarations())]

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """While open, ends idle sessions and sweeps old blobs; on exit, ends all sessions."""
        sweeping = asyncio.create_task(self._sweep())
        try:
            async with self.sessions.kept():
                yield
        finally:
            sweeping.cancel()

    def checks(self) -> Mapping[str, Callable[[], str | None]]:
        """The reasons against readiness."""
        return {"blobs": self._blobs_refuse}

    def notes(self) -> Mapping[str, Callable[[], str | None]]:
        """Temporary faults under which the service still answers: ``disk-full`` where it would have to write."""
        return {"blobs": self._blobs_wait}

    async def _sweep(self) -> None:
        """Sweep blobs left by sessions: those of killed parties or services."""
        age_s = self._settings.blob_age_s
        while True:
            try:
                removed = await asyncio.to_thread(self._store.sweep, age_s)
                _log.debug("blobs swept", removed=removed)
            except OSError as error:
                _log.warning("blobs cannot be swept", error=str(error))
            await asyncio.sleep(min(_SWEEPING_S, age_s))

    def _interpreter(self, variant: str) -> str:
        try:
            availability = registry.availability(variant, self._cpu_flags)
            if availability.is_installed:
                return registry.interpreter(variant)
        except UserError as error:
            raise Problem("invalid", str(error)) from None
        raise Problem(
            "unsupported", f"{variant}: {availability.reason}; {availability.remedy}", "unsupported"
        )

    def _threads(self, asked: int | None) -> int:
        most = self._settings.confinement.threads
        if asked is not None and asked > most:
            raise Problem(
                "unsupported",
                f"{asked} threads were requested, but CIPHERMARK_PARTY_THREADS allows {most} here: set it higher",
                "unsupported",
            )
        return asked or most

    def _refusal(self, reply: Refused) -> Problem:
        kind = _BY_CAUSE.get(reply.cause or "") or _BY_STATUS.get(reply.status, "library-failed")
        self._refused.labels(kind).inc()
        _log.info("party refused", kind=kind, error=reply.error)
        if reply.cause in _BY_CAUSE:
            return Problem(kind, outward(plain_text(reply)))
        return Problem(kind, outward(reply.error), reply.status)

    def _lost(self, session: PartySession, death: WorkerDied) -> Problem:
        """The problem for a session that is over; a caller who ended it receives no crash report."""
        self._refused.labels("session-lost").inc()
        if session.ended is not None:
            return Problem("session-lost", f"the session was ended: {session.ended}", "cancelled")
        _log.warning("party died", variant=session.purpose.variant, status=death.status, error=str(death))
        self.sessions.end_if_there(session.id, str(death))
        return Problem("session-lost", f"{outward(str(death))}; open a new session", death.status)

    def _blobs_refuse(self) -> str | None:
        error = self._unwritable()
        if error is None or error.errno in FULL:
            return None
        return f"the shared volume cannot be written: {error.strerror}"

    def _blobs_wait(self) -> str | None:
        error = self._unwritable()
        return None if error is None else f"the shared volume takes nothing more now: {error.strerror}"

    def _unwritable(self) -> OSError | None:
        try:
            with tempfile.TemporaryFile(dir=self._settings.blobs) as file:
                file.write(b"ready?")
        except OSError as error:
            return error
        return None


_FRAME = re.compile(r'File ".*", line \d+')
_FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^\s/:'\"]+/)+")


def outward(text: str) -> str:
    """The text of a failure for callers: without a traceback, and with the last part of absolute paths only. Pure."""
    if _FRAME.search(text):
        lines = text.splitlines()
        text = f"{lines[0].partition(': ')[0]}: {lines[-1]}"
    return _FOLDERS.sub("", text)


def _bytes(blobs: Iterable[Blob]) -> int:
    return sum(blob.size_bytes for blob in blobs)
