"""The benchmark service as the dashboard uses it: to start, follow and cancel runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from ciphermark_core.errors import UserError
from ciphermark_dashboards.errors import NotFoundError, ServiceAwayError
from ciphermark_dashboards.relay import Relay
from ciphermark_web.rest import RequestRefused, bearer

_TIMEOUT_S = 10.0
_PREDICTING_S = 150.0  # more than the service takes at most
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
        return bearer(text)


NO_TOKEN = Token()


class Benchmark:
    """A client of the REST API. Raises ``UserError`` with the service's own words for what it refuses."""

    def __init__(self, url: str, token: Token) -> None:
        self._client = httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_S, trust_env=False)
        # Of their own: who listens to many runs takes no connection from who asks something.
        self._listening = httpx.AsyncClient(
            base_url=url, timeout=_LISTENING, trust_env=False, limits=httpx.Limits(max_connections=None)
        )
        self._relay = Relay(self._opened)
        self._token = token

    async def close(self) -> None:
        """Disconnect."""
        await self._client.aclose()
        await self._listening.aclose()

    async def run(self, run_id: UUID) -> dict[str, Any]:
        """One run with what is recorded of it."""
        return await self._asked("GET", f"/v1/runs/{run_id}")

    async def suites(self) -> list[str]:
        """Names of the suites that the service has."""
        found: list[str] = (await self._asked("GET", "/v1/suites"))["suites"]
        return found

    async def classifiers(self) -> list[str]:
        """The variants that can classify an image where the service is."""
        found: list[str] = (await self._asked("GET", "/v1/predictions"))["variants"]
        return found

    async def predict(self, body: dict[str, Any]) -> dict[str, Any]:
        """Have an image classified under encryption."""
        return await self._asked("POST", "/v1/predictions", json=body, timeout_s=_PREDICTING_S)

    async def submit(self, body: dict[str, Any]) -> dict[str, Any]:
        """Queue a suite."""
        return await self._asked("POST", "/v1/runs", json=body)

    async def cancel(self, run_id: UUID) -> dict[str, Any]:
        """End a run."""
        return await self._asked("POST", f"/v1/runs/{run_id}/cancel")

    async def events(self, run_id: UUID, after: int) -> AsyncIterator[bytes]:
        """The run's server-sent events behind number ``after``, as they come: all who listen to a run share one
        connection. Raises before the first one where the service refuses.
        """
        return await self._relay.events(run_id, after)

    async def _opened(self, run_id: UUID) -> httpx.Response:
        request = self._listening.build_request(
            "GET", f"/v1/runs/{run_id}/events", headers=self._token.headers()
        )
        return await self._answered(request, self._listening, stream=True)

    async def _asked(
        self, method: str, path: str, json: dict[str, Any] | None = None, timeout_s: float = _TIMEOUT_S
    ) -> dict[str, Any]:
        request = self._client.build_request(
            method, path, headers=self._token.headers(), json=json, timeout=timeout_s
        )
        response = await self._answered(request, self._client)
        found: dict[str, Any] = response.json()
        return found

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
    """What the service answered, as an error of ours."""
    refusal = RequestRefused(response)
    told = str(refusal) if refusal.fields else f"The benchmark service answers {response.status_code}."
    if response.status_code == httpx.codes.NOT_FOUND:
        return NotFoundError(told)
    return ServiceAwayError(told) if refusal.is_away else UserError(told)
