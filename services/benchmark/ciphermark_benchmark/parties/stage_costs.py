"""What one stage of a trial cost: the parties' own samples, the whole, and what is left for the transfer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from ciphermark_analysis import correction
from ciphermark_core.metrics import METRICS, SIGNIFICANCE_THRESHOLD, Metric, register
from ciphermark_core.model import Sample
from ciphermark_measure.parties.blobs import Blob
from ciphermark_measure.parties.messages import CHECK, ENCODE, RETURNED, TRACE, TRANSFER

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


def stage_samples(stage: str, elapsed_s: float, answered: Iterable[Sample]) -> list[Sample]:
    """One sample per metric and phase, and the totals of the stage.

    ``elapsed_s`` is the wall time of the stage, seen by whoever asks the parties; ``answered`` all samples that they
    answered with. What a party did that is not of the stage is taken off it: ``<stage>.check``, and what the client
    computed in stages without the server, a model say: nothing is sent in them, so that they have no transfer.

    A sum is slowed as its parts are together; the transfer is taken to be slowed by nothing. It is disturbed where
    parts that are disturbed take more than half of it.

    The totals of ``cpu_time`` and whatever else probes tell are the parties', that of ``time`` what is then left of
    ``elapsed_s``; the transfer is what is left of that when the parties' steps are taken away.
    """
    merged = _merged(answered)
    own = [sample for sample in merged if sample.stage == stage]
    alone = [sample for sample in merged if sample.stage != stage]
    checked_s = sum(sample.value for sample in merged if sample.step == CHECK and sample.metric == "time")
    elapsed_s -= _sum_of(_steps_of(alone, "time")) + checked_s
    transfer = Sample("time", elapsed_s - _sum_of(_steps_of(own, "time")), stage, step=TRANSFER)
    samples = [*_alone(alone), *_with_totals(stage, own, [transfer]), transfer]
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
    """The time per input of every stage that samples tell of, where there are several inputs."""
    totals = (sample for sample in samples if sample.metric == "time" and sample.phase == sample.stage)
    return [
        replace(total, metric=AMORTIZED_TIME.name, value=total.value / inputs_per_pass)
        for total in totals
        if inputs_per_pass > 1
    ]


def size_samples(
    stage: str, inputs: Sequence[Blob], outputs: Sequence[Blob], plaintext_bytes: int
) -> list[Sample]:
    """Exact sizes of what went to the server and back, and how much larger the rows became by encryption."""
    sent = sum(blob.payload_bytes for blob in inputs)
    returned = sum(blob.payload_bytes for blob in outputs)
    return [
        Sample("size", float(sent), stage),
        Sample("size", float(returned), stage, step=RETURNED),
        Sample("plaintext_size", float(plaintext_bytes), stage),
        *([Sample("expansion", sent / plaintext_bytes, stage)] if plaintext_bytes else ()),
    ]


def elapsed_s(samples: Iterable[Sample]) -> float:
    """Wall time of all stages that samples tell of."""
    return sum(sample.value for sample in samples if sample.metric == "time" and sample.phase == sample.stage)


def corrected_s(samples: Iterable[Sample]) -> float:
    """As :func:`elapsed_s`, as it would have been on an undisturbed host."""
    return sum(
        correction.corrected_value(sample)
        for sample in samples
        if sample.metric == "time" and sample.phase == sample.stage
    )


def first(samples: Iterable[Sample]) -> list[Sample]:
    """Of the first pass, which counts for nothing else: peaks of memory, and what the server makes once."""
    return [sample for sample in samples if _is_first(sample)]


def repeated(samples: Iterable[Sample], ordinal: int, *, is_warmup: bool) -> list[Sample]:
    """Of one pass, what every pass tells again."""
    return [
        replace(sample, ordinal=ordinal, is_warmup=is_warmup) for sample in samples if not _is_first(sample)
    ]


def _is_first(sample: Sample) -> bool:
    return not METRICS[sample.metric].adds_up or sample.step in (TRACE, ENCODE)


def _steps_of(samples: Iterable[Sample], metric: str) -> list[Sample]:
    """The parts of a sum: the parties' own sums would count twice, and checks are no part of a stage."""
    return [
        sample
        for sample in samples
        if sample.metric == metric and sample.party is None and sample.step != CHECK
    ]


def _sum_of(samples: Iterable[Sample]) -> float:
    return sum(sample.value for sample in samples)


def _together(parts: Sequence[Sample], whole: Sample) -> Sample:
    """What parts come to, as a sample of the ``whole``: slowed as they are together."""
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
    """One sample of a metric and phase: the sum, since both parties serialize; of peaks the highest."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.metric, sample.phase), []).append(sample)
    return [_together(group, group[0]) for group in groups.values()]
