"""The number of concurrent processes that a host holds. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_core.run import Host

# All variants of a comparison group are interleaved, so their processes exist at the same time.
PER_CORE = 24  # all but one wait, but each has to start and to make its keys
MEMORY_WORKERS_PER_CORE = 4  # one measures memory, the others wait for the next parameter set
MB_EACH = 128  # for an interpreter with a library and the keys of a small ring; budget.memory_mb bounds what it takes


@dataclass(frozen=True, slots=True)
class Capacity:
    """The resources of a host for processes."""

    cores: int
    memory_mb: int

    @property
    def most(self) -> int:
        """The maximum number of concurrent processes."""
        return min(PER_CORE * self.cores, self.memory_mb // MB_EACH)

    def needed(self, variants: int, has_workloads: bool) -> int:
        """The number of concurrent processes of so many variants: one worker each and the memory workers, of which some
        wait; or two parties each.
        """
        of_memory = min(MEMORY_WORKERS_PER_CORE * self.cores, variants)
        return 2 * variants if has_workloads else variants + of_memory

    def reason_against(self, variants: int, has_workloads: bool) -> str | None:
        """The reason why so many variants cannot be compared here; ``None`` if they can."""
        needed = self.needed(variants, has_workloads)
        if needed <= self.most:
            return None
        return (
            f"{variants} variants side by side need {needed} processes, and a host with {self.cores} "
            f"{'core' if self.cores == 1 else 'cores'} and {self.memory_mb} MB of memory holds {self.most}: "
            "compare fewer of them at a time"
        )


def capacity_of(facts: Host) -> Capacity:
    """The resources of a host for processes, from its facts."""
    return Capacity(facts.cores, facts.memory_bytes >> 20)
