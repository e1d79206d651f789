"""Processes that are started often load what they use: each module more is paid for at every start."""

from __future__ import annotations

import subprocess
import sys


def loaded_with(*modules: str) -> set[str]:
    """All modules of a new process that has loaded these."""
    code = f"import sys, {', '.join(modules)}; print(*sys.modules, sep='\\n')"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def test_a_worker_of_primitives_loads_neither_workloads_nor_what_serves() -> None:
    loaded = loaded_with("ciphermark_measure.service")
    assert "ciphermark_measure.experiments" in loaded
    needless = (
        "ciphermark_workloads.catalogue",
        "ciphermark_benchmark",
        "ciphermark_db",
        "pydantic",
        "typer",
    )
    assert loaded.isdisjoint(needless)


def test_attempts_at_jobs_load_nothing_that_serves() -> None:
    loaded = loaded_with("ciphermark_benchmark.jobs.attempts", "ciphermark_benchmark.jobs.execution")
    assert "ciphermark_web.logs" in loaded
    assert loaded.isdisjoint({"fastapi", "starlette", "uvicorn"})
