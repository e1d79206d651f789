"""The interval of a mean over cases, by a bootstrap over cases and, within each, over rounds. Pure, and seeded.

A suite's cases stand for others that it could have had, and the rounds of a case for others that could have been
measured: both are drawn again, with replacement. Variants are drawn together, the same cases and in each the same
rounds, because they shared them. The standard deviation of the means that are drawn makes a t interval of the
logarithms: with few cases percentiles of a bootstrap are too narrow (Hesterberg, "What Teachers Should Know About the
Bootstrap", The American Statistician 69, 2015, sections 4.4 and 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ciphermark_analysis.estimates import CONFIDENCE
from ciphermark_analysis.samples import Floats

_DRAWS = 2000
_MEDIANS = 200  # of a case's rounds, from which the draws take theirs
_FEWEST_SHARED = 6


@dataclass(frozen=True, slots=True)
class Rounds:
    """The times of a variant and of the fastest one in a case, by the number of the round; ``is_paired`` where the two
    took turns."""

    own: dict[int, float]
    fastest: dict[int, float]
    is_paired: bool

    @property
    def ratios(self) -> dict[int, float]:
        """Own time by that of the fastest, in rounds that both have."""
        return {number: self.own[number] / self.fastest[number] for number in self.own.keys() & self.fastest}


@dataclass(frozen=True, slots=True)
class Spread:
    """How the mean logarithms of ratios scatter: one column of ``draws`` per variant, over so many cases."""

    draws: Floats
    cases: int

    def half_width(self, variant: int, other: int | None = None) -> float:
        """Of the interval of a variant's mean logarithm, or of its difference from another's. Two cases at least."""
        values = self.draws[:, variant] - (0.0 if other is None else self.draws[:, other])
        # Resampling n of n values scatters less than drawing n new ones does, by this factor.
        corrected = float(values.std(ddof=1)) * math.sqrt(self.cases / (self.cases - 1))
        return t_quantile(self.cases - 1) * corrected


def spread(cases: Sequence[Sequence[Rounds]], seed: int = 0) -> Spread:
    """Each case has the rounds of every variant, in one order."""
    random = np.random.default_rng(seed)
    medians = np.stack([_medians(case, random) for case in cases])  # case, variant, draw of rounds
    count = len(cases)
    drawn = random.integers(0, count, (_DRAWS, count))
    rounds = random.integers(0, _MEDIANS, (_DRAWS, count))
    return Spread(medians.transpose(0, 2, 1)[drawn, rounds].mean(axis=1), count)


def _medians(case: Sequence[Rounds], random: np.random.Generator) -> Floats:
    """Logarithms of median ratios: a row per variant. Those who took turns are drawn by the same rounds."""
    ratios = [item.ratios for item in case if item.is_paired and item.ratios]
    shared = sorted(set.intersection(*map(set, ratios))) if ratios else []
    places = random.integers(0, max(1, len(shared)), (_MEDIANS, len(shared)))
    is_shared = len(shared) >= _FEWEST_SHARED
    return np.log([_drawn(item, shared if is_shared else [], places, random) for item in case])


def _drawn(
    item: Rounds, shared: Sequence[int], places: npt.NDArray[np.int64], random: np.random.Generator
) -> Floats:
    if not item.is_paired or not item.ratios:  # rounds that neighbours disturbed may leave none in common
        return _resampled(item.own, random) / _resampled(item.fastest, random)
    if not shared:
        return _resampled(item.ratios, random)
    return _median(np.array([item.ratios[number] for number in shared])[places])


def _resampled(values: dict[int, float], random: np.random.Generator) -> Floats:
    return _median(random.choice(np.array(list(values.values())), (_MEDIANS, len(values))))


def _median(values: Floats) -> Floats:
    result: Floats = np.median(values, axis=1)
    return result


def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The t with P(|T| ≤ t) = ``confidence``, of Student's distribution."""
    from scipy.special import stdtrit  # half a second of imports, for leaderboards alone

    return float(stdtrit(freedom, (1 + confidence) / 2))
