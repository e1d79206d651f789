"""Section ``baseline``: the platform's times against the same operations in a plain C++ loop.

Three processes share a CPU and take turns, sample by sample: a worker of the platform and the plain loop twice. The
platform is held against the mean of both plain loops; their own ratio shows how far two processes of one binary
differ here, whatever measures them: the kernel gives each other pages.
"""

from __future__ import annotations

import math
import os
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, product
from statistics import median

from bench.figures import Figure, Progress, Target
from bench.native_build import plain_loop
from bench.places import measuring_cpu
from bench.processes import Program
from ciphermark_adapters import registry
from ciphermark_analysis.estimates import Estimate, estimate
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.quiet_level import QuietLevel
from ciphermark_benchmark.runner.trial_runner import InWorker, TrialRunner
from ciphermark_contract.interfaces import Bound, Handle
from ciphermark_contract.operations import keys_of, read
from ciphermark_core import primes
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, Outcome, Parameters, ParameterSpec, Scheme, Trial
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments import latency
from ciphermark_measure.processes import Confinement
from ciphermark_measure.sampling import Phase, make_ready, target

VARIANTS = ("seal", "seal-hexl")
SCHEMES: tuple[Scheme, ...] = ("bfv", "ckks")
RING_DIMENSIONS = (4096, 8192, 16384, 32768)
OPERATIONS = ("add", "add_plain", "mul_plain", "mul", "relinearize", "rotate(1)")
_LEAST_S = 10e-6  # shorter operations have no target
_TARGET = Target(0.97, 1.03)
_SEED = 1
_SETS = 3  # operand sets, as many as a trial has
# glibc adapts from which size on a block gets pages of its own to what a process freed before, and with that how
# operands are aligned to each other: up to 8 % of an addition's time, in either direction. A fixed threshold, its
# default, gives all three processes the same alignment.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(128 * 1024)}


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds per operation of one operation, one entry per turn."""

    operation: str
    platform: Sequence[float]
    plain: Sequence[float]
    plain_again: Sequence[float]


class NotOk(Exception):
    """The platform has no times of an operation; the text says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """One point of the matrix."""

    variant: str
    spec: ParameterSpec

    @property
    def name(self) -> str:
        """Variant, scheme and ring dimension."""
        return f"{self.variant} {self.spec.scheme} {self.spec.ring_dimension}"

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that exist here."""
        return (*OPERATIONS, "rescale") if self.spec.scheme == "ckks" else OPERATIONS


def paired(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Median of the ratios a/b of samples that were taken in the same turn, with its interval."""
    return estimate([x / y for x, y in zip(a, b, strict=False)])


def specification(scheme: Scheme, ring_dimension: int) -> ParameterSpec:
    """The library's default chain for bfv with t of 20 bits, Ciphermark's own for ckks."""
    if scheme == "bfv":
        plain_modulus = primes.batching_modulus(20, ring_dimension)
        return ParameterSpec(scheme, ring_dimension, plain_modulus=plain_modulus)
    scale_bits = 30 if ring_dimension == min(RING_DIMENSIONS) else 40
    bits = primes.default_ckks_chain(ring_dimension, scale_bits)
    return ParameterSpec(scheme, ring_dimension, modulus_bits=bits, scale_bits=scale_bits)


def budget(ring_dimension: int) -> Budget:
    """Fewer samples where an operation takes tens of milliseconds: the whole matrix has some minutes."""
    samples = {16384: 12, 32768: 7}.get(ring_dimension, 20)
    return Budget(samples=samples, min_time_s=0.015 * samples)


def figure(place: Place, times: Times) -> Figure:
    """The ratio platform / plain loop of one operation, with the ratio of the two plain loops beside it."""
    both = [math.sqrt(x * y) for x, y in zip(times.plain, times.plain_again, strict=True)]
    ratio, same = paired(times.platform, both), paired(times.plain_again, times.plain)
    plain_s = median(both)
    return Figure(
        section="baseline",
        name=f"{place.name} {times.operation}",
        value=ratio.median,
        target=_TARGET if plain_s >= _LEAST_S else None,
        note=f"{_interval(ratio)}   plain/plain {same.median:.3f} {_interval(same)}   {plain_s * 1e6:,.1f} µs",
        facts={"low": ratio.low, "high": ratio.high, "plain_ratio": same.median, "plain_s": plain_s},
    )


def summary(found: Sequence[Figure], failures: int) -> list[Figure]:
    """How many ratios are outside the target, of the platform and of the plain loop against itself."""
    judged = [item for item in found if item.target is not None]
    plain = [item.facts["plain_ratio"] for item in judged]
    outside = [item for item in judged if not item.is_met]
    certain = [item for item in outside if not _reaches(item.facts["low"], item.facts["high"])]
    return [
        Figure("baseline", "operations without times", failures, target=Target(most=0)),
        Figure(
            "baseline", "geometric mean of all ratios", geometric_mean([i.value for i in judged]), "", _TARGET
        ),
        Figure(
            "baseline",
            f"ratios outside 0.97–1.03, of {len(judged)}",
            len(outside),
            target=Target(most=0),
            note=f"{len(certain)} of them for certain: with the whole interval",
        ),
        Figure(
            "baseline",
            f"plain/plain outside 0.97–1.03, of {len(judged)}",
            sum(not _TARGET.is_met(ratio) for ratio in plain),
            note=f"they span {min(plain):.3f}–{max(plain):.3f}: what two processes of one binary differ by here",
        ),
    ]


def _reaches(low: float | None, high: float | None) -> bool:
    """Whether an interval and the target have something in common."""
    assert _TARGET.least is not None
    assert _TARGET.most is not None
    return low is None or high is None or (low <= _TARGET.most and high >= _TARGET.least)


def geometric_mean(values: Sequence[float]) -> float:
    """Of at least one positive value."""
    return math.exp(sum(map(math.log, values)) / len(values))


def section(progress: Progress) -> Iterator[Figure]:
    """Measure the whole matrix."""
    found = []
    failures = 0
    for variant in VARIANTS:
        progress(f"building the plain loop against {variant}")
        plain_loop(variant)
    for scheme, ring_dimension, variant in product(SCHEMES, RING_DIMENSIONS, VARIANTS):
        place = Place(variant, specification(scheme, ring_dimension))
        progress(f"{place.name}: keys for three processes")
        with _processes(place) as (seat, loops):
            for operation in place.operations:
                try:
                    times = _sampled(seat, _trial(place, operation), loops)
                except NotOk as error:
                    progress(f"{place.name} {operation} is {error}")
                    failures += 1
                else:
                    found.append(figure(place, times))
                    yield found[-1]
    yield from summary(found, failures)


@contextmanager
def _processes(place: Place) -> Iterator[tuple[TrialRunner, list[Program]]]:
    """A seat of the platform and two plain loops with the same parameters on the same CPU."""
    cpu = measuring_cpu()
    parameters = registry.load(place.variant).resolve(place.spec)
    allowed = budget(place.spec.ring_dimension)
    needs = WorkerNeeds(
        variant=place.variant,
        parameters=place.spec,
        keys=keys_of(place.operations),
        confinement=Confinement((cpu,), 1, allowed.memory_mb),
        timeout_s=allowed.timeout_s,
    )
    with ExitStack() as stack:
        stack.enter_context(_environment(ALLOCATOR))
        loops = []
        for _ in range(2):
            loops.append(Program([plain_loop(place.variant), *_arguments(parameters)], {cpu}))
            stack.callback(loops[-1].end)
        seat = InWorker(needs, QuietLevel())
        stack.callback(seat.leave)
        yield seat, loops


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Processes that are started meanwhile get these variables."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _trial(place: Place, operation: str) -> Trial:
    allowed = budget(place.spec.ring_dimension)
    experiment = next(row.name for row in latency.KINDS if read(operation).name in row.operations)
    case = Case(place.variant, experiment, operation, place.spec, place.spec.slots, "random")
    return Trial(str(uuid.uuid4()), str(uuid.uuid4()), case, 0, _SEED, allowed)


def _sampled(seat: TrialRunner, trial: Trial, loops: Sequence[Program]) -> Times:
    """Until the platform has enough, everybody takes a turn, in shuffled order.

    A turn of the platform encrypts before it samples the operation, so the plain loops do, too: a process that only
    just got the CPU back finds its memory cold.
    """
    operation = trial.case.operation
    if not seat.open(trial):
        raise not_ok(seat.close())
    clock = MonotonicClock()
    resolution = resolution_ns(clock)
    client, goal = target(trial.budget, resolution, is_client=True), target(trial.budget, resolution)
    turns = [
        (
            Phase("encrypt", _bounds(loop, "encrypt"), client, clock),
            Phase("operation", _bounds(loop, operation), goal, clock),
        )
        for loop in loops
    ]
    for phase in chain(*turns):
        make_ready(phase, 0, trial.budget.warmups)
    order: list[tuple[Phase, ...]] = [(), *turns]  # nothing stands for the platform
    shuffle = random.Random(_SEED).shuffle
    is_done = False
    while not is_done:
        shuffle(order)
        for phases in order:
            for phase in phases:
                phase.take()
            is_done = is_done or (not phases and seat.turn())
    plain, again = ([s.value for s in turn[1].times if not s.is_warmup] for turn in turns)
    outcome = seat.close()
    if outcome.status != "ok":
        raise not_ok(outcome)
    timed = [s for s in outcome.samples if s.phase == "operation" and s.metric == "time" and not s.is_warmup]
    return Times(operation, [s.value for s in timed], plain, again)


@dataclass(frozen=True, slots=True)
class _PlainBound(Bound):
    """An operation of the plain loop with one of its operand sets, as something that the platform's probe samples."""

    loop: Program
    operation: str
    operand_set: int

    def run(self, loops: int) -> int:
        return self.loop.asked(self.operation, self.operand_set, loops)

    def results(self) -> list[Handle]:
        return []  # they stay in the process


def _bounds(loop: Program, operation: str) -> list[Bound]:
    return [_PlainBound(loop, operation, index) for index in range(_SETS)]


def _arguments(parameters: Parameters) -> list[str]:
    spec = parameters.spec
    numbers = (spec.ring_dimension, parameters.plain_modulus or 0, spec.scale_bits or 0, _SETS)
    return [spec.scheme, *map(str, numbers), *map(str, parameters.moduli + parameters.special_moduli)]


def not_ok(outcome: Outcome) -> NotOk:
    """The exception for an outcome that has no times to compare."""
    return NotOk(f"{outcome.status}: {outcome.error}")


def _interval(ratio: Estimate) -> str:
    return f"[{ratio.low or math.nan:.3f}, {ratio.high or math.nan:.3f}]"
