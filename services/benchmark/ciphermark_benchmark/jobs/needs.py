"""The needs of jobs and the offers of hosts. Pure, except for the facts of this host."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import msgspec

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import plan
from ciphermark_benchmark.suite.capacity import Capacity
from ciphermark_benchmark.suite.form import Suite
from ciphermark_core.run import Host


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of a job on its host: usable variants, CPU flags, memory.

    The job waits for variants that were chosen for it (``are_chosen``), and for the suite's variants if any host has
    them. Otherwise the suite's variants are `unsupported`, as on the command line.
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
        """The needs given these offers: variants that no host has are dropped unless they were chosen."""
        had = {name for offer in offers for name in offer.variants}
        return (
            self if self.are_chosen else replace(self, variants=tuple(v for v in self.variants if v in had))
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """The offer of a host."""

    hostname: str
    fingerprint: str
    cpu_model: str
    variants: tuple[str, ...]
    isa: tuple[str, ...]
    memory_mb: int
    cores: int | None = None  # None for a worker that does not report it
    waits_for: str | None = None  # what its worker waits for before it takes jobs

    def lacks(self, needs: Needs) -> list[str]:
        """The unmet needs, each in a few words; empty if the host meets all."""
        lacking = [f"variant {name}" for name in needs.variants if name not in self.variants]
        lacking += [f"CPU flag {name}" for name in needs.isa if name not in self.isa]
        if needs.memory_mb > self.memory_mb:
            lacking.append(f"{needs.memory_mb} MB of memory")
        return lacking


def needs_of(
    suite: Suite,
    chosen: Sequence[str] = (),
    isa: Sequence[str] = (),
    memory_mb: int = 0,
    offers: Sequence[Offer] = (),
) -> Needs:
    """The needs of a suite, restricted to the chosen variants (none chosen: all).

    Its memory is that of its largest case, as plans predict it, among those that fit one of the hosts with these
    ``offers``; at least ``memory_mb``. Where a library's memory is unknown, ``budget.memory_mb`` counts if it is set.
    """
    variants = {registry.base_variant(name) for name in suite.variants if not chosen or name in chosen}
    needed_mb = max(memory_mb, _planned_mb(suite, chosen, offers))
    return Needs(tuple(sorted(variants)), tuple(sorted(set(isa))), needed_mb, bool(chosen))


def _planned_mb(suite: Suite, chosen: Sequence[str], offers: Sequence[Offer]) -> int:
    available = {name: Availability(registry.declaration(name)) for name in suite.variants}
    host_mb = max((offer.memory_mb for offer in offers), default=None)
    needed_mb = [
        plan.needed_mb(item)
        for item in plan.cases(suite, available, host_mb=host_mb)
        if item.reason is None and (not chosen or item.case.variant in chosen)
    ]
    known_mb = max((each for each in needed_mb if each is not None), default=0)
    if None in needed_mb and "memory_mb" in suite.budget.model_fields_set:
        known_mb = max(known_mb, suite.budget.memory_mb)
    return known_mb if host_mb is None else min(known_mb, host_mb)


def offer_of(facts: Host) -> Offer:
    """The offer of this host: variants with installed libraries, CPU flags and memory."""
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
    """The reason why none of these hosts can hold the concurrent processes of the suite's chosen variants; ``None`` if
    one can, or might.
    """

    def reason_of(offer: Offer) -> str | None:
        if offer.cores is None:
            return None
        capacity = Capacity(offer.cores, offer.memory_mb)
        return plan.reason_against_suite(suite, _available(suite, offer), chosen, capacity)

    reasons = [reason_of(offer) for offer in offers]
    return reasons[0] if reasons and all(reasons) else None


def _available(suite: Suite, offer: Offer) -> dict[str, Availability]:
    """The availability of the suite's variants on a host."""
    return {
        name: Availability(
            registry.declaration(name),
            None if registry.base_variant(name) in offer.variants else "the host does not offer it",
        )
        for name in suite.variants
    }
