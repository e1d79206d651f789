"""A client of the benchmark service, to start, follow and cancel runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

import httpx

from ciphermark_core.errors import UserError
from ciphermark_dashboards.store import NotFoundError
from ciphermark_web.broadcast import Broadcast, Broadcasts
from ciphermark_web.keyring import Principal
from ciphermark_web.layers import ACTOR_HEADER
from ciphermark_web.rest import RequestRefused, bearer

_TIMEOUT_S = 10.0
_CLASSIFYING_S = 150.0  # more than the maximum time of the service
_ADVISING_S = 60.0
_LISTENING = httpx.Timeout(_TIMEOUT_S, read=60.0)  # the service sends something at least every 15 s
_END = b"\n\n"  # of an event
_NUMBER = b"id: "
_COMMENT = b":"


class ServiceAwayError(UserError):
    """The benchmark service does not answer."""


@dataclass(frozen=True, slots=True)
class Token:
    """The service's token, or the file in which the service keeps it; the file is read at each use."""

    text: str | None = None
    file: Path | None = None

    def headers(self) -> dict[str, str]:
        """The headers of a request. Raises :class:`ServiceAwayError` where the service has not created its file yet."""
        try:
            text = self.text if self.file is None else self.file.read_text().strip().partition("\n")[0]
        except (OSError, UnicodeDecodeError) as error:
            raise ServiceAwayError(f"The benchmark service's token cannot be read: {error}") from None
        return bearer(text)


NO_TOKEN = Token()


class Benchmark:
    """A client of the REST API. Raises ``UserError`` with the service's own message where the service refuses a
    request.
    """

    def __init__(self, url: str, token: Token) -> None:
        self._client = httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_S, trust_env=False)
        # A separate client: long-lived listeners take no connection from other requests.
        self._listening = httpx.AsyncClient(
            base_url=url, timeout=_LISTENING, trust_env=False, limits=httpx.Limits(max_connections=None)
        )
        self._token = token
        self._opening: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
        self._broadcasts = Broadcasts()

    async def close(self) -> None:
        """Disconnect."""
        await self._client.aclose()
        await self._listening.aclose()

    async def run(self, run_id: UUID) -> dict[str, Any]:
        """One run with its recorded state."""
        return await self._asked("GET", f"/v1/runs/{run_id}")

    async def suites(self) -> list[str]:
        """Names of the suites that the service offers."""
        return list((await self._asked("GET", "/v1/suites"))["suites"])

    async def classifiers(self) -> list[str]:
        """The variants that can classify an image on the service's host."""
        return list((await self._asked("GET", "/v1/classifications"))["variants"])

    async def classify(self, body: dict[str, Any]) -> dict[str, Any]:
        """Have an image classified under encryption."""
        return await self._asked("POST", "/v1/classifications", json=body, timeout_s=_CLASSIFYING_S)

    async def advisees(self) -> list[str]:
        """The workloads that the service can advise on."""
        return list((await self._asked("GET", "/v1/advice"))["workloads"])

    async def advise(self, body: dict[str, Any]) -> dict[str, Any]:
        """Ask which library and parameters to take for a workload."""
        return await self._asked("POST", "/v1/advice", json=body, timeout_s=_ADVISING_S)

    async def machines(self) -> dict[str, Any]:
        """Accelerators, programs on them, and the results of CraterLake."""
        return await self._asked("GET", "/v1/machines")

    async def predict_on_machine(self, body: dict[str, Any]) -> dict[str, Any]:
        """Predict a program on a machine, as it is and with changes."""
        return await self._asked("POST", "/v1/machines", json=body, timeout_s=_ADVISING_S)

    async def submit(self, body: dict[str, Any], principal: Principal | None = None) -> dict[str, Any]:
        """Queue a suite, for a user."""
        return await self._asked("POST", "/v1/runs", json=body, principal=principal)

    async def cancel(self, run_id: UUID, principal: Principal | None = None) -> dict[str, Any]:
        """Cancel a run, for a user."""
        return await self._asked("POST", f"/v1/runs/{run_id}/cancel", principal=principal)

    async def events(self, run_id: UUID, after: int) -> AsyncIterator[bytes]:
        """The run's server-sent events after number ``after``, up to the service's last one, as they arrive. All
        listeners to a run share one connection. Raises before the first event where the service refuses.
        """
        # A listener that waits for the lock finds the broadcast open.
        async with self._opening.setdefault(run_id, asyncio.Lock()):
            response = None if self._broadcasts.has(str(run_id)) else await self._opened(run_id)
            rest = self._broadcasts.listen(str(run_id), after, partial(_receive, response))
            return _all(await anext(rest, b""), rest)

    async def _opened(self, run_id: UUID) -> httpx.Response:
        request = self._listening.build_request(
            "GET", f"/v1/runs/{run_id}/events", headers=self._token.headers()
        )
        return await self._answered(request, self._listening, stream=True)

    async def _asked(
        self,
        method: str,
        path: str,
        json: dict[str, Any] | None = None,
        timeout_s: float = _TIMEOUT_S,
        principal: Principal | None = None,
    ) -> dict[str, Any]:
        headers = self._token.headers() | ({ACTOR_HEADER: principal.header} if principal else {})
        request = self._client.build_request(method, path, headers=headers, json=json, timeout=timeout_s)
        return dict((await self._answered(request, self._client)).json())

    @staticmethod
    async def _answered(
        request: httpx.Request, client: httpx.AsyncClient, stream: bool = False
    ) -> httpx.Response:
        try:
            response = await client.send(request, stream=stream)
            if response.is_error:
                await response.aread()
        except httpx.HTTPError as error:
            raise ServiceAwayError(
                f"The benchmark service does not answer: {type(error).__name__} {error}".strip()
            ) from None
        if response.is_error:
            raise _refusal(response)
        return response


def _refusal(response: httpx.Response) -> UserError:
    """The service's refusal as an error of this package."""
    refusal = RequestRefused(response)
    text = str(refusal) if refusal.fields else f"The benchmark service answers {response.status_code}."
    if response.status_code == httpx.codes.NOT_FOUND:
        return NotFoundError(text)
    return ServiceAwayError(text) if refusal.is_away else UserError(text)


async def _all(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    async with aclosing(rest):
        yield first
        async for part in rest:
            yield part


async def _receive(response: httpx.Response | None, broadcast: Broadcast) -> None:
    """Forward the service's events until its stream ends."""
    assert response is not None  # the first listener opened it
    rest = b""
    try:
        async for part in response.aiter_raw():
            *whole, rest = (rest + part).split(_END)
            events = [text + _END for text in whole if not text.startswith(_COMMENT)]
            # Keep all numbered events. The others carry the whole state, so only the last one matters.
            numbered = [text for text in events if text.startswith(_NUMBER)]
            states = [text for text in events if not text.startswith(_NUMBER)]
            broadcast.add(
                [(int(text[len(_NUMBER) : text.index(b"\n")]), text) for text in numbered],
                states[-1] if states else None,
            )
    except httpx.HTTPError:
        return  # the browser reconnects automatically
    finally:
        broadcast.add(is_over=True)
        await response.aclose()
