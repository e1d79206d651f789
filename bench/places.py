"""Where things are, and a data folder of one's own for measurements of Ciphermark itself."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ciphermark_benchmark import storage
from ciphermark_benchmark.home import DATABASE_VARIABLE, HOME_VARIABLE, Home

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"
BIN = ROOT / ".venv" / "bin"
QUICK = ROOT / "suites" / "quick.yaml"


def measuring_cpu() -> int:
    """The CPU that the executor gives to a single-threaded worker."""
    return max(os.sched_getaffinity(0))


@contextmanager
def fresh_home() -> Iterator[Home]:
    """An empty data folder whose embedded database is started and migrated; both go afterwards."""
    with tempfile.TemporaryDirectory(prefix="ciphermark-bench-") as folder:
        home = Home(Path(folder), None)
        try:
            storage.connected(home).close()
            yield home
        finally:
            storage.stop(home)


def environment(home: Home) -> dict[str, str]:
    """The environment of a ``ciphermark`` command that keeps its data there."""
    own = {name: value for name, value in os.environ.items() if name != DATABASE_VARIABLE}
    return own | {HOME_VARIABLE: str(home.folder)}
