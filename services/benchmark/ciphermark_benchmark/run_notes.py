"""Notes on the results of a run: failures, sources of error, and what the results include. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from ciphermark_adapters import registry
from ciphermark_contract.declaration import KEY_ITEMS, SEEDED_ITEMS
from ciphermark_core.descriptor import LEVEL
from ciphermark_core.host import thread_warning
from ciphermark_core.model import Outcome
from ciphermark_core.run import Run
from ciphermark_measure.experiments import KINDS
from ciphermark_present.notes import About, Note
from ciphermark_present.query import Row
from ciphermark_present.subject import OBJECT, OPERATION

_SMALL_PRIME_BITS = 30
_SMALL_PRIME_RING = 8192

_MAX_NAMED = 3  # operations named per reason
_MAX_REASONS = 32
_Said = tuple[str, str, str]  # variant, subject, text


def reasons(outcomes: Iterable[Outcome]) -> list[tuple[str, int]]:
    """The reasons of outcomes other than ok, with their counts, the most frequent first. A reason common to several
    operations of a variant is listed once.
    """
    operations_of: dict[tuple[str, str, str | None], list[str]] = {}
    for outcome in outcomes:
        if outcome.status != "ok":
            place = outcome.status, outcome.trial.case.variant, outcome.error
            operations_of.setdefault(place, []).append(outcome.trial.case.operation)
    counted = [
        (f"{status}: {variant}, {_some(operations)}: {error}", len(operations))
        for (status, variant, error), operations in operations_of.items()
    ]
    return sorted(counted, key=lambda item: -item[1])[:_MAX_REASONS]


Conclusion = Literal["as planned", "failures", "nothing executed"]
_NOT_EXECUTED = ("unsupported", "cancelled")


def conclusion(outcomes: Sequence[Outcome]) -> Conclusion:
    """The conclusion of a run: whether every trial ended as planned. ``unsupported`` counts as planned, as does
    ``budget_exhausted`` at level 0 and in experiments that continue until then.
    """
    executed = [outcome for outcome in outcomes if outcome.status not in _NOT_EXECUTED]
    if not executed:
        return "nothing executed"
    return "as planned" if all(map(is_as_planned, executed)) else "failures"


def is_as_planned(outcome: Outcome) -> bool:
    """Whether an executable trial ended as its experiment plans."""
    kind = KINDS.get(outcome.trial.case.experiment)
    is_until_exhausted = kind is not None and kind.is_until_exhausted
    is_lowest = LEVEL.of(outcome.trial.case.dimensions) == 0
    return outcome.status == "ok" or (
        outcome.status == "budget_exhausted" and (is_until_exhausted or is_lowest)
    )


def _some(operations: Sequence[str]) -> str:
    """The first operations by name, and the number of the others."""
    names = list(dict.fromkeys(operations))
    more = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def caveats(run: Run, outcomes: Sequence[Outcome]) -> list[str]:
    """Sources of error in the results of a run: host, threads, builds, modulus chains."""
    texts = list(run.host.warnings)
    crowding = thread_warning({outcome.trial.case.threads for outcome in outcomes}, run.host.cores)
    if crowding is not None:
        texts.append(crowding)
    libraries = {outcome.library.variant: outcome.library for outcome in outcomes if outcome.library}
    texts += [
        f"{name} is a debug build: its times are not meaningful"
        for name, item in libraries.items()
        if item.is_debug
    ]
    if any(outcome.facts.get("is_pinned") == 0 for outcome in outcomes):
        texts.append("workers are not pinned to a CPU: times include migrations between CPUs")
    if any(outcome.facts.get("is_elsewhere") for outcome in outcomes):
        texts.append(
            "the client or the server service is on another machine than the worker: results are recorded as the "
            "worker's host's, and are not that machine's"
        )
    if any(_has_small_primes(outcome) for outcome in outcomes):
        texts.append(
            f"ckks modulus chains with primes under {_SMALL_PRIME_BITS} bits were allowed: values drift from level to "
            "level"
        )
    return texts


def notes(measured: Iterable[Row]) -> list[Note]:
    """Notes on what the measured operations include beyond the bare primitive, on decryption noise (IND-CPA-D), and on
    objects that a library does not write, as the adapters declare them. Each text appears once per library.

    ``measured`` are rows with variant, experiment, operation, metric and status, as in the view ``results``.
    """
    here = registry.declarations()
    # a run may come from another installation
    rows = [row for row in measured if registry.base_variant(row["variant"]) in here]
    about_libraries: dict[tuple[str, About, str], tuple[dict[str, None], dict[str, None]]] = {}
    for about, source in _TOLD.items():
        for variant, subject, text in source(rows):
            library = registry.declaration(variant).library
            variants, subjects = about_libraries.setdefault((library, about, text), ({}, {}))
            variants[variant] = subjects[subject] = None
    return [
        Note(about, (*variants,), (*subjects,), frozenset(name.partition("(")[0] for name in subjects), text)
        for (_, about, text), (variants, subjects) in sorted(
            about_libraries.items(), key=lambda item: item[0][0]
        )
    ]


def _included(rows: Iterable[Row]) -> Iterator[_Said]:
    """Variant, operation and the extra content of its time."""
    timed = {
        (row["variant"], row["operation"])
        for row in rows
        if row["status"] == "ok" and OPERATION.covers(row["experiment"])
    }
    for variant, operation in sorted(timed):
        note = registry.declaration(variant).note_on(operation.partition("(")[0])
        if note:
            yield variant, operation, note


def _additions(rows: Iterable[Row]) -> Iterator[_Said]:
    """The decryption noise (IND-CPA-D) that libraries add, for the recorded metrics."""
    for variant, metric in sorted({(row["variant"], row["metric"]) for row in rows if row["metric"]}):
        what = registry.declaration(variant).adds.get(metric)
        if what:
            yield variant, metric, what


def _absences(rows: Iterable[Row]) -> Iterator[_Said]:
    """The objects that a variant does not write, with the reasons, if sizes were requested."""
    sized = {row["variant"] for row in rows if OBJECT.covers(row["experiment"]) and row["status"] == "ok"}
    for variant in sorted(sized):
        declared = registry.declaration(variant)
        for item in (*KEY_ITEMS, *SEEDED_ITEMS):
            if item not in (*declared.serializable, *declared.seeded):
                yield variant, f"no {item}", declared.reason_against_object(item)


_TOLD: dict[About, Callable[[Iterable[Row]], Iterator[_Said]]] = {
    "operation": _included,
    "metric": _additions,
    "object": _absences,
}


def _has_small_primes(outcome: Outcome) -> bool:
    parameters = outcome.parameters
    if parameters is None or parameters.scale is None or parameters.ring_dimension < _SMALL_PRIME_RING:
        return False
    return min(parameters.modulus_bits) < _SMALL_PRIME_BITS
