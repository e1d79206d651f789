"""Shows stages: seconds of running stages on a terminal, a start and an end line per stage elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Announces stages and prints their durations. Several may run, each in a separate thread."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._on_terminal = sys.stdout.isatty()
        self._lock = threading.Lock()
        self._started_s: dict[str, float] = {}  # of running stages, by label

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Tick while the block runs, on a terminal."""
        ended = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(ended,), daemon=True)
        if self._on_terminal:
            ticker.start()
        try:
            yield
        finally:
            ended.set()
            if self._on_terminal:
                ticker.join()

    @contextmanager
    def stage(self, number: int, title: str) -> Iterator[None]:
        """Show the stage while the block runs, and its end: `done`, or `failed` when the block raises."""
        label = f"[{number}/{self._total}] {title}"
        with self._lock:
            self._started_s[label] = time.monotonic()
            if not self._on_terminal:
                print(f"{label} …", flush=True)
        verdict = "failed"
        try:
            yield
            verdict = "done"
        finally:
            with self._lock:
                elapsed_s = time.monotonic() - self._started_s.pop(label)
                clear = "\r\033[K" if self._on_terminal else ""
                print(f"{clear}{label} … {elapsed_s:.0f} s, {verdict}", flush=True)

    def _tick(self, ended: threading.Event) -> None:
        while not ended.wait(1):
            with self._lock:
                now = time.monotonic()
                at_work = (f"{label} … {now - start:.0f} s" for label, start in self._started_s.items())
                print(f"\r\033[K{'   '.join(at_work)}", end="", flush=True)
