"""The probes that a suite asks for, around repetitions of a trial's loops that yield no times.

Each repetition with a probe has one without it, for the probe's overhead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from time import process_time_ns

from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Sample
from ciphermark_measure import probes, protocol
from ciphermark_measure.probes import Meter
from ciphermark_measure.probes.stacks import marked
from ciphermark_measure.sampling import Phase

# Long programs have fewer repetitions.
_LONGEST_S = 20.0


def profiled(phases: Sequence[Phase], names: Iterable[str]) -> protocol.Profiled:
    """Repeat the loops of these phases with each probe."""
    samples: list[Sample] = []
    stacks: dict[str, str] = {}
    names = tuple(names)
    if not phases:
        return protocol.Profiled(unmeasured=dict.fromkeys(names, "this experiment times no loop to repeat"))
    unmeasured = probes.reasons_against(names)
    for phase, name in product(phases, names):
        ordinal = 0
        for number, meter in enumerate(Meter.repeated(name)):
            try:
                taken, overhead = _repeated(phase, meter)
            except OSError as error:  # the kernel refuses one group of counters, or what it allowed before
                unmeasured[name] = error.strerror or str(error)
                continue
            samples += [replace(sample, ordinal=sample.ordinal + ordinal) for sample in taken]
            samples.append(replace(overhead, metric=probes.OVERHEADS[name].name, ordinal=number))
            ordinal += 1 + max(sample.ordinal for sample in taken)
            if meter.stacks:
                stacks[phase.name] = meter.stacks
    return protocol.Profiled(tuple(samples), unmeasured, stacks)


def together(parts: Sequence[protocol.Profiled]) -> protocol.Profiled:
    """Several profiles as one."""
    return protocol.Profiled(
        tuple(sample for part in parts for sample in part.samples),
        {name: reason for part in parts for name, reason in part.unmeasured.items()},
        {name: text for part in parts for name, text in part.stacks.items()},
    )


def _repeated(phase: Phase, meter: Meter) -> tuple[list[Sample], Sample]:
    """The values of a meter in each repetition, and its overhead."""
    lasted_ns = max(1, phase.bounds[0].run(phase.loops))
    loops = max(phase.loops, -(-phase.loops * round(meter.region_s * 1e9) // lasted_ns))
    limit = round(_LONGEST_S * 1e9 * phase.loops / (2 * loops * lasted_ns))
    samples, plain_ns, probed_ns = [], [], []
    for turn in range(max(1, min(meter.repetitions, limit))):
        run = marked(phase.name, phase.bounds[turn % len(phase.bounds)].run)
        if turn % 2:
            plain_ns.append(_cost_ns(run, loops, meter))
        meter.start()
        probed_ns.append(_cost_ns(run, loops, meter))
        values = meter.stop()
        if not turn % 2:
            plain_ns.append(_cost_ns(run, loops, meter))
        for metric, value in values.items():
            share = value / loops * phase.scale if METRICS[metric].adds_up else value
            samples.append(Sample(metric, share, phase.name, ordinal=turn, loops=loops))
    overhead = min(probed_ns) / max(1, min(plain_ns)) - 1
    return samples, Sample("", overhead, phase.name, loops=loops)


def _cost_ns(run: Callable[[int], int], loops: int, meter: Meter) -> int:
    """CPU time, which other processes on a busy host change least; wall time where a probe stops this process."""
    start_ns = process_time_ns()
    lasted_ns = run(loops)
    return lasted_ns if meter.stops_process else process_time_ns() - start_ns
