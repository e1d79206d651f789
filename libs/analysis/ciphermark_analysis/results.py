"""Results of a group of trials: per place and number of repetitions the median of the samples that count, and more."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_analysis.samples import Group


@dataclass(frozen=True, slots=True)
class Result:
    """Statistics of the samples of one place and number of repetitions; a row of the table ``result``.

    Values are in the unit of the metric. Bounds are ``None`` where there are too few samples. ``median``, ``ci_low``,
    ``ci_high``, ``mad`` (median absolute deviation, unscaled), ``min`` and ``max`` are of the ``n`` samples that count,
    corrected for host interference; names with ``uncorrected_`` are of all samples as the clock gave them, warm-ups
    excepted. ``undisturbed_share`` is ``None`` where the host was not observed, ``slowdown`` (geometric mean) also of
    what is no time and where no sample is undisturbed.
    """

    group: int
    stage: str
    party: str | None
    step: str | None
    metric: str
    repetitions: int | None
    n: int
    median: float
    ci_low: float | None
    ci_high: float | None
    mad: float
    min: float
    max: float
    uncorrected_n: int
    uncorrected_median: float
    uncorrected_ci_low: float | None
    uncorrected_ci_high: float | None
    undisturbed_share: float | None
    slowdown: float | None
    method: int


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What the facts of the trials of a group come to; a row beside the group.

    ``anchor_s`` is the median over the trials that executed the present reference kernel, ``steal_share`` the stolen
    time by the duration of the trials that report it; ``None`` where there are none.
    """

    group: int
    is_composed: bool
    is_watched: bool
    executed_ciphertexts: int | None
    anchor_s: float | None
    anchor_spread: float | None
    steal_share: float | None
    error: str | None


def results(group: Group) -> list[Result]:
    """The results of a group, ordered by place and repetitions; none of a group whose samples may not be shown."""
    raise NotImplementedError


def facts(group: Group) -> GroupFacts:
    """Facts of the trials, together."""
    raise NotImplementedError
