"""A worker of primitives loads what it uses: each module more is paid for at every start."""

from __future__ import annotations

import subprocess
import sys

_LOADED = "import sys, ciphermark_measure.service; print(*sys.modules, sep='\\n')"


def test_a_worker_of_primitives_loads_neither_workloads_nor_what_serves() -> None:
    found = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True)
    loaded = set(found.stdout.split())
    assert "ciphermark_measure.experiments" in loaded
    needless = (
        "ciphermark_workloads.catalogue",
        "ciphermark_benchmark",
        "ciphermark_db",
        "pydantic",
        "typer",
    )
    assert loaded.isdisjoint(needless)
