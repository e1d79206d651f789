"""Calls to our own services: one client, with a service's token, deadlines, and all failures as two errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

CONNECT_S = 10.0


@dataclass(frozen=True, slots=True)
class Service:
    """The address of a service, and its token."""

    name: str
    url: str
    token: str = field(repr=False)


class NoAnswer(Exception):
    """The service cannot be reached, or gives no response; ``is_late`` after the deadline for one."""

    def __init__(self, error: httpx.HTTPError) -> None:
        super().__init__(str(error) or type(error).__name__)
        self.is_late = isinstance(error, httpx.ReadTimeout)


class RequestRefused(Exception):
    """The service answers with an error: a problem document, whose ``kind`` ends its type, or another body."""

    def __init__(self, response: httpx.Response) -> None:
        self.status_code = response.status_code
        self.body = response.text
        self.fields = _object(response.content)
        self.kind = str(self.fields["type"]).rpartition(":")[2] if "type" in self.fields else None
        after = response.headers.get("Retry-After", "")
        self.after_s = float(after) if after.isascii() and after.isdigit() else None
        super().__init__(self.fields.get("detail") or self.fields.get("title") or self.body[:300])

    @property
    def is_away(self) -> bool:
        """Whether the service is at fault, or starting or stopping, and not the request."""
        return self.status_code >= httpx.codes.INTERNAL_SERVER_ERROR


class RestClient:
    """A connection to one service, for one thread; ``timeout_s`` limits a response unless a call sets another limit.

    Proxies of the environment are ignored: our services are called directly.
    """

    def __init__(self, service: Service, timeout_s: float = CONNECT_S) -> None:
        self.service = service
        self._timeout_s = timeout_s
        self._http = httpx.Client(base_url=service.url, headers=bearer(service.token), trust_env=False)

    def __enter__(self) -> RestClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect."""
        self._http.close()

    def name_requests(self, headers: Mapping[str, str]) -> None:
        """Send these headers with every later request."""
        self._http.headers.update(headers)

    def another(self) -> RestClient:
        """A separate connection with the same headers, since this one may be waiting for a response."""
        client = RestClient(self.service, self._timeout_s)
        client._http.headers.update(self._http.headers)
        return client

    def send(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        *,
        timeout_s: float | None = None,
        **more: Any,
    ) -> bytes:
        """The body of the response. ``more`` is httpx's (``params``, ``headers``); content is JSON unless the headers
        differ. Raises :class:`NoAnswer` and :class:`RequestRefused`.
        """
        headers = ({} if content is None else {"Content-Type": "application/json"}) | more.pop("headers", {})
        limit_s = self._timeout_s if timeout_s is None else max(timeout_s, 0.001)
        timeout = httpx.Timeout(limit_s, connect=CONNECT_S)
        try:
            response = self._http.request(
                method, path, content=content, headers=headers, timeout=timeout, **more
            )
        except httpx.HTTPError as error:
            raise NoAnswer(error) from None
        if not response.is_success:
            raise RequestRefused(response)
        return response.content


def bearer(token: str | None) -> dict[str, str]:
    """The header that carries a token."""
    return {"Authorization": f"Bearer {token}"} if token else {}


def _object(content: bytes) -> dict[str, Any]:
    """The object of a JSON document; empty for any other content."""
    try:
        document = json.loads(content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
