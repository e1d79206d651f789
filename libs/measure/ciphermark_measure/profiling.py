"""The probes that a suite asks for, around repetitions of a trial's loops that yield no times.

Each repetition with a probe has one without it, for the probe's overhead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import process_time_ns

from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Sample
from ciphermark_measure import probes
from ciphermark_measure.probes import Meter
from ciphermark_measure.probes.stacks import marked
from ciphermark_measure.sampling import Phase

# Long programs have fewer repetitions.
_LONGEST_S = 20.0


@dataclass(slots=True)
class Profile:
    """The values of probes; for each requested probe that has none, or not all, the reason; and stacks by stage."""

    samples: list[Sample] = field(default_factory=list)
    unmeasured: dict[str, str] = field(default_factory=dict)
    stacks: dict[str, str] = field(default_factory=dict)

    def with_(self, other: Profile) -> Profile:
        """Both together."""
        return Profile(
            [*self.samples, *other.samples], self.unmeasured | other.unmeasured, self.stacks | other.stacks
        )


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
        lasted_ns = max(1, phase.bounds[0].run(phase.loops))
        loops = max(phase.loops, -(-phase.loops * round(meter.region_s * 1e9) // lasted_ns))
        limit = round(_LONGEST_S * 1e9 * phase.loops / (2 * loops * lasted_ns))
        plain_ns, probed_ns = [], []
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
                profile.samples.append(Sample(metric, share, phase.name, ordinal=ordinal, loops=loops))
            ordinal += 1
        overhead = min(probed_ns) / max(1, min(plain_ns)) - 1
        profile.samples.append(
            Sample(probes.OVERHEADS[name].name, overhead, phase.name, ordinal=number, loops=loops)
        )
        if meter.stacks:
            profile.stacks[phase.name] = meter.stacks


def _cost_ns(run: Callable[[int], int], loops: int, meter: Meter) -> int:
    """CPU time, which other processes on a busy host change least; wall time where a probe stops this process."""
    start_ns = process_time_ns()
    lasted_ns = run(loops)
    return lasted_ns if meter.stops_process else process_time_ns() - start_ns
