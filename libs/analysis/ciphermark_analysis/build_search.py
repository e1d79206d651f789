"""Where, in a list of builds from old to new, a case became slower: a binary search with a stated rate of error. Pure.

Two builds are held side by side in several pairs of fresh processes; a pair yields one ratio of times. That the median
ratio lies beyond a threshold is claimed by a sign test over these ratios, which assumes nothing about times but that
processes are started independently: layout of memory and pages, which differs from process to process, counts as
chance. Claims are made at ``error`` divided by the number of tests that there can be, so that all of them together are
wrong with a probability of ``error`` at most.

The ends are compared first, against the significance threshold. A build in between counts as fast or slow by the
geometric mean of 1 and the ratio of the ends: that finds the step where there is one. What lies so near to that mean
that the test cannot say is reported as it is: the slowdown then has several steps.
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
# Measures builds side by side in so many fresh processes each; returns time of each by that of the first, pair by pair.
Measure = Callable[[Sequence[str], int], Mapping[str, Sequence[float]]]
Name = TypeVar("Name", bound=Hashable)
Round = tuple[str, str, int | None, int]  # case, phase, repetitions and number of a sample


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    ``ends`` is the time of the last build by that of the first. With a step it lies between the builds ``before`` and
    ``after``, neighbours in the list, and ``step`` is the ratio of these two, measured side by side. With several the
    slowdown lies between ``before`` and ``after``, and those in between are neither as fast as the first nor as slow
    as the last. ``rest`` is what of the ratio of the ends the step does not explain, where that is beyond the
    significance threshold. ``ratios`` are those of all builds that were measured, by the first.
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
    """Tests at one level; ``processes`` is the least number of pairs in which one may dissent."""

    level: float

    @property
    def processes(self) -> int:
        """How many fresh processes of each build a look takes."""
        return next(n for n in range(2, 200) if tail(n, n - 1) <= self.level)

    def interval(self, ratios: Sequence[float]) -> Estimate:
        """The median ratio with the interval of all thresholds that the sign test cannot say it lies beyond; without
        bounds for too few ratios. Raises ``ValueError`` without any.
        """
        n, ordered = len(ratios), sorted(ratios)
        dissenting = [k for k in range((n + 1) // 2) if tail(n, n - k) <= self.level]
        if not dissenting:
            return Estimate(n, median(ratios), None, None)
        return Estimate(n, median(ratios), ordered[dissenting[-1]], ordered[n - 1 - dissenting[-1]])

    def side(self, ratios: Sequence[float], threshold: float) -> Literal["below", "above"] | None:
        """On which side of a threshold the median ratio lies; ``None`` where the test cannot say."""
        interval = self.interval(ratios) if ratios else Estimate(0, math.nan, None, None)
        if interval.low is None or interval.high is None:
            return None
        if interval.low > threshold:
            return "above"
        return "below" if interval.high < threshold else None


def tail(n: int, k: int) -> float:
    """The probability of k heads or more in n throws of a fair coin."""
    heads = sum(math.comb(n, i) for i in range(k, n + 1))
    return float(heads / 2**n)


def rule_for(builds: int, error: float) -> Rule:
    """The rule for so many builds: ends, halvings and the pair at the boundary are tested, each ``LOOKS`` times."""
    halvings = max(0, math.ceil(math.log2(max(1, builds - 1))))
    return Rule(error / ((halvings + 2) * LOOKS))


def search(
    builds: Sequence[str], measure: Measure, error: float = ERROR, threshold: float = SIGNIFICANCE_THRESHOLD
) -> Found:
    """Search a list of two builds or more, from old to new."""
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
    """On which side of a threshold a build lies, and the ratios that tell."""
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
    """The median ratio of paired times of ``head`` to those of ``base``, one for each process, of everything that
    ``name_of`` gives a name to. Pure.

    Times are corrected by how much the host slowed them. Rounds in which nobody else had the core count; all of a
    process where there is none. That costs certainty and adds no error: builds take turns in an order drawn by lot, so
    that a disturbance favours neither. Uncorrected, all rounds count as the clock gave them.
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
    """One ratio, over rounds that both have; nothing without any."""
    rounds = a.keys() & b.keys()
    if rounds and is_uncorrected:
        yield median(b[place].value / a[place].value for place in rounds)
        return
    undisturbed = {place for place in rounds if not (a[place].is_disturbed or b[place].is_disturbed)}
    if rounds:
        yield median(corrected_value(b[place]) / corrected_value(a[place]) for place in undisturbed or rounds)
