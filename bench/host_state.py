"""Section ``host_state``: checks of the correction for host interference.

It leaves results of an undisturbed host unchanged, removes planted interference, and costs little.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from statistics import median
from time import sleep

import numpy as np

from bench.plain_loops import PlainBound
from bench.processes import measuring_cpu
from bench.results import BenchResult, Progress, Target
from ciphermark_analysis.correction import corrected_value
from ciphermark_analysis.estimates import estimate, verdict
from ciphermark_analysis.stopping import Rule
from ciphermark_contract.interfaces import Bound
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core.model import ParameterSpec, Sample
from ciphermark_measure.clock import MonotonicClock
from ciphermark_measure.interference.host_state import TOLERANCE, Gate
from ciphermark_measure.interference.reference_kernel import ReferenceKernel
from ciphermark_measure.sampling import Phase
from ciphermark_measure.sampling import Target as Aim
from ciphermark_measure.session import prepare

SPEC = ParameterSpec("ckks", 8192, (60, 40, 40, 60), scale_bits=40)
TRIALS = 40
_FOUND = 0.95
_CALM = 60  # minimum number of samples that determine the reference-kernel baseline
_SAMPLE_NS = 8_000_000
_LONGEST_NS = 20 * 10**9
_CLOCK = MonotonicClock()
# Works and sleeps for equal times, about the minimum duration of a noisy host's states.
_BURSTS = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
memory = bytearray(1 << 24)
while True:
    until = time.monotonic() + 0.4
    while time.monotonic() < until:
        memory[:] = memory[::-1]
        sum(range(20_000))
    time.sleep(0.4)
"""


def section(progress: Progress) -> Iterator[BenchResult]:
    """Run all checks on the measuring CPU, in this process."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {measuring_cpu()})
    try:
        session = prepare("seal", SPEC, NO_KEYS)
        row = session.to_evaluator([np.linspace(-1, 1, SPEC.slots), np.linspace(1, -1, SPEC.slots)])
        bounds = {name: session.evaluator.bind(name, [tuple(row)]) for name in ("mul", "add")}
        gate = Gate(ReferenceKernel(), _CLOCK)
        progress("the undisturbed state")
        undisturbed_s = yield from _undisturbed(bounds["mul"], gate)
        others = allowed - {measuring_cpu()}
        for where, cpus in (("the other CPU", others), ("its own CPU", {measuring_cpu()})):
            if cpus:
                progress(f"bursts on {where}")
                yield _planted(bounds["mul"], gate, undisturbed_s, where, max(cpus))
        progress(f"{TRIALS} slowdowns of 7 %")
        yield _found(bounds["add"], gate)
    finally:
        os.sched_setaffinity(0, allowed)


def _undisturbed(bound: Bound, gate: Gate) -> Generator[BenchResult, None, float]:
    """Compare interleaved corrected and plain samples.

    Returns the median of the undisturbed samples, or of all without any.
    """
    corrected, plain = _taken(gate, _phase(bound, gate, _CALM), _phase(bound, Gate(), _CALM))
    facts = gate.facts()
    undisturbed = [sample for sample in corrected.samples if _is_undisturbed(sample)]
    share = f"{len(undisturbed) / len(corrected.samples):.0%} of samples undisturbed"
    ratio = median(corrected.counted_s) / median(plain.counted_s)
    # On a disturbed host they differ, which is the purpose of the correction.
    note = f"{share}, reference kernel {facts['reference_kernel_s'] * 1e6:.1f} µs"
    yield BenchResult("corrected / plain, nothing planted", ratio, "", Target(0.99, 1.01), note)
    cost = facts["reference_kernel_cost_s"] / (corrected.sampled_ns / 1e9)
    yield BenchResult("reference kernel, share of the time of samples", cost, "", Target(most=0.05))
    return median(map(corrected_value, undisturbed) if undisturbed else corrected.counted_s)


def _planted(bound: Bound, gate: Gate, undisturbed_s: float, where: str, cpu: int) -> BenchResult:
    with _bursts(cpu):
        (phase,) = _taken(gate, _phase(bound, gate, _CALM))
    plain = median(sample.value for sample in phase.samples) / undisturbed_s
    share = sum(map(_is_undisturbed, phase.samples)) / len(phase.samples)
    note = f"plain {plain:.3f}, {share:.0%} of {len(phase.samples)} samples undisturbed"
    ratio = median(phase.counted_s) / undisturbed_s
    return BenchResult(f"corrected / undisturbed, bursts on {where}", ratio, "", Target(0.98, 1.02), note)


def _found(bound: Bound, gate: Gate) -> BenchResult:
    verdicts = [_verdict(bound, gate) for _ in range(TRIALS)]
    share = verdicts.count("slower") / TRIALS
    note = ", ".join(f"{verdicts.count(name)} {name}" for name in sorted(set(verdicts)))
    return BenchResult("slowdowns of 7 % that are found", share, "", Target(least=_FOUND), note)


def _verdict(bound: Bound, gate: Gate) -> str:
    """The verdict from pairs of corrected samples on an operation that takes 7% longer."""
    slowed = PlainBound(lambda loops: bound.run(loops * 107 // 100))
    phases = _phase(bound, gate, 20), _phase(slowed, gate, 20)
    for phase in phases:
        phase.loops = 100
    plain, slow = _taken(gate, *phases)
    pairs = [
        corrected_value(a) / corrected_value(b)
        for a, b in zip(plain.samples, slow.samples, strict=True)
        if not a.is_disturbed and not b.is_disturbed
    ]
    return verdict(estimate(pairs)) if pairs else "no pair that counts"


def _phase(bound: Bound, gate: Gate, samples: int) -> Phase:
    phase = Phase("evaluate", [bound], Aim(_SAMPLE_NS, Rule(samples), _LONGEST_NS), _CLOCK, gate=gate)
    phase.calibrate()
    return phase


def _taken(gate: Gate, *phases: Phase) -> tuple[Phase, ...]:
    """The phases with all their samples, interleaved as one trial of the gate."""
    gate.begin_trial(None)
    while not all(phase.is_done for phase in phases):
        for phase in phases:
            phase.take()
    gate.settle()
    return phases


def _is_undisturbed(sample: Sample) -> bool:
    return not sample.is_disturbed and sample.slowdown <= TOLERANCE


@contextmanager
def _bursts(cpu: int) -> Iterator[None]:
    command = [sys.executable, "-c", _BURSTS, str(cpu)]
    process = subprocess.Popen(command)
    try:
        sleep(0.5)
        yield
    finally:
        process.kill()
        process.wait()
