"""A party behind a session: its process, and the blobs that it wrote, which go when nobody asks for them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from threading import Lock
from time import time
from typing import Any

import msgspec

from ciphermark_measure.blobs import Blob, BlobStore
from ciphermark_measure.parties import messages
from ciphermark_measure.processes import Process

Place = tuple[str, str | None]


class Written:
    """The blobs that the parties of a service wrote. Two may have written the same one: it goes with the last of them.

    Methods may be called from any thread.
    """

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._lock = Lock()
        self._holders: Counter[str] = Counter()
        self._held_at_s: dict[str, float] = {}

    def hold(self, blobs: Iterable[Blob]) -> None:
        """Note that one more party wrote these."""
        with self._lock:
            for blob in blobs:
                self._holders[blob.digest] += 1
                self._held_at_s[blob.digest] = time()

    def release(self, blobs: Iterable[Blob]) -> None:
        """Note that a party's blobs are not asked for again, and remove those that were the last one's."""
        with self._lock:
            for blob in blobs:
                self._holders[blob.digest] -= 1
                if self._holders[blob.digest] == 0:
                    del self._holders[blob.digest]
                    self._store.remove(blob, self._held_at_s.pop(blob.digest))


class Party:
    """One party process. What it writes in answer to a request is removed when it has answered the same request again,
    or ends: a pass takes the place of the one before.
    """

    def __init__(self, process: Process[messages.Reply], written: Written) -> None:
        self._process = process
        self._written = written
        self._blobs: dict[Place, tuple[Blob, ...]] = {}

    def ask(self, request: object, timeout_s: float) -> messages.Reply:
        """As :meth:`Process.ask`."""
        reply = self._process.ask(request, timeout_s)
        found, place = blobs_in(reply), _place(request)
        if found:
            self._written.hold(found)
            self._written.release(self._blobs.pop(place, ()))
            self._blobs[place] = found
        return reply

    def kill(self) -> None:
        """From another thread: make it die."""
        self._process.kill()

    def end(self) -> None:
        """Wait for its end, and remove what it wrote."""
        self._process.end()
        for blobs in self._blobs.values():
            self._written.release(blobs)
        self._blobs.clear()


def blobs_in(message: Any) -> tuple[Blob, ...]:
    """The blobs that a message names. Pure."""
    fields = msgspec.structs.asdict(message).values()
    flat = [item for field in fields for item in (field if isinstance(field, tuple) else (field,))]
    return tuple(item for item in flat if isinstance(item, Blob))


def _place(request: object) -> Place:
    """What was asked for: a pass asks for each stage once."""
    stage = request.stage if isinstance(request, messages.Encrypt | messages.Evaluate) else None
    return type(request).__name__, stage
