"""How many processes a host holds side by side, and what of a suite needs more. Pure.

All variants of a comparison take turns, so their processes are there together: they cannot be started one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import Block
from ciphermark_benchmark.suite.workloads import WorkloadText
from ciphermark_core.run import Host

PER_CORE = 24  # all but one of them wait; but each has to be started, and to make its keys
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
        """Processes of so many variants side by side: a worker each, and while they start those that measure memory,
        one for each core; or two parties each.
        """
        return 2 * variants if has_workloads else variants + min(self.cores, variants)

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


def reason_against(blocks: Iterable[Block], capacity: Capacity) -> str | None:
    """Why a plan cannot be executed; ``None`` where it can."""
    found = (capacity.reason_against(_variants(block), block.has_workloads) for block in blocks)
    return next((reason for reason in found if reason is not None), None)


def reason_against_suite(suite: Suite, usable: frozenset[str], capacity: Capacity) -> str | None:
    """The same before there is a plan: what one experiment alone compares of the variants that can be used. A plan may
    still need more, where several experiments have their parameters in common.
    """
    found = (
        capacity.reason_against(len(usable.intersection(item.variants)), isinstance(item, WorkloadText))
        for item in suite.experiments
    )
    return next((reason for reason in found if reason is not None), None)


def _variants(block: Block) -> int:
    return len({trial.case.variant for comparison in block.comparisons for trial in comparison.trials})
