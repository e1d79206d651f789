"""One source, any number of listeners: server-sent events that are read or received once for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_SILENCE_S = 15.0  # then a comment keeps the connection alive


class Broadcast:
    """The state of a running activity: its numbered events so far, its current state, and whether more will come."""

    def __init__(self) -> None:
        self._events: list[tuple[int, bytes]] = []
        self._state = b""
        self._is_over = False
        self._changed = asyncio.Event()

    @property
    def last(self) -> int:
        """The number of the last event; 0 before the first."""
        return self._events[-1][0] if self._events else 0

    @property
    def is_over(self) -> bool:
        """Whether no more events will come."""
        return self._is_over

    def add(
        self, events: Iterable[tuple[int, bytes]] = (), state: bytes | None = None, is_over: bool = False
    ) -> None:
        """Add events in wire format, a new state if given, and the end."""
        fresh = list(events)
        is_news = state not in (None, self._state)
        if not (fresh or is_news or is_over):
            return
        self._events += fresh
        self._state = self._state if state is None else state
        self._is_over = self._is_over or is_over
        self._changed.set()
        self._changed = asyncio.Event()

    async def told(self, after: int) -> AsyncIterator[bytes]:
        """The events after number ``after``, future ones included, and the state on every change and at the end."""
        told_state, index = b"", 0
        while True:
            changed, is_over = self._changed, self._is_over
            fresh = [text for number, text in self._events[index:] if number > after]
            index = len(self._events)
            if fresh:
                yield b"".join(fresh)
            if self._state != told_state:
                told_state = self._state
                yield told_state
            if is_over:
                return
            if changed is self._changed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _SILENCE_S)
                    continue
                yield b": nothing new\n\n"


Feed = Callable[[Broadcast], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class _Open:
    """A broadcast with listeners, and its feed."""

    broadcast: Broadcast
    task: asyncio.Task[None]
    listeners: int = 0


class Broadcasts:
    """The broadcasts that have listeners, by subject."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}

    @property
    def listeners(self) -> int:
        """The total number of listeners."""
        return sum(item.listeners for item in self._open.values())

    def has(self, about: str) -> bool:
        """Whether a broadcast has listeners and is not over."""
        return about in self._open and not self._open[about].broadcast.is_over

    async def listen(self, about: str, after: int, feed: Feed) -> AsyncGenerator[bytes, None]:
        """The events of a broadcast after number ``after``. The first listener's ``feed`` supplies it, until the last
        listener leaves.
        """
        if not self.has(about):
            broadcast = Broadcast()
            self._open[about] = _Open(broadcast, asyncio.create_task(feed(broadcast)))
        item = self._open[about]
        item.listeners += 1
        try:
            async for part in item.broadcast.told(after):
                yield part
        finally:
            item.listeners -= 1
            if item.listeners == 0:
                item.task.cancel()
                if self._open.get(about) is item:
                    del self._open[about]
