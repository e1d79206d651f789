"""Shows one line per stage: ticking seconds on a terminal, a start and an end line elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Announces stages and says how long they take."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._on_terminal = sys.stdout.isatty()

    @contextmanager
    def stage(self, number: int, title: str) -> Iterator[None]:
        """Show the stage while the block runs, and its end: `done`, or `failed` when the block raises."""
        label = f"[{number}/{self._total}] {title}"
        started_s = time.monotonic()
        ended = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(label, started_s, ended), daemon=True)
        if self._on_terminal:
            ticker.start()
        else:
            print(f"{label} …", flush=True)
        verdict = "failed"
        try:
            yield
            verdict = "done"
        finally:
            ended.set()
            if self._on_terminal:
                ticker.join()
                print("\r\033[K", end="")
            print(f"{label} … {time.monotonic() - started_s:.0f} s, {verdict}", flush=True)

    @staticmethod
    def _tick(label: str, started_s: float, ended: threading.Event) -> None:
        while True:
            print(f"\r{label} … {time.monotonic() - started_s:.0f} s", end="", flush=True)
            if ended.wait(1):
                return
