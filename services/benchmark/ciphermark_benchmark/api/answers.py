"""Answers that cost something and do not change: computed once, kept within bounds."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

_MOST_AT_ONCE = 2  # computing is work for a CPU, and the database's
_MOST_RECENT = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """A body and its entity tag."""

    body: bytes
    etag: str


class Answers:
    """Keeps the latest answers, up to so many bytes. Who asks while an answer is computed waits for it."""

    def __init__(self, most_bytes: int = 64 << 20) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Hashable, Answer] = OrderedDict()
        self._kept_bytes = 0
        self._under_way: dict[Hashable, asyncio.Task[Answer]] = {}
        self._turns = asyncio.Semaphore(_MOST_AT_ONCE)

    async def get(self, key: Hashable, compute: Callable[[], bytes]) -> Answer:
        """The answer to a key; ``compute`` runs in a thread where it is not known yet, and may raise."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._under_way:
            self._under_way[key] = asyncio.create_task(self._computed(key, compute))
        return await asyncio.shield(self._under_way[key])

    async def _computed(self, key: Hashable, compute: Callable[[], bytes]) -> Answer:
        try:
            async with self._turns:
                body = await asyncio.to_thread(compute)
            answer = Answer(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
            self._keep(key, answer)
            return answer
        finally:
            del self._under_way[key]

    def _keep(self, key: Hashable, answer: Answer) -> None:
        self._kept[key] = answer
        self._kept_bytes += len(answer.body)
        while self._kept_bytes > self._most_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped.body)


class Recent(Generic[T]):
    """What was asked a moment ago is not asked again, however many want to know."""

    def __init__(self, for_s: float) -> None:
        self._for_s = for_s
        self._asked: OrderedDict[Hashable, tuple[float, asyncio.Task[T]]] = OrderedDict()

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer, at most so many seconds old; what ``ask`` raises, everybody gets who waits for it."""
        asked_at, task = self._asked.get(key, (0.0, None))
        if task is None or asked_at + self._for_s < monotonic() or (task.done() and task.exception()):
            task = asyncio.ensure_future(_awaited(ask))
            self._asked[key] = monotonic(), task
            self._asked.move_to_end(key)
            while len(self._asked) > _MOST_RECENT:
                self._asked.popitem(last=False)
        return await asyncio.shield(task)


async def _awaited(ask: Callable[[], Awaitable[T]]) -> T:
    return await ask()
