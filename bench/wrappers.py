"""Section ``wrappers``: libraries that are called from Python, against a plain Python loop around their own calls.

It also measures the start of a worker whose library has a separate interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

from bench.baseline import ALLOCATOR
from bench.processes import ROOT, installed, measuring_cpu, start_result
from bench.results import BenchResult, Progress, Target, beside_plain, summary
from ciphermark_adapters import registry
from ciphermark_core.errors import UserError

VARIANTS = ("tenseal", "pyfhel", "openfhe")
_MIN_S = 50e-6  # shorter operations have no target


def section(progress: Progress) -> Iterator[BenchResult]:
    """Measure the installed variants."""
    ratios = []
    for variant in installed(VARIANTS, progress):
        progress(f"{variant} against its library's own calls")
        for line in _lines(variant):
            name = f"{variant} {line['place']} {line['operation']}"
            ratios.append(beside_plain(name, line["platform"], line["plain"], _MIN_S))
            yield ratios[-1]
        if registry.declaration(variant).environment is not None:
            yield start_result(variant, Target(most=0.7))
    yield from summary(ratios)


def _lines(variant: str) -> Iterator[dict[str, Any]]:
    """Yield the loop's output lines as they arrive; raises ``UserError`` with the end of its errors if it fails."""
    command = [registry.interpreter(variant), "-m", "bench.wrapper_loop", variant, str(measuring_cpu())]
    environment = os.environ | ALLOCATOR | {"OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            assert process.stdout is not None
            yield from map(json.loads, process.stdout)
        if process.returncode != 0:
            errors.seek(0)
            raise UserError(f"the plain loop of {variant} failed:\n{errors.read()[-2000:]}")
