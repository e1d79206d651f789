"""The outermost layer of a service: every request is logged and counted, and always gets a response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from time import perf_counter

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ciphermark_web import problems
from ciphermark_web.problems import Problem

_UNMATCHED = "(none)"
_CONCEALED = "[concealed]"
_LONG = re.compile(r"[^/]{17,}")  # longer than any word of ours, and shorter than a token
_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # of sessions, runs and trials
_NOWHERE = (401, 404, 405)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
_log = structlog.get_logger()


class Observed:
    """Binds the ids of run and trial to the log and echoes them; turns bugs into problems without internal details."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        structlog.contextvars.clear_contextvars()
        try:
            exchange.ids = ids(Headers(scope=scope))
            structlog.contextvars.bind_contextvars(**exchange.ids)
            await self._app(scope, exchange.receive, exchange.send)
        except Problem as problem:
            await problems.response(problem)(scope, receive, exchange.send)
        except Exception:
            _log.exception("a bug", path=told(scope["path"], exchange.is_found))
            await exchange.fail()
        self._account(exchange)

    def _account(self, exchange: _Exchange) -> None:
        scope = exchange.scope
        route = getattr(scope.get("route"), "path", _UNMATCHED)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        duration_s = perf_counter() - exchange.started
        self._metrics.count(method, route, exchange.status, duration_s)
        self._metrics.count_bytes(method, route, exchange.received_bytes)
        _log.info(
            "request",
            method=scope["method"],
            path=told(scope["path"], exchange.is_found),
            status=exchange.status,
            received_bytes=exchange.received_bytes,
            duration_s=round(duration_s, 4),
        )


def told(path: str, is_found: bool) -> str:
    """A path as in logs: without parts that may be a token, of this service or another. Ids remain in paths that were
    found, since a token may look like one. Pure.
    """
    return _LONG.sub(lambda part: part[0] if is_found and _ID.fullmatch(part[0]) else _CONCEALED, path)


class _Exchange:
    """One request and its response in transit."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.ids: dict[str, str] = {}
        self.status = 499  # what is logged when the caller leaves before the answer
        self.received_bytes = 0
        self.started = perf_counter()
        self._receive = receive
        self._send = send
        self._is_answered = False

    @property
    def is_found(self) -> bool:
        """Whether the path exists, for an authorized caller."""
        return self.scope.get("route") is not None and self.status not in _NOWHERE

    async def receive(self) -> Message:
        """Pass a message on, and count its bytes."""
        message = await self._receive()
        self.received_bytes += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        """Pass a message on; its head gets the ids and a ban on caching."""
        if message["type"] == "http.response.start":
            self._is_answered = True
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["cache-control"] = "no-store"
            headers["x-content-type-options"] = "nosniff"
            for name, header in (("run_id", RUN_HEADER), ("trial_id", TRIAL_HEADER)):
                if name in self.ids:
                    headers[header] = self.ids[name]
        await self._send(message)

    async def fail(self) -> None:
        """Report a bug as the response, unless a response has begun."""
        if not self._is_answered:
            problem = Problem("internal", "internal error of the service; see its log")
            await problems.response(problem)(self.scope, self._receive, self.send)


MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
disable_created_metrics()  # type: ignore[no-untyped-call]  # the time of the first request is of no use
_BUCKETS_S = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 300.0)


class Metrics:
    """Requests and what they carried; services add their own to ``registry``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        labels = ("method", "route")
        self._requests = Counter(
            "ciphermark_requests", "Requests answered", (*labels, "status"), registry=self.registry
        )
        self._durations = Histogram(
            "ciphermark_request_seconds",
            "Time from a request's arrival to the end of its answer",
            labels,
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        self._bytes = Counter(
            "ciphermark_request_bytes", "Bytes of request bodies", labels, registry=self.registry
        )

    def count(self, method: str, route: str, status: int, duration_s: float) -> None:
        """Count one answered request; ``route`` is the template, not the path."""
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(duration_s)

    def count_bytes(self, method: str, route: str, size_bytes: int) -> None:
        """Count the body of a request."""
        self._bytes.labels(method, route).inc(size_bytes)

    def exposed(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)


RUN_HEADER, TRIAL_HEADER = "x-run-id", "x-trial-id"
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_GIVEN_ID = re.compile(ID_PATTERN)


def ids(headers: Mapping[str, str]) -> dict[str, str]:
    """The ids of run and trial that a request carries; raises ``Problem`` for one that is no id."""
    identifiers = {}
    for name, header in (("run_id", RUN_HEADER), ("trial_id", TRIAL_HEADER)):
        if header in headers:
            if not _GIVEN_ID.fullmatch(headers[header]):
                raise Problem("invalid", f"header {header}: an id has up to 64 letters, digits and . _ -")
            identifiers[name] = headers[header]
    return identifiers
