"""What a reader must know beside the figures of a run: what failed, what spoils them, what they include. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ciphermark_adapters import registry
from ciphermark_contract.declaration import KEY_ITEMS, SEEDED_ITEMS
from ciphermark_core.host import thread_warning
from ciphermark_core.model import Outcome
from ciphermark_core.run import Run
from ciphermark_figures.subject import OBJECT, OPERATION

_SMALL_PRIME_BITS = 30
_SMALL_PRIME_RING = 8192

_MOST_REASONS = 32


def reasons(outcomes: Iterable[Outcome]) -> list[tuple[str, int]]:
    """The reasons for outcomes other than ok, with how often each was given, the most frequent first."""
    told = Counter(
        f"{outcome.status}: {outcome.trial.case.variant}, {outcome.trial.case.operation}: {outcome.error}"
        for outcome in outcomes
        if outcome.status != "ok"
    )
    return told.most_common(_MOST_REASONS)


def caveats(run: Run, outcomes: Sequence[Outcome]) -> list[str]:
    """What spoils the figures of a run: host, threads, builds, chains."""
    found = list(run.host.warnings)
    crowding = thread_warning({outcome.trial.case.threads for outcome in outcomes}, run.host.cores)
    if crowding is not None:
        found.append(crowding)
    libraries = {outcome.library.variant: outcome.library for outcome in outcomes if outcome.library}
    found += [
        f"{name} is a debug build: its times mean nothing"
        for name, item in libraries.items()
        if item.is_debug
    ]
    if any(outcome.facts.get("is_pinned") == 0 for outcome in outcomes):
        found.append("workers could not be pinned to a CPU: times include what moving between CPUs costs")
    if any(outcome.facts.get("is_elsewhere") for outcome in outcomes):
        found.append(
            "the client or the server service is on another machine than the worker: figures are recorded as the "
            "worker's host's, and are not that machine's"
        )
    if any(_has_small_primes(outcome) for outcome in outcomes):
        found.append(
            f"ckks chains with primes under {_SMALL_PRIME_BITS} bits were allowed: values drift from level to level"
        )
    return found


def notes(outcomes: Iterable[Outcome]) -> list[str]:
    """What the measured operations include beyond the bare primitive, what libraries add on purpose, and which objects
    they do not write, as the adapters declare it."""
    known = list(outcomes)
    timed = [o.trial.case for o in known if o.status == "ok" and OPERATION.covers(o.trial.case.experiment)]
    measured = {(case.variant, case.operation) for case in timed}
    told = {
        (variant, operation): registry.declaration(variant).note_on(operation.partition("(")[0])
        for variant, operation in sorted(measured)
    }
    found = [f"{variant}, {operation}: {note}" for (variant, operation), note in told.items() if note]
    return found + _additions(known) + _absences(known)


def _additions(outcomes: Iterable[Outcome]) -> list[str]:
    """What libraries add on purpose, of the metrics that were recorded."""
    recorded = {(o.trial.case.variant, sample.metric) for o in outcomes for sample in o.samples}
    told = ((name, metric, registry.declaration(name).adds.get(metric)) for name, metric in sorted(recorded))
    return [f"{variant}, {metric}: {what}" for variant, metric, what in told if what]


def _absences(outcomes: Iterable[Outcome]) -> list[str]:
    """Which objects a variant does not write, where sizes were asked for, and why: each reason once."""
    variants = {
        o.trial.case.variant for o in outcomes if OBJECT.covers(o.trial.case.experiment) and o.status == "ok"
    }
    found: dict[tuple[str, str], list[str]] = {}
    for variant in sorted(variants):
        declared = registry.declaration(variant)
        for item in (*KEY_ITEMS, *SEEDED_ITEMS):
            if item not in (*declared.serializable, *declared.seeded):
                found.setdefault((variant, declared.reason_against_object(item)), []).append(item)
    return [f"{variant}, no {', '.join(items)}: {reason}" for (variant, reason), items in found.items()]


def _has_small_primes(outcome: Outcome) -> bool:
    found = outcome.parameters
    if found is None or found.scale is None or found.ring_dimension < _SMALL_PRIME_RING:
        return False
    return min(found.modulus_bits) < _SMALL_PRIME_BITS
