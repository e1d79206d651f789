"""No caller keeps a connection waiting for what it does not send: heads and bodies of requests have deadlines.

Whoever reaches the port can connect, with or without a token; uvicorn itself waits for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# By what is waited for, as h11 calls it: the head of a request, or the rest of its body.
ALLOWED_S: dict[Any, float] = {h11.IDLE: 10.0, h11.SEND_BODY: 60.0}


class Deadlined(H11Protocol):
    """HTTP as uvicorn speaks it; connections end whose head or body is not there in time, however much of it comes.

    Between two requests, before the first byte of the second, uvicorn's own limit holds.
    """

    _clock: asyncio.TimerHandle | None = None
    _awaited: tuple[Any, object] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """The first head is waited for from now on."""
        super().connection_made(transport)
        self._await((h11.IDLE, None))

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._await(None)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Called by uvicorn whenever something has come, or an answer is complete."""
        super().handle_events()
        state = self.conn.their_state
        is_begun = state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        self._await((state, self.cycle) if state in ALLOWED_S and is_begun else None)

    def _await(self, awaited: tuple[Any, object] | None) -> None:
        """Begin to wait for the head or the body of one request, or for nothing."""
        if awaited == self._awaited:
            return
        if self._clock is not None:
            self._clock.cancel()
        self._awaited = awaited
        self._clock = None if awaited is None else self.loop.call_later(ALLOWED_S[awaited[0]], self._give_up)

    def _give_up(self) -> None:
        self.transport.abort()
