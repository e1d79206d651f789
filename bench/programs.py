"""Section ``programs``: programs against hand-written C++ circuits, speedup of a second thread, costs of tracing.

Two processes share a CPU alternately, as in section ``baseline``. The maximum speedup of a second thread follows from
the program: its work divided by its span, from the times of its own operations. Storing programs is also timed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from time import perf_counter

from bench import native_build
from bench.baseline import ALLOCATOR
from bench.processes import Program as PlainProgram
from bench.processes import measuring_cpu
from bench.program_cases import BATCH, CASES, MATRIX_PRODUCT, MEANS_TRAINING, ROWS, ProgramCase
from bench.program_worker import ProgramWorker
from bench.results import BenchResult, Progress, Target, beside_plain, paired, summary
from ciphermark_contract.operations import fresh
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import TracingEvaluator
from ciphermark_core.model import Parameters

VARIANTS = ("seal", "seal-hexl")
_TURNS = 12
_SAMPLE_S = 0.15
_SHARE = Target(least=85.0)
_NODES = 10_000


def section(progress: Progress) -> Iterator[BenchResult]:
    """Yield all results, and the ratio over all cases at the end."""
    os.environ.update(ALLOCATOR)
    ratios = []
    for variant in VARIANTS:
        for case in CASES:
            progress(f"{case.name}, {variant}: keys for two processes")
            ratios.append(_against_hand(case, variant))
            yield ratios[-1]
    yield from summary(ratios)
    for case in (MATRIX_PRODUCT, MEANS_TRAINING, BATCH):
        progress(f"{case.name}, {VARIANTS[-1]}, two threads")
        yield _second_thread(case, VARIANTS[-1])
    yield from _tracing(progress)


def _against_hand(case: ProgramCase, variant: str) -> BenchResult:
    cpus, parameters = {measuring_cpu()}, case.parameters(variant)
    command = native_build.of_seal("hand_written", variant, parameters, case.name, case.block, ROWS)
    times: tuple[list[float], list[float]] = [], []
    with closing(ProgramWorker(case, variant, cpus)) as ours, closing(PlainProgram(command, cpus)) as theirs:
        loops = max(1, round(_SAMPLE_S / theirs.asked_s(1)))
        ours.elapsed_s(1, loops)
        for turn in range(_TURNS):
            for is_ours in (True, False) if turn % 2 else (False, True):
                elapsed_s = ours.elapsed_s(1, loops) if is_ours else theirs.asked_s(loops)
                times[not is_ours].append(elapsed_s / loops)
    result = beside_plain(f"{variant} {case.name} / by hand", *times)
    result.facts.update(ours_s=times[0], by_hand_s=times[1])
    return result


def _second_thread(case: ProgramCase, variant: str) -> BenchResult:
    """The share of the speedup that work and span allow."""
    with closing(ProgramWorker(case, variant, os.sched_getaffinity(0))) as worker:
        work_s, span_s = worker.work_and_span()
        loops = max(1, round(_SAMPLE_S / worker.elapsed_s(1, 1)))
        times = [[worker.elapsed_s(threads, loops) for threads in (1, 2)] for _ in range(_TURNS)]
    gain, most = paired(*zip(*times, strict=True)).median, min(2.0, work_s / span_s)
    note = f"{gain:.2f} times as fast; work / span {work_s / span_s:.2f}"
    facts = {"work_s": work_s, "span_s": span_s, "gain": gain}
    return BenchResult(f"{variant} {case.name}, two threads", 100 * gain / most, "%", _SHARE, note, facts)


def _tracing(progress: Progress) -> Iterator[BenchResult]:
    progress(f"tracing and storing {_NODES:,} nodes")
    parameters = MATRIX_PRODUCT.parameters("seal")
    start = perf_counter()
    program = _long_program(parameters)
    yield BenchResult(f"tracing {_NODES:,} nodes", perf_counter() - start, "s", Target(most=1.0))
    start = perf_counter()
    data = program.to_bytes()
    again = Program.from_bytes(data)
    elapsed_s = perf_counter() - start
    assert again == program
    note = f"{len(data) / 1024:,.0f} KiB"
    yield BenchResult("writing and reading that program", elapsed_s, "s", Target(most=0.2), note)


def _long_program(parameters: Parameters) -> Program:
    evaluator = TracingEvaluator(parameters, [fresh(parameters)] * 2, ("add", "rotate"))
    a, b = evaluator.inputs
    for _ in range(_NODES // 2):
        a, b = b, evaluator.apply("rotate", evaluator.apply("add", a, b), 1)
    return evaluator.traced([b]).program
