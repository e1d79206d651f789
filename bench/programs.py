"""Section ``programs``: programs against the same circuits written by hand in C++, what a second thread brings, and
what tracing and storing cost.

Two processes share a CPU and take turns, as in section ``baseline``. What a second thread may bring at most follows
from the program: its work divided by its span, by the times of its own operations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import cycle
from statistics import median
from time import perf_counter

from bench.baseline import ALLOCATOR, geometric_mean, paired
from bench.figures import Figure, Progress, Target
from bench.native_build import hand_written
from bench.places import measuring_cpu
from bench.processes import Program as PlainProgram
from bench.program_cases import BATCH, CASES, MATRIX_PRODUCT, MEANS_TRAINING, ProgramCase
from bench.program_worker import ProgramWorker
from ciphermark_contract.operations import fresh
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import TracingEvaluator
from ciphermark_core.model import Parameters

_VARIANTS = ("seal", "seal-hexl")
_RATIO = Target(0.97, 1.03)
_TURNS = 12
_SAMPLE_S = 0.15
_LEAST_SHARE = 85.0
_NODES = 10_000


def section(progress: Progress) -> Iterator[Figure]:
    """All of it; the ratio of all cases at the end."""
    os.environ.update(ALLOCATOR)
    ratios = []
    for variant in _VARIANTS:
        for case in CASES:
            progress(f"{case.name}, {variant}: keys for two processes")
            figure = _against_hand(case, variant)
            ratios.append(figure.value)
            yield figure
    yield Figure("programs", "geometric mean of all ratios", geometric_mean(ratios), target=_RATIO)
    for case in (MATRIX_PRODUCT, MEANS_TRAINING, BATCH):
        progress(f"{case.name}, seal-hexl, two threads")
        yield _second_thread(case, "seal-hexl")
    yield from _tracing(progress)


def _against_hand(case: ProgramCase, variant: str) -> Figure:
    cpus = {measuring_cpu()}
    worker, hand = ProgramWorker(case, variant, cpus), _by_hand(case, variant, cpus)
    try:
        loops = max(1, round(_SAMPLE_S / (hand.asked(1) / 1e9)))
        worker.elapsed_ns(1, loops)
        ours: list[float] = []
        theirs: list[float] = []
        for turn in range(_TURNS):
            for is_ours in (True, False) if turn % 2 else (False, True):
                elapsed = worker.elapsed_ns(1, loops) if is_ours else hand.asked(loops)
                (ours if is_ours else theirs).append(elapsed / loops)
    finally:
        worker.end()
        hand.end()
    ratio = paired(ours, theirs)
    return Figure(
        "programs",
        f"{variant} {case.name} / by hand",
        ratio.median,
        target=_RATIO,
        note=f"{median(ours) / 1e6:,.2f} ms against {median(theirs) / 1e6:,.2f} ms",
        facts={"low": ratio.low, "high": ratio.high, "ours_ns": ours, "by_hand_ns": theirs},
    )


def _by_hand(case: ProgramCase, variant: str, cpus: set[int]) -> PlainProgram:
    """The circuit of ``native/hand_written.cpp``, with the primes that the variant takes."""
    parameters = case.parameters(variant)
    numbers = (
        parameters.ring_dimension,
        parameters.plain_modulus or 0,
        parameters.spec.scale_bits or 0,
        case.block,
        case.rows,
        *parameters.moduli,
        *parameters.special_moduli,
    )
    return PlainProgram([hand_written(variant), case.name, *map(str, numbers)], cpus)


def _second_thread(case: ProgramCase, variant: str) -> Figure:
    """The share of the speed-up that work and span allow."""
    worker = ProgramWorker(case, variant, os.sched_getaffinity(0))
    try:
        work, span = worker.work_and_span()
        loops = max(1, round(_SAMPLE_S / (worker.elapsed_ns(1, 1) / 1e9)))
        times: dict[int, list[int]] = {1: [], 2: []}
        for threads, _ in zip(cycle((1, 2)), range(2 * _TURNS), strict=False):
            times[threads].append(worker.elapsed_ns(threads, loops))
    finally:
        worker.end()
    gain = paired(times[1], times[2]).median
    most = min(2.0, work / span)
    return Figure(
        "programs",
        f"{variant} {case.name}, two threads",
        100 * gain / most,
        "%",
        Target(least=_LEAST_SHARE),
        f"{gain:.2f} times as fast; work / span {work / span:.2f}",
        {"work_s": work, "span_s": span, "gain": gain},
    )


def _tracing(progress: Progress) -> Iterator[Figure]:
    progress(f"tracing and storing {_NODES:,} nodes")
    parameters = MATRIX_PRODUCT.parameters("seal")
    start = perf_counter()
    program = _long_program(parameters)
    yield Figure("programs", f"tracing {_NODES:,} nodes", perf_counter() - start, "s", Target(most=1.0))
    start = perf_counter()
    data = program.to_bytes()
    again = Program.from_bytes(data)
    elapsed_s = perf_counter() - start
    assert again == program
    note = f"{len(data) / 1024:,.0f} KiB"
    yield Figure("programs", "writing and reading that program", elapsed_s, "s", Target(most=0.2), note)


def _long_program(parameters: Parameters) -> Program:
    evaluator = TracingEvaluator(parameters, [fresh(parameters)] * 2, ("add", "rotate"))
    a, b = evaluator.inputs
    for _ in range(_NODES // 2):
        a, b = b, evaluator.apply("rotate", evaluator.apply("add", a, b), 1)
    return evaluator.traced([b]).program
