"""What a availability application answers: its own answer, or another one as soon as what it waits for is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from ciphermark_web.layers import Availability

AWAY = PlainTextResponse("away", 503)
TURNS = 100  # of the event loop: more than any reaction takes


class Told:
    """A monitor that says what a test wants."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    @property
    def is_away(self) -> bool:
        return self.gone.is_set()

    async def until_away(self) -> None:
        await self.gone.wait()


class Asked:
    """An application that waits, and what it answered."""

    def __init__(self, begins: bool = False) -> None:
        self.monitor, self.goes_on, self.began = Told(), asyncio.Event(), asyncio.Event()
        self.statuses: list[int] = []
        self.bodies: list[bytes] = []
        self._begins = begins

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        self.began.set()
        await self.goes_on.wait()
        if self._begins:
            await send({"type": "http.response.body", "body": b"own"})
        else:
            await PlainTextResponse("own")(scope, receive, send)

    async def ask(self, path: str = "/") -> None:
        availability = Availability(self.app, self.monitor, lambda name: name == "/open", AWAY)
        await availability(
            {"type": "http", "method": "GET", "path": path, "headers": []}, _receive, self._send
        )

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])
        else:
            self.bodies.append(message["body"])


async def _receive() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _never_away(asked: Asked) -> None:
    asked.goes_on.set()
    await asked.ask()


async def _away_before(asked: Asked) -> None:
    asked.monitor.gone.set()
    await asked.ask()
    assert not asked.began.is_set()


async def _away_meanwhile(asked: Asked) -> None:
    work = asyncio.create_task(asked.ask())
    await asked.began.wait()
    asked.monitor.gone.set()
    for _ in range(TURNS):
        await asyncio.sleep(0)
    asked.goes_on.set()
    await work


async def _left_alone(asked: Asked) -> None:
    asked.monitor.gone.set()
    asked.goes_on.set()
    await asked.ask("/open")


@pytest.mark.parametrize(
    ("story", "begins", "status", "body"),
    [
        (_never_away, False, 200, b"own"),
        (_away_before, False, 503, b"away"),
        (_away_meanwhile, False, 503, b"away"),
        (_away_meanwhile, True, 200, b"own"),  # what has begun is not answered twice
        (_left_alone, False, 200, b"own"),
    ],
)
def test_there_is_one_answer(
    story: Callable[[Asked], Awaitable[None]], begins: bool, status: int, body: bytes
) -> None:
    async def told() -> None:
        asked = Asked(begins)
        await story(asked)
        assert (asked.statuses, b"".join(asked.bodies)) == ([status], body)

    asyncio.run(told())
