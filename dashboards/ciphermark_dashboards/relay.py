"""Events of runs for pages: however many look at a run, the service is asked once, over one connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from uuid import UUID
from weakref import WeakValueDictionary

import httpx

from ciphermark_web.broadcast import Broadcast, Broadcasts

_END = b"\n\n"  # of an event
_NUMBER = b"id: "
_COMMENT = b":"
Open = Callable[[UUID], Awaitable[httpx.Response]]


class Relay:
    """Hands on what the service tells of runs. ``ask`` asks it for a run's events, and raises where it refuses."""

    def __init__(self, ask: Open) -> None:
        self._ask = ask
        self._opening: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
        self._broadcasts = Broadcasts()

    async def events(self, run_id: UUID, after: int) -> AsyncIterator[bytes]:
        """The events of a run behind number ``after``; they end with those of the service. Raises before the first one
        where the service refuses.
        """
        lock = self._opening.get(run_id) or asyncio.Lock()
        self._opening[run_id] = lock
        async with lock:  # whoever comes meanwhile finds the broadcast open
            response = None if self._broadcasts.has(str(run_id)) else await self._ask(run_id)

            async def feed(broadcast: Broadcast) -> None:
                assert response is not None
                await _receive(response, broadcast)

            rest = self._broadcasts.listen(str(run_id), after, feed)
            return _all(await anext(rest, b""), rest)


async def _all(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    async with aclosing(rest):
        yield first
        async for part in rest:
            yield part


async def _receive(response: httpx.Response, broadcast: Broadcast) -> None:
    """Tell what the service tells, as long as it does."""
    rest = b""
    try:
        async for part in response.aiter_raw():
            *whole, rest = (rest + part).split(_END)
            _tell([text + _END for text in whole if not text.startswith(_COMMENT)], broadcast)
    except httpx.HTTPError:
        return  # the browser asks again by itself
    finally:
        broadcast.add(is_over=True)
        await response.aclose()


def _tell(events: list[bytes], broadcast: Broadcast) -> None:
    """Numbered events are kept; of the others, which tell the state, the last one counts."""
    numbered = [text for text in events if text.startswith(_NUMBER)]
    states = [text for text in events if not text.startswith(_NUMBER)]
    broadcast.add(
        [(int(text[len(_NUMBER) : text.index(b"\n")]), text) for text in numbered],
        states[-1] if states else None,
    )
