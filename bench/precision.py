"""Section ``precision``: predicted errors and noise budgets of workloads against measured ones, in bits.

Each variant's workloads are executed in its own interpreter (:mod:`bench.precision_worker`). The table in
docs/explanation/precision-model.md is from this section.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator

from bench.processes import ROOT, installed
from bench.results import BenchResult, Progress, Target
from ciphermark_adapters import registry

_VARIANTS = ("seal", "pyfhel", "tenseal", "openfhe", "helib", "lattigo")
_NEAR_BITS = 2.0


def section(progress: Progress) -> Iterator[BenchResult]:
    """The difference for each workload, and the share within two bits."""
    differences: list[float] = []
    for variant in installed(_VARIANTS, progress):
        progress(f"{variant}: a minute or two")
        command = [registry.interpreter(variant), "-m", "bench.precision_worker", variant]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            facts = json.loads(line)
            differences.append(facts["measured_bits"] - facts["predicted_bits"])
            yield BenchResult(facts["name"], differences[-1], "bits", note=facts["note"], facts=facts)
    near = sum(abs(item) <= _NEAR_BITS for item in differences)
    yield BenchResult(
        f"within {_NEAR_BITS:g} bits", 100 * near / max(1, len(differences)), "%", Target(least=95)
    )
