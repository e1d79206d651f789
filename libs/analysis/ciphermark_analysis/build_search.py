"""Binary search, with a stated error rate, for the build in a list from old to new at which a case slowed down. Pure.

Two builds are compared in several pairs of fresh processes; a pair yields one ratio of times. A sign test over these
ratios decides whether the median ratio exceeds a threshold. It assumes only that processes are started independently:
layout of memory and pages, which differs between processes, counts as chance. Each test has the level ``error``
divided by the maximum number of tests, so the probability of any incorrect claim is at most ``error``.

The ends are compared first, against the significance threshold. An intermediate build counts as fast or slow by the
geometric mean of 1 and the ratio of the ends, which finds a single step. Builds too near to that mean for a decision
are reported: the slowdown then has several steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, TypeVar

from ciphermark_analysis.correction import corrected_value
from ciphermark_analysis.estimates import Estimate, estimate, ratio_of, verdict
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Case, Outcome, Sample

ERROR = 0.05
LOOKS = 2  # an undecided test is repeated once, over all ratios

Verdict = Literal["step", "several steps", "no step"]
# Measures builds side by side in a number of fresh processes each; returns their time ratios to the first, by pair.
Measure = Callable[[Sequence[str], int], Mapping[str, Sequence[float]]]
Name = TypeVar("Name", bound=Hashable)
Round = tuple[str, str, int | None, int]  # case, phase, repetitions and number of a sample


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search.

    ``ends`` is the ratio of the last build's time to the first's. A single step lies between the adjacent builds
    ``before`` and ``after``; ``step`` is their ratio, measured side by side. With several steps, the slowdown lies
    between ``before`` and ``after``, and the builds between them are neither as fast as the first nor as slow as the
    last. ``rest`` is the part of ``ends`` that the step does not explain, where it exceeds the significance threshold.
    ``ratios`` are those of all measured builds to the first.
    """

    verdict: Verdict
    ends: Estimate
    error: float
    before: str | None = None
    after: str | None = None
    step: Estimate | None = None
    rest: float | None = None
    ratios: Mapping[str, Estimate] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """Tests at one level; ``processes`` is the minimum number of pairs of which one may dissent."""

    level: float

    @property
    def processes(self) -> int:
        """The number of fresh processes of each build per look."""
        return next(n for n in range(2, 200) if tail(n, n - 1) <= self.level)

    def interval(self, ratios: Sequence[float]) -> Estimate:
        """The median ratio, with the interval of all thresholds on which the sign test is undecided.

        Without bounds for too few ratios. Raises ``ValueError`` for no ratios.
        """
        n, ordered = len(ratios), sorted(ratios)
        dissenting = [k for k in range((n + 1) // 2) if tail(n, n - k) <= self.level]
        if not dissenting:
            return Estimate(n, median(ratios), None, None)
        return Estimate(n, median(ratios), ordered[dissenting[-1]], ordered[n - 1 - dissenting[-1]])

    def side(self, ratios: Sequence[float], threshold: float) -> Literal["below", "above"] | None:
        """The side of a threshold on which the median ratio lies; ``None`` where the test is undecided."""
        interval = self.interval(ratios) if ratios else Estimate(0, math.nan, None, None)
        if interval.low is None or interval.high is None:
            return None
        if interval.low > threshold:
            return "above"
        return "below" if interval.high < threshold else None


def tail(n: int, k: int) -> float:
    """The probability of at least k heads in n tosses of a fair coin."""
    heads = sum(math.comb(n, i) for i in range(k, n + 1))
    return float(heads / 2**n)


def rule_for(builds: int, error: float) -> Rule:
    """The rule for a number of builds: ends, halvings and the pair at the step are tested, each ``LOOKS`` times."""
    halvings = max(0, math.ceil(math.log2(max(1, builds - 1))))
    return Rule(error / ((halvings + 2) * LOOKS))


def search(
    builds: Sequence[str], measure: Measure, error: float = ERROR, threshold: float = SIGNIFICANCE_THRESHOLD
) -> Found:
    """Search a list of at least two builds, from old to new."""
    rule = rule_for(len(builds), error)
    first, last = builds[0], builds[-1]
    side, ends = _tested(rule, measure, first, last, threshold)
    estimates = {last: estimate(ends)}
    if side != "above":
        return Found("no step", estimates[last], error, ratios=estimates)
    middle = math.sqrt(median(ends))
    low, high = 0, len(builds) - 1
    while high - low > 1:
        half = (low + high) // 2
        side, ratios = _tested(rule, measure, first, builds[half], middle)
        estimates[builds[half]] = estimate(ratios)
        if side is None:
            return Found("several steps", estimates[last], error, builds[low], builds[high], ratios=estimates)
        low, high = (half, high) if side == "below" else (low, half)
    before, after = builds[low], builds[high]
    side, pairs = (
        ("above", ends)
        if (before, after) == (first, last)
        else _tested(rule, measure, before, after, threshold)
    )
    step = estimate(pairs)
    if side != "above":
        return Found("several steps", estimates[last], error, before, after, step, ratios=estimates)
    rest = ratio_of(estimates[last], step)
    is_more = verdict(rest, threshold) in ("faster", "slower")  # the whole interval lies beyond the threshold
    return Found(
        "step", estimates[last], error, before, after, step, rest.median if is_more else None, estimates
    )


def _tested(
    rule: Rule, measure: Measure, base: str, other: str, threshold: float
) -> tuple[Literal["below", "above"] | None, list[float]]:
    """The side of a threshold on which a build lies, and the ratios that determine it."""
    ratios: list[float] = []
    for _ in range(LOOKS):
        ratios += measure((base, other), rule.processes)[other]
        side = rule.side(ratios, threshold)
        if side is not None:
            return side, ratios
    return None, ratios


def ratios(outcomes: Iterable[Outcome], builds: Sequence[str], stage: str) -> dict[str, list[float]]:
    """The median ratio of a stage's paired samples to the first build's, of each build and process. Pure."""
    first, *others = builds
    items = list(outcomes)
    return {
        name: named_ratios(
            items, first, name, lambda _, sample: stage if sample.phase == stage else None
        ).get(stage, [])
        for name in others
    }


def named_ratios(
    outcomes: Iterable[Outcome],
    base: str,
    head: str,
    name_of: Callable[[Case, Sample], Name | None],
    *,
    is_uncorrected: bool = False,
) -> dict[Name, list[float]]:
    """The median ratios of paired times of ``head`` to ``base``, one per process, for everything with a name. Pure.

    Times are corrected by their slowdown. Undisturbed rounds count, or all rounds of a process without any. That costs
    power but adds no error: the order of interleaved builds is random, so a disturbance favors neither. With
    ``is_uncorrected``, all rounds count as measured.
    """
    times: dict[tuple[Name, int], dict[str, dict[Round, Sample]]] = {}
    for outcome in outcomes:
        case, key = outcome.trial.case, outcome.trial.case.comparison_group
        for sample in outcome.samples:
            name = None if sample.metric != "time" or sample.is_warmup else name_of(case, sample)
            if name is not None:
                of_process = times.setdefault((name, outcome.trial.process), {base: {}, head: {}})
                place = (key, sample.phase, sample.repetitions, sample.ordinal)
                of_process.setdefault(case.variant, {})[place] = sample
    collected: dict[Name, list[float]] = {}
    for name, process in sorted(times, key=lambda item: item[1]):
        of_process = times[name, process]
        ratio = _paired(of_process[base], of_process[head], is_uncorrected)
        collected.setdefault(name, []).extend(ratio)
    return {name: values for name, values in collected.items() if values}


def _paired(a: Mapping[Round, Sample], b: Mapping[Round, Sample], is_uncorrected: bool) -> Iterator[float]:
    """Yield one ratio, over rounds that both have; nothing without such rounds."""
    rounds = a.keys() & b.keys()
    if rounds and is_uncorrected:
        yield median(b[place].value / a[place].value for place in rounds)
        return
    undisturbed = {place for place in rounds if not (a[place].is_disturbed or b[place].is_disturbed)}
    if rounds:
        yield median(corrected_value(b[place]) / corrected_value(a[place]) for place in undisturbed or rounds)
