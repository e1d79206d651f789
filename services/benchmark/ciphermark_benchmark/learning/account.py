"""What one stage of a trial cost: the parties' own samples, the whole, and what is left for the transfer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ciphermark_core.words import Sample
from ciphermark_measure.blobs import Blob
from ciphermark_measure.parties.messages import Stage


def stage_samples(stage: Stage, elapsed_s: float, told: Iterable[Sample]) -> list[Sample]:
    """One sample per metric and phase, and the totals of the stage.

    ``elapsed_s`` is the wall time of the stage, seen by whoever asks the parties; ``told`` all samples that they
    answered with. The total of ``cpu_time`` is the parties', that of ``time`` is ``elapsed_s``; the transfer is what
    is left of it when the parties' steps are taken away.
    """
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in told:
        groups.setdefault((sample.metric, sample.phase), []).append(sample)
    merged = [_merged(metric, group) for (metric, _), group in groups.items()]
    busy_s = sum(sample.value for sample in merged if sample.metric == "time")
    cpu_s = sum(sample.value for sample in merged if sample.metric == "cpu_time")
    return [
        *merged,
        Sample("time", "s", elapsed_s - busy_s, f"{stage}.transfer"),
        Sample("time", "s", elapsed_s, stage),
        Sample("cpu_time", "s", cpu_s, stage),
    ]


def size_samples(
    stage: Stage, inputs: Sequence[Blob], outputs: Sequence[Blob], plaintext_bytes: int
) -> list[Sample]:
    """Exact sizes of what went to the server and back, and how much larger the rows became by encryption."""
    sent = sum(blob.size_bytes for blob in inputs)
    returned = sum(blob.size_bytes for blob in outputs)
    return [
        Sample("size", "bytes", float(sent), stage),
        Sample("size", "bytes", float(returned), f"{stage}.returned"),
        Sample("plaintext_size", "bytes", float(plaintext_bytes), stage),
        Sample("expansion", "ratio", sent / plaintext_bytes, stage),
    ]


def elapsed_s(samples: Iterable[Sample]) -> float:
    """Wall time of all stages that samples tell of."""
    return sum(sample.value for sample in samples if sample.metric == "time" and "." not in sample.phase)


def first(samples: Iterable[Sample]) -> list[Sample]:
    """Of the first pass, which counts for nothing else: peaks of memory, and what the server encodes once."""
    return [sample for sample in samples if _is_first(sample)]


def repeated(samples: Iterable[Sample], ordinal: int, *, is_warmup: bool) -> list[Sample]:
    """Of one pass, what every pass tells anew."""
    return [
        replace(sample, ordinal=ordinal, is_warmup=is_warmup) for sample in samples if not _is_first(sample)
    ]


def _is_first(sample: Sample) -> bool:
    return sample.metric == "peak_memory" or sample.phase.endswith(".encode")


def _merged(metric: str, group: list[Sample]) -> Sample:
    """One sample where a stage has several of one phase, since both parties serialize: the sum, or the highest peak."""
    values = [sample.value for sample in group]
    return replace(group[0], value=max(values) if metric == "peak_memory" else sum(values))
