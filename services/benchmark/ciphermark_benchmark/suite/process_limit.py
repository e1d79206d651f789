"""How many processes a host holds side by side, and what of a suite needs more. Pure.

All variants of a comparison take turns, so their processes are there together: they cannot be started one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import plan, workload_cases
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.model import ParameterSpec
from ciphermark_core.run import Host

PER_CORE = 24  # all but one of them wait; but each has to be started, and to make its keys
MEMORY_WORKERS_PER_CORE = 4  # one measures memory, the others wait for the next parameter set
MB_EACH = 128  # for an interpreter with a library and the keys of a small ring; budget.memory_mb bounds what it takes


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a host has for processes."""

    cores: int
    memory_mb: int

    @property
    def most(self) -> int:
        """The most processes that are started side by side."""
        return min(PER_CORE * self.cores, self.memory_mb // MB_EACH)

    def needed(self, variants: int, has_workloads: bool) -> int:
        """Processes of so many variants side by side: a worker each, and those that measure memory, of which some wait;
        or two parties each.
        """
        of_memory = min(MEMORY_WORKERS_PER_CORE * self.cores, variants)
        return 2 * variants if has_workloads else variants + of_memory

    def reason_against(self, variants: int, has_workloads: bool) -> str | None:
        """Why so many variants cannot be compared here; ``None`` where they can."""
        needed = self.needed(variants, has_workloads)
        if needed <= self.most:
            return None
        return (
            f"{variants} variants side by side need {needed} processes, and a host with {self.cores} "
            f"{'core' if self.cores == 1 else 'cores'} and {self.memory_mb} MB of memory holds {self.most}: "
            "compare fewer of them at a time"
        )


def of_host(facts: Host) -> Capacity:
    """What a host has for processes."""
    return Capacity(facts.cores, facts.memory_bytes >> 20)


def reason_against(cases: Iterable[PlannedCase], capacity: Capacity) -> str | None:
    """Why a suite cannot be executed; ``None`` where it can, as far as its cases are known. What has parameters and
    threads in common shares workers, whichever experiments it is of.
    """
    places: dict[tuple[ParameterSpec, int, bool], set[str]] = {}
    for item in cases:
        if item.reason is None:
            has_workloads = item.case.experiment in workload_cases.KINDS
            place = (item.case.parameters, item.case.threads, has_workloads)
            places.setdefault(place, set()).add(item.case.variant)
    found = (
        capacity.reason_against(len(variants), has_workloads)
        for (_, _, has_workloads), variants in places.items()
    )
    return next((reason for reason in found if reason is not None), None)


def reason_against_suite(
    suite: Suite, available: Mapping[str, Availability], chosen: Collection[str], capacity: Capacity
) -> str | None:
    """The one rule of the command line and of REST: the same for a suite, less the variants that were not chosen (none
    chosen: all are), where these can be used. No workload is traced for it.
    """
    cases = plan.untraced(suite, available)
    return reason_against((item for item in cases if not chosen or item.case.variant in chosen), capacity)
