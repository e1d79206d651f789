"""Answers for an application that waits for something that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Vigil(Protocol):
    """Who watches what the application depends on."""

    @property
    def is_away(self) -> bool:
        """Whether it does not answer."""

    async def until_away(self) -> None:
        """Return once it does not answer."""


class Watched:
    """Answers, within seconds, for an application that waits for a server that is away. Paths that ``needs_none`` names
    are left alone, and so is an answer that has begun.
    """

    def __init__(
        self, app: ASGIApp, vigil: Vigil, needs_none: Callable[[str], bool], answer: ASGIApp
    ) -> None:
        self._app = app
        self._vigil = vigil
        self._needs_none = needs_none
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or self._needs_none(scope["path"]):
            await self._app(scope, receive, send)
            return
        if self._vigil.is_away:
            await self._answer(scope, receive, send)
            return
        sending = _Sending(send)
        work = asyncio.ensure_future(self._app(scope, receive, sending))
        away = asyncio.ensure_future(self._vigil.until_away())
        try:
            work.add_done_callback(_heard)
            await asyncio.wait({work, away}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and not sending.has_begun:
                sending.is_over = True
                work.cancel()
                await self._answer(scope, receive, send)
                return
            await work
        finally:
            away.cancel()
            work.cancel()


class _Sending:
    """Passes messages on until another answer has been given."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False
        self.is_over = False

    async def __call__(self, message: Message) -> None:
        if not self.is_over:
            self.has_begun = True
            await self._send(message)


def _heard(work: asyncio.Future[Any]) -> None:
    """Whoever has had another answer asks no more what became of the first one."""
    if not work.cancelled():
        work.exception()
