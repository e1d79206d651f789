"""What one request to a party cost: wall time and CPU time, step by step and in all, and the party's peak memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter, process_time

from ciphermark_core.model import Sample
from ciphermark_measure import memory
from ciphermark_measure.parties.messages import Role, Stage, Step


class Watch:
    """Times what is done in ``step``; CPU time counts all threads of the process. A step may come in several pieces."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._spent_s: dict[Step, tuple[float, float]] = {}

    @contextmanager
    def step(self, name: Step) -> Iterator[None]:
        """Time what is done inside."""
        cpu_s, wall_s = process_time(), perf_counter()
        yield
        wall_s, cpu_s = perf_counter() - wall_s, process_time() - cpu_s
        before = self._spent_s.get(name, (0.0, 0.0))
        self._spent_s[name] = (before[0] + wall_s, before[1] + cpu_s)

    def samples(self) -> tuple[Sample, ...]:
        """What was measured, in the order of the steps."""
        return tuple(
            replace(sample, step=name)
            for name, spent_s in self._spent_s.items()
            for sample in self._times(*spent_s)
        )

    def _times(self, wall_s: float, cpu_s: float) -> tuple[Sample, Sample]:
        return Sample("time", wall_s, self._stage), Sample("cpu_time", cpu_s, self._stage)


class Steps(Watch):
    """The steps of one request: begins when it is made. Tells their sum and the peak memory, too, as the party's."""

    def __init__(self, stage: Stage, role: Role) -> None:
        super().__init__(stage)
        self._role = role
        self._is_peak_known = memory.reset_peak()

    def samples(self) -> tuple[Sample, ...]:
        """Step by step, then the party's own; no peak where the kernel tells none."""
        peak = memory.peak_bytes() if self._is_peak_known else None
        wall_s, cpu_s = (sum(spent) for spent in zip(*self._spent_s.values(), strict=True))
        peaks = () if peak is None else (Sample("peak_memory", float(peak), self._stage),)
        own = (*self._times(wall_s, cpu_s), *peaks)
        return (*super().samples(), *(replace(sample, party=self._role) for sample in own))
