"""Two builds, compared over all results of a suite, with one false-alarm rate for the family. Pure.

Base and head are sampled alternately in pairs of fresh processes. Each pair yields one ratio per result, and a sign
test over these ratios gives its verdict, as in :mod:`ciphermark_analysis.build_search`. What disturbs the host disturbs
both builds of a pair, so no verdict rests on a correction for it.

A result has one false claim in either direction. Each test is made at ``error`` divided by the number of these claims
and looks: all verdicts but *undecided* are wrong together with a probability of ``error`` at most.
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

# Measures results in so many fresh processes of each build; all results where no names are given. Returns the time of
# the head by that of the base, pair by pair, of these results at least.
Measure = Callable[[Collection[Name] | None, int], Mapping[Name, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Compared(Generic[Name]):
    """One result: the time of the head by that of the base, with the interval that its verdict rests on."""

    name: Name
    ratio: Estimate
    verdict: Verdict


def rule_for_family(results: int, error: float) -> Rule:
    """The rule for so many results that are judged together."""
    return Rule(error / (max(1, results) * _DIRECTIONS * LOOKS))


def compare(
    measure: Measure[Name], processes: int, error: float, threshold: float = SIGNIFICANCE_THRESHOLD
) -> list[Compared[Name]]:
    """Judge all results that ``measure`` finds; undecided ones are measured once more, and judged over all pairs."""
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
