"""Section ``baseline``: the platform's times against the same operations in a plain loop of C++ or, for Lattigo, of Go.

Three processes share a CPU, interleaved sample by sample: a worker of the platform, and the plain loop twice. The
platform is compared with the mean of both plain loops. Their own ratio shows the difference between two processes of
one binary, independent of the platform: the kernel gives them different pages.
"""

from __future__ import annotations

import math
import os
import random
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from unittest.mock import patch

from bench import native_build
from bench.plain_loops import RING_DIMENSIONS, SETS, PlainBound, specification
from bench.processes import Program, installed, measuring_cpu, needs_of
from bench.results import ALIKE, BenchResult, Progress, Target, beside_plain, interval, paired, summary
from ciphermark_adapters import registry
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.trial_runner import InWorker, TrialRunner
from ciphermark_contract.interfaces import Bound
from ciphermark_contract.operations import keys_of, read, top_level
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import LEVEL, Value
from ciphermark_core.model import Case, Outcome, ParameterSpec, Scheme, Trial
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments import latency
from ciphermark_measure.sampling import Phase, make_ready, target

VARIANTS = ("seal", "seal-hexl", "lattigo")
SCHEMES: tuple[Scheme, ...] = ("bfv", "ckks")
OPERATIONS = ("add", "add_plain", "mul_plain", "mul", "relinearize", "rotate(1)")
_MIN_S = 10e-6  # shorter operations have no target
_SEED = 1
_LOW_RING, _LOW_LEVEL = 16384, 2
# glibc adapts the size from which a block gets separate pages to the blocks that a process freed. That changes the
# relative alignment of operands: up to 8% of an addition's time, in either direction. A fixed threshold, glibc's
# default, gives all three processes the same alignment.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(128 * 1024)}


class NotOk(Exception):
    """The platform has no times of an operation; the text states the reason."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{outcome.status}: {outcome.error}")


@dataclass(frozen=True, slots=True)
class Place:
    """One point of the matrix."""

    variant: str
    spec: ParameterSpec
    level: int | None = None

    @property
    def name(self) -> str:
        """Variant, scheme, ring dimension and level."""
        at = "" if self.level is None else f" level {self.level}"
        return f"{self.variant} {self.spec.scheme} {self.spec.ring_dimension}{at}"

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that exist here."""
        return (*OPERATIONS, "rescale") if self.spec.scheme == "ckks" else OPERATIONS

    @property
    def budget(self) -> Budget:
        """The measurement budget, with fewer samples for operations of tens of milliseconds."""
        samples = {16384: 12, 32768: 7}.get(self.spec.ring_dimension, 20)
        return Budget(min_samples=samples, min_time_s=0.015 * samples)

    def trial(self, operation: str) -> Trial:
        """The trial that the platform executes."""
        kind = next(row.name for row in latency.KINDS if read(operation).name in row.operations)
        dimensions: dict[str, Value] = {} if self.level is None else {LEVEL.name: self.level}
        case = Case(
            self.variant, kind, operation, self.spec, self.spec.slots, "random", dimensions=dimensions
        )
        return Trial(str(uuid.uuid4()), str(uuid.uuid4()), case, 0, _SEED, self.budget)


def places(variants: Sequence[str]) -> Iterator[Place]:
    """The matrix: fresh operands at every ring dimension, and a low level."""
    for scheme, ring_dimension, variant in product(SCHEMES, RING_DIMENSIONS, variants):
        yield Place(variant, specification(scheme, ring_dimension))
    for scheme, variant in product(SCHEMES, variants):
        yield Place(variant, specification(scheme, _LOW_RING), _LOW_LEVEL)


def section(progress: Progress) -> Iterator[BenchResult]:
    """Measure the whole matrix."""
    ratios, failures = [], 0
    for place in places(list(installed(VARIANTS, progress))):
        progress(f"{place.name}: keys for three processes")
        with _processes(place) as (seat, loops):
            for operation in place.operations:
                try:
                    ours_s, plain_s, again_s = sampled(seat, place.trial(operation), loops)
                except NotOk as error:
                    progress(f"{place.name} {operation} is {error}")
                    failures += 1
                else:
                    ratios.append(_result(f"{place.name} {operation}", ours_s, plain_s, again_s))
                    yield ratios[-1]
    yield BenchResult("operations without times", failures, target=Target(most=0))
    yield from summary(ratios)
    plain = [item.facts["plain_ratio"] for item in ratios if item.target is not None]
    outside = sum(not ALIKE.is_met(ratio) for ratio in plain)
    note = f"they span {min(plain):.3f}–{max(plain):.3f}: what two processes of one binary differ by here"
    yield BenchResult(f"plain/plain outside 0.97–1.03, of {len(plain)}", outside, note=note)


def _result(
    name: str, ours_s: Sequence[float], plain_s: Sequence[float], again_s: Sequence[float]
) -> BenchResult:
    """The ratio platform / plain loop of one operation, with the ratio of the two plain loops."""
    both_s = [math.sqrt(x * y) for x, y in zip(plain_s, again_s, strict=True)]
    same = paired(again_s, plain_s)
    result = beside_plain(name, ours_s, both_s, _MIN_S, f"  plain/plain {same.median:.3f} {interval(same)}")
    result.facts["plain_ratio"] = same.median
    return result


@contextmanager
def _processes(place: Place) -> Iterator[tuple[TrialRunner, list[Program]]]:
    """The platform's trial runner and two plain loops with the same parameters on the same CPU."""
    parameters = registry.load(place.variant).resolve(place.spec)
    dropped = 0 if place.level is None else top_level(parameters) - place.level
    command = native_build.plain_loop(place.variant, parameters, SETS, dropped)
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, ALLOCATOR))
        loops = [stack.enter_context(closing(Program(command, {measuring_cpu()}))) for _ in range(2)]
        keys = keys_of(place.operations)
        seat = InWorker(needs_of(place.variant, place.spec, keys, place.budget), ReferenceKernelBaseline())
        stack.callback(seat.leave)
        yield seat, loops


def sampled(seat: TrialRunner, trial: Trial, loops: Sequence[Program]) -> Iterator[list[float]]:
    """Seconds of the platform and of each plain loop, one entry per turn.

    All take turns in shuffled order until the platform has enough samples. A turn of the platform encrypts before
    it samples the operation, so the plain loops do, too: after a switch of processes, memory is cold.
    """
    operation = trial.case.operation
    if not seat.open(trial):
        raise NotOk(seat.close())
    clock = MonotonicClock()
    resolution = resolution_ns(clock)
    client, goal = target(trial.budget, resolution, is_client=True), target(trial.budget, resolution)
    turns = [
        (
            Phase("encrypt", _bounds(loop, "encrypt"), client, clock),
            Phase("evaluate", _bounds(loop, operation), goal, clock),
        )
        for loop in loops
    ]
    for phase in chain(*turns):
        make_ready(phase, 0, trial.budget.warmups)
    order: list[tuple[Phase, ...]] = [(), *turns]  # the empty tuple represents the platform
    shuffle = random.Random(_SEED).shuffle
    is_done = False
    while not is_done:
        shuffle(order)
        for phases in order:
            for phase in phases:
                phase.take()
            is_done = is_done or (not phases and seat.turn())
    outcome = seat.close()
    if outcome.status != "ok":
        raise NotOk(outcome)
    ours = (sample for sample in outcome.samples if sample.phase == "evaluate" and sample.metric == "time")
    every = (ours, *(turn[1].times for turn in turns))
    return ([sample.value for sample in samples if not sample.is_warmup] for samples in every)


def _bounds(loop: Program, operation: str) -> list[Bound]:
    return [PlainBound(partial(loop.asked, operation, index)) for index in range(SETS)]
