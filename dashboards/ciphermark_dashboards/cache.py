"""What was computed and does not change, kept in memory within bounds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Keeps what was asked for last, up to so much weight in all; from any thread."""

    def __init__(self, most: int, weight: Callable[[T], int]) -> None:
        self._most = most
        self._weight = weight
        self._items: OrderedDict[Hashable, T] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The item of a key, made where it is not kept. Two threads may make it at once: both get one item."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key]
        made = make()
        with self._lock:
            if key in self._items:
                return self._items[key]
            self._items[key] = made
            self._total += self._weight(made)
            while self._total > self._most and len(self._items) > 1:
                _, dropped = self._items.popitem(last=False)
                self._total -= self._weight(dropped)
        return made
