"""The benchmark service as the dashboard uses it: to start, follow and cancel runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from ciphermark_core.errors import UserError
from ciphermark_dashboards.errors import ServiceAwayError

_TIMEOUT_S = 10.0
_LISTENING = httpx.Timeout(_TIMEOUT_S, read=60.0)  # the service says something at least every 15 s


@dataclass(frozen=True, slots=True)
class Token:
    """The service's token, or the file that the service keeps it in: it is read when it is needed."""

    text: str | None = None
    file: Path | None = None

    def headers(self) -> dict[str, str]:
        """What a request carries. Raises :class:`ServiceAwayError` where the service has not made its file yet."""
        try:
            text = self.text if self.file is None else self.file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ServiceAwayError(f"The benchmark service's token cannot be read: {error}") from None
        return {"Authorization": f"Bearer {text}"} if text else {}


NO_TOKEN = Token()


class Benchmark:
    """A client of the REST API. Raises ``UserError`` with the service's own words for what it refuses."""

    def __init__(self, url: str, token: Token) -> None:
        self._client = httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_S)
        self._token = token

    async def close(self) -> None:
        """Disconnect."""
        await self._client.aclose()

    async def runs(self, before: str | None = None) -> dict[str, Any]:
        """A page of runs, the latest first: ``runs``, and ``next`` for the page that follows."""
        return await self._asked("GET", "/v1/runs", params={"before": before} if before else {})

    async def run(self, run_id: str) -> dict[str, Any]:
        """One run with what is recorded of it."""
        return await self._asked("GET", f"/v1/runs/{run_id}")

    async def suites(self) -> list[str]:
        """Names of the suites that the service has."""
        found: list[str] = (await self._asked("GET", "/v1/suites"))["suites"]
        return found

    async def submit(self, body: dict[str, Any]) -> dict[str, Any]:
        """Queue a suite."""
        return await self._asked("POST", "/v1/runs", json=body)

    async def cancel(self, run_id: str) -> dict[str, Any]:
        """End a run."""
        return await self._asked("POST", f"/v1/runs/{run_id}/cancel")

    async def events(self, run_id: str, last_event_id: str | None) -> AsyncIterator[bytes]:
        """The run's server-sent events, as they come."""
        headers = self._token.headers() | ({"Last-Event-ID": last_event_id} if last_event_id else {})
        try:
            async with self._client.stream(
                "GET", f"/v1/runs/{run_id}/events", headers=headers, timeout=_LISTENING
            ) as response:
                async for part in response.aiter_raw():
                    yield part
        except httpx.HTTPError:
            return  # the browser asks again by itself

    async def _asked(self, method: str, path: str, **arguments: Any) -> dict[str, Any]:
        try:
            response = await self._client.request(method, path, headers=self._token.headers(), **arguments)
        except httpx.HTTPError as error:
            raise ServiceAwayError(
                f"The benchmark service does not answer: {type(error).__name__} {error}".strip()
            ) from None
        if response.is_error:
            raise UserError(_told(response))
        found: dict[str, Any] = response.json()
        return found


def _told(response: httpx.Response) -> str:
    """What the service says against a request."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    return str(
        body.get("detail") or body.get("title") or f"The benchmark service answers {response.status_code}."
    )
