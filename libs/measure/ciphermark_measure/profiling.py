"""The probes that a suite asks for, around repetitions of a trial's loops that yield no times.

Each repetition with a probe has one without it, for the probe's overhead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Sample
from ciphermark_measure import probes
from ciphermark_measure.probes import Meter
from ciphermark_measure.probes.stacks import marked
from ciphermark_measure.sampling import Phase


@dataclass(slots=True)
class Profile:
    """The values of probes; for each requested probe that has none, or not all, the reason; and stacks by stage."""

    samples: list[Sample] = field(default_factory=list)
    unmeasured: dict[str, str] = field(default_factory=dict)
    stacks: dict[str, str] = field(default_factory=dict)


def profiled(phases: Sequence[Phase], names: Iterable[str]) -> Profile:
    """Repeat the loops of these phases with each probe."""
    names = tuple(names)
    profile = Profile(unmeasured=probes.reasons_against(names))
    for name in names:
        try:
            for phase in phases:
                _repeat(phase, name, profile)
        except OSError as error:  # the kernel refuses what it allowed before
            profile.unmeasured[name] = str(error)
    return profile


def _repeat(phase: Phase, name: str, profile: Profile) -> None:
    ordinal = 0
    for number, meter in enumerate(Meter.repeated(name)):
        loops = _loops(phase, meter.region_s)
        plain_ns, probed_ns = [], []
        for turn in range(meter.repetitions):
            run = marked(phase.name, phase.bounds[turn % len(phase.bounds)].run)
            if turn % 2:
                plain_ns.append(run(loops))
            meter.start()
            probed_ns.append(run(loops))
            values = meter.stop()
            if not turn % 2:
                plain_ns.append(run(loops))
            for metric, value in values.items():
                share = value / loops * phase.scale if METRICS[metric].adds_up else value
                profile.samples.append(Sample(metric, share, phase.name, ordinal=ordinal, loops=loops))
            ordinal += 1
        overhead = min(probed_ns) / min(plain_ns) - 1
        profile.samples.append(
            Sample(probes.OVERHEADS[name].name, overhead, phase.name, ordinal=number, loops=loops)
        )
        if meter.stacks:
            profile.stacks[phase.name] = meter.stacks


def _loops(phase: Phase, region_s: float) -> int:
    """The number of executions that take at least ``region_s``, and no fewer than those of a sample."""
    lasted_ns = max(1, phase.bounds[0].run(phase.loops))
    return max(phase.loops, -(-phase.loops * round(region_s * 1e9) // lasted_ns))
