"""What a job needs of a host, and what a host offers. Pure, but for looking at this host."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import msgspec

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import plan
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import Capacity
from ciphermark_core.run import Host


@dataclass(frozen=True, slots=True)
class Needs:
    """What a host must have to take a job: variants that can be used, CPU flags, memory.

    Variants that were chosen for the job (``are_chosen``) are waited for. Those that its suite names are, where some
    host has them; else they are `unsupported`, as they are on the command line.
    """

    variants: tuple[str, ...] = ()
    isa: tuple[str, ...] = ()
    memory_mb: int = 0
    are_chosen: bool = False

    @property
    def queue(self) -> str:
        """Name of the queue of all jobs with these needs; the queue limits it to 128 characters."""
        return "needs-" + hashlib.sha256(msgspec.json.encode(asdict(self))).hexdigest()[:32]

    def among(self, offers: Iterable[Offer]) -> Needs:
        """What is needed of a host where there are these: variants that nobody has only where they were chosen."""
        had = {name for offer in offers for name in offer.variants}
        return (
            self if self.are_chosen else replace(self, variants=tuple(v for v in self.variants if v in had))
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """What a host has."""

    hostname: str
    fingerprint: str
    cpu_model: str
    variants: tuple[str, ...]
    isa: tuple[str, ...]
    memory_mb: int
    cores: int | None = None  # of a worker that tells none
    waits_for: str | None = None  # before its worker takes jobs

    def lacks(self, needs: Needs) -> list[str]:
        """What of the needs the host does not meet, each in a few words; empty where it meets all."""
        lacking = [f"variant {name}" for name in needs.variants if name not in self.variants]
        lacking += [f"CPU flag {name}" for name in needs.isa if name not in self.isa]
        if needs.memory_mb > self.memory_mb:
            lacking.append(f"{needs.memory_mb} MB of memory")
        return lacking


def needs_of(suite: Suite, chosen: Sequence[str] = (), isa: Sequence[str] = (), memory_mb: int = 0) -> Needs:
    """The needs of a suite, less the variants that were not chosen (none chosen: all are).

    Memory is needed where the suite itself sets ``budget.memory_mb``; its default is a limit, not a need.
    """
    variants = {registry.base_variant(name) for name in suite.variants if not chosen or name in chosen}
    stated_mb = suite.budget.memory_mb if "memory_mb" in suite.budget.model_fields_set else 0
    return Needs(tuple(sorted(variants)), tuple(sorted(set(isa))), max(memory_mb, stated_mb), bool(chosen))


def offer_of(facts: Host) -> Offer:
    """What this host has: the variants whose libraries are installed, the flags and the memory."""
    flags = frozenset(facts.cpu_flags)
    usable = [name for name in registry.declarations() if registry.availability(name, flags).is_installed]
    return Offer(
        hostname=facts.hostname,
        fingerprint=facts.fingerprint,
        cpu_model=facts.cpu_model,
        variants=tuple(sorted(usable)),
        isa=facts.cpu_flags,
        memory_mb=facts.memory_bytes >> 20,
        cores=facts.cores,
    )


def reason_against(suite: Suite, chosen: Sequence[str], offers: Sequence[Offer]) -> str | None:
    """Why none of these hosts can have the processes side by side that a suite, less the variants that were not chosen,
    needs; ``None`` where one can, or may.
    """

    def reason_of(offer: Offer) -> str | None:
        if offer.cores is None:
            return None
        capacity = Capacity(offer.cores, offer.memory_mb)
        return plan.reason_against_suite(suite, _available(suite, offer), chosen, capacity)

    reasons = [reason_of(offer) for offer in offers]
    return reasons[0] if reasons and all(reasons) else None


def _available(suite: Suite, offer: Offer) -> dict[str, Availability]:
    """The suite's variants as a host has them."""
    return {
        name: Availability(
            registry.declaration(name),
            None if registry.base_variant(name) in offer.variants else "the host does not offer it",
        )
        for name in suite.variants
    }
