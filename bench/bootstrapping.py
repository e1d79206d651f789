"""Section ``bootstrapping``: Lattigo's bootstrapping against a plain program in Go, both with one thread.

Both have Lattigo's parameter set N15QP768H192H32, and take turns on one CPU. They take up to 18 GB of memory together.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing

from bench import native_build
from bench.baseline import sampled
from bench.processes import Program, installed, measuring_cpu, needs_of
from bench.results import BenchResult, Progress, beside_plain
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.trial_runner import InWorker
from ciphermark_core.budget import Budget
from ciphermark_core.model import BootstrappingParameters, Case, ParameterSpec, Trial
from ciphermark_measure.experiments import KINDS

_SPEC = ParameterSpec(
    "ckks",
    32768,
    (33, 50, 25, 60, *[50] * 8, 49, 49, 60),
    scale_bits=25,
    security=0,
    tuning="recommended",
    secret_distribution="sparse ternary",
    bootstrapping=BootstrappingParameters((2, 1)),
)
_BUDGET = Budget(min_samples=6, warmups=1, min_time_s=0.0, timeout_s=900.0, memory_mb=12_000)


def section(progress: Progress) -> Iterator[BenchResult]:
    """Measure the ratio of times."""
    kind = KINDS["bootstrapping"]
    for variant in installed(("lattigo",), progress):
        progress("keys for two processes")
        command = [native_build.of_lattigo("plain_bootstrap")]
        case = Case(variant, kind.name, "bootstrap", _SPEC, _SPEC.slots, "random")
        needs = needs_of(variant, _SPEC, kind.experiment.keys(case), _BUDGET)
        seat = InWorker(needs, ReferenceKernelBaseline())
        with closing(Program(command, {measuring_cpu()})) as loop:
            try:
                trial = Trial(str(uuid.uuid4()), str(uuid.uuid4()), case, 0, 1, _BUDGET)
                ours_s, plain_s = sampled(seat, trial, [loop])
            finally:
                seat.leave()
        yield beside_plain(f"{variant} bootstrap N = {_SPEC.ring_dimension}", ours_s, plain_s)
