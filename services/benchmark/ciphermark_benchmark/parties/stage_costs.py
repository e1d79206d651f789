"""The costs of one stage of a trial: the parties' samples, the totals, and the remainder as transfer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ciphermark_analysis import correction
from ciphermark_core.metrics import METRICS, SIGNIFICANCE_THRESHOLD, Metric, register
from ciphermark_core.model import Sample
from ciphermark_measure.parties.blobs import Blob
from ciphermark_measure.parties.messages import CHECK, ENCODE, RETURNED, TRACE, TRANSFER, Collected, Role

AMORTIZED_TIME = register(
    Metric(
        "amortized_time",
        "s",
        "lower",
        SIGNIFICANCE_THRESHOLD,
        "time per input",
        "Wall time of a stage, divided by the inputs of its pass.",
    )
)


def stage_samples(
    stage: str, elapsed_s: float, answered: Iterable[Sample], once: Sequence[Sample] = ()
) -> list[Sample]:
    """One sample per metric and phase, and the totals of the stage.

    ``elapsed_s`` is the wall time of the stage at the caller; ``answered`` are all samples from the parties, and
    ``once`` those of work done once. Work outside the stage is subtracted: the latter, ``<stage>.check``, and the
    client's work in stages without the server, such as a model. Those stages send nothing and have no transfer.

    The slowdown of a sum follows from its parts; the transfer has none. A sum is disturbed if disturbed parts take more
    than half of it.

    The totals of ``cpu_time`` and other probes combine the parties' steps. The total of ``time`` is the rest of
    ``elapsed_s``; the transfer is that total less the parties' steps.
    """
    merged = _merged(answered)
    own = [sample for sample in merged if sample.stage == stage]
    alone = [sample for sample in merged if sample.stage != stage]
    checked_s = sum(sample.value for sample in merged if sample.step == CHECK and sample.metric == "time")
    elapsed_s -= _sum_of(_steps_of([*alone, *once], "time")) + checked_s
    transfer = Sample("time", elapsed_s - _sum_of(_steps_of(own, "time")), stage, step=TRANSFER)
    samples = [*_alone(alone), *_with_totals(stage, own, [transfer]), transfer, *once]
    return [replace(sample, slowdown=1.0) if sample.is_disturbed else sample for sample in samples]


def _alone(samples: Sequence[Sample]) -> Iterator[Sample]:
    """The stages without the server, each with its totals."""
    for stage in dict.fromkeys(sample.stage for sample in samples):
        own = [sample for sample in samples if sample.stage == stage]
        yield from _with_totals(stage, own, [])


def _with_totals(stage: str, samples: Sequence[Sample], transfer: Sequence[Sample]) -> list[Sample]:
    metrics = dict.fromkeys(sample.metric for sample in samples if sample.step and sample.metric != "time")
    time = _together([*_steps_of(samples, "time"), *transfer], Sample("time", 0.0, stage))
    totals = [
        _together(_steps_of(samples, name), Sample(name, 0.0, stage))
        for name in metrics
        if METRICS[name].adds_up
    ]
    return [*samples, time, *totals]


def amortized(samples: Iterable[Sample], inputs_per_pass: int) -> list[Sample]:
    """The time per input of every stage in the samples, if a pass has several inputs."""
    totals = (sample for sample in samples if sample.metric == "time" and sample.phase == sample.stage)
    return [
        replace(total, metric=AMORTIZED_TIME.name, value=total.value / inputs_per_pass)
        for total in totals
        if inputs_per_pass > 1
    ]


def size_samples(
    stage: str, inputs: Sequence[Blob], outputs: Sequence[Blob], plaintext_bytes: int
) -> list[Sample]:
    """Exact sizes of the messages to and from the server, and the expansion of the rows by encryption."""
    sent = sum(blob.payload_bytes for blob in inputs)
    returned = sum(blob.payload_bytes for blob in outputs)
    return [
        Sample("size", float(sent), stage),
        Sample("size", float(returned), stage, step=RETURNED),
        Sample("plaintext_size", float(plaintext_bytes), stage),
        *([Sample("expansion", sent / plaintext_bytes, stage)] if plaintext_bytes else ()),
    ]


def interrupted(sample: Sample) -> Sample:
    """A sample of a pass that was interrupted: its time is disturbed, so that it is marked and never ranked."""
    return replace(sample, slowdown=1.0, is_disturbed=True) if sample.metric == "time" else sample


@dataclass(frozen=True, slots=True)
class CollectedIn:
    """The garbage collections of a party's library in a stage of the pass ``ordinal``."""

    stage: str
    role: Role
    ordinal: int
    collected: Collected

    @property
    def places(self) -> Iterator[tuple[str, int]]:
        """The phases and the pass whose times they fell into: steps, the party's sum, and the stage."""
        for part in (*self.collected.steps, self.role):
            yield f"{self.stage}.{part}", self.ordinal
        yield self.stage, self.ordinal


def with_collections(samples: Sequence[Sample], collections: Iterable[CollectedIn]) -> list[Sample]:
    """The samples, with times marked as disturbed into which a collection fell. A collection in every counted time of a
    phase belongs to the work, and marks none.
    """
    fell = {place for item in collections for place in item.places}
    lacking = {item.phase for item in samples if _is_counted(item) and (item.phase, item.ordinal) not in fell}
    return [
        replace(item, slowdown=1.0, is_disturbed=True)
        if _is_counted(item) and item.phase in lacking and (item.phase, item.ordinal) in fell
        else item
        for item in samples
    ]


def _is_counted(sample: Sample) -> bool:
    return METRICS[sample.metric].unit == "s" and not sample.is_warmup


def collection_facts(collections: Iterable[CollectedIn]) -> dict[str, float]:
    """The number of collections in each stage, and the time for which they stopped the libraries."""
    facts: dict[str, float] = {}
    for item in collections:
        own = {
            f"collections_{item.stage}": float(item.collected.cycles),
            f"collection_pauses_{item.stage}_s": item.collected.paused_s,
        }
        facts |= {name: facts.get(name, 0.0) + value for name, value in own.items()}
    return facts


def elapsed_s(samples: Iterable[Sample]) -> float:
    """Wall time of all stages in the samples."""
    return sum(sample.value for sample in samples if sample.metric == "time" and sample.phase == sample.stage)


def corrected_s(samples: Iterable[Sample]) -> float:
    """As :func:`elapsed_s`, corrected to an undisturbed host."""
    return sum(
        correction.corrected_value(sample)
        for sample in samples
        if sample.metric == "time" and sample.phase == sample.stage
    )


def first(samples: Iterable[Sample]) -> list[Sample]:
    """The samples that count from the first pass: peak memory, and the server's one-time work."""
    return [sample for sample in samples if _is_first(sample)]


def repeated(samples: Iterable[Sample], ordinal: int, *, is_warmup: bool) -> list[Sample]:
    """The samples of one pass that every pass yields."""
    return [
        replace(sample, ordinal=ordinal, is_warmup=is_warmup) for sample in samples if not _is_first(sample)
    ]


def _is_first(sample: Sample) -> bool:
    return not METRICS[sample.metric].adds_up or sample.step in (TRACE, ENCODE)


def _steps_of(samples: Iterable[Sample], metric: str) -> list[Sample]:
    """The parts of a sum. The parties' own sums would count twice, and checks belong to no stage."""
    return [
        sample
        for sample in samples
        if sample.metric == metric and sample.party is None and sample.step != CHECK
    ]


def _sum_of(samples: Iterable[Sample]) -> float:
    return sum(sample.value for sample in samples)


def _together(parts: Sequence[Sample], whole: Sample) -> Sample:
    """The sum of parts as a sample like ``whole``, with their common slowdown."""
    metric = METRICS[whole.metric]
    if metric.unit != "s":
        return replace(whole, value=reduce(metric.together, [part.value for part in parts]))
    value, disturbed = _sum_of(parts), _sum_of(part for part in parts if part.is_disturbed)
    undisturbed = sum(part.value / part.slowdown for part in parts)
    return replace(
        whole,
        value=value,
        slowdown=value / undisturbed if undisturbed else 1.0,
        is_disturbed=2 * disturbed > value > 0,
    )


def _merged(samples: Iterable[Sample]) -> list[Sample]:
    """One sample per metric and phase: the sum, since both parties serialize; the maximum for peaks."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.metric, sample.phase), []).append(sample)
    return [_together(group, group[0]) for group in groups.values()]
