"""Two builds, compared over all results of a suite, with one false-alarm rate for the family. Pure.

Base and head are sampled alternately in pairs of fresh processes. Each pair yields one ratio per result, and a sign
test over these ratios gives its verdict, as in :mod:`ciphermark_analysis.build_search`. Host interference affects both
builds of a pair, so no verdict depends on a correction for it.

Each result allows one false claim per direction. Each test has the level ``error`` divided by the number of claims and
looks. The probability that any verdict except *undecided* is incorrect is then at most ``error``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from ciphermark_analysis.build_search import LOOKS, Name, Rule
from ciphermark_analysis.estimates import Estimate, inverse
from ciphermark_analysis.family import Verdict, decided
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD

_DIRECTIONS = 2

# Measures the named results, or all without names, in a number of fresh processes of each build. Returns the ratios
# head/base of at least these results, pair by pair.
Measure = Callable[[Collection[Name] | None, int], Mapping[Name, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Compared(Generic[Name]):
    """One result: the ratio of times head/base, with the interval that determines its verdict."""

    name: Name
    ratio: Estimate
    verdict: Verdict


def rule_for_family(results: int, error: float) -> Rule:
    """The rule for a number of results that are judged together."""
    return Rule(error / (max(1, results) * _DIRECTIONS * LOOKS))


def compare(
    measure: Measure[Name], processes: int, error: float, threshold: float = SIGNIFICANCE_THRESHOLD
) -> list[Compared[Name]]:
    """Judge all results that ``measure`` returns; undecided ones are measured once more, and judged over all pairs."""
    ratios = {name: list(values) for name, values in measure(None, processes).items()}
    rule = rule_for_family(len(ratios), error)
    verdicts = {name: _judged(rule, name, values, threshold) for name, values in ratios.items()}
    for _ in range(LOOKS - 1):
        undecided = [name for name, item in verdicts.items() if item.verdict == "undecided"]
        if not undecided:
            break
        more = measure(undecided, processes)
        for name in undecided:
            ratios[name] += more.get(name, ())
            verdicts[name] = _judged(rule, name, ratios[name], threshold)
    return list(verdicts.values())


def _judged(rule: Rule, name: Name, ratios: Sequence[float], threshold: float) -> Compared[Name]:
    ratio = rule.interval(ratios)
    return Compared(name, ratio, decided(inverse(ratio), threshold))
