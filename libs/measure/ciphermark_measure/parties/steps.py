"""The steps of one request to a party, each with its wall time and CPU time, and the party's peak memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

from ciphermark_core.words import Sample
from ciphermark_measure import memory
from ciphermark_measure.parties.messages import Role, Stage, Step


class Steps:
    """Begins when it is made; CPU time counts all threads of the process."""

    def __init__(self, stage: Stage, role: Role) -> None:
        self._stage = stage
        self._role = role
        self._spent_s: dict[Step, tuple[float, float]] = {}
        self._is_peak_known = memory.reset_peak()

    @contextmanager
    def step(self, name: Step) -> Iterator[None]:
        """Time what is done inside."""
        cpu_s, wall_s = process_time(), perf_counter()
        yield
        wall_s, cpu_s = perf_counter() - wall_s, process_time() - cpu_s
        self._spent_s[name] = (wall_s, cpu_s)

    def samples(self) -> tuple[Sample, ...]:
        """What was measured, in the order of the steps; no peak where the kernel tells none."""
        found = []
        for name, (wall_s, cpu_s) in self._spent_s.items():
            phase = f"{self._stage}.{name}"
            found += [Sample("time", "s", wall_s, phase), Sample("cpu_time", "s", cpu_s, phase)]
        peak = memory.peak_bytes() if self._is_peak_known else None
        if peak is not None:
            found.append(Sample("peak_memory", "bytes", float(peak), f"{self._stage}.{self._role}"))
        return tuple(found)
