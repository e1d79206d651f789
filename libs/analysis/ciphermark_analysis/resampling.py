"""The interval of a mean over cases, by a bootstrap over cases and, within each, over rounds. Pure, and seeded.

A suite's cases are a sample of possible cases, and the rounds of a case a sample of possible rounds: both are resampled
with replacement. All variants share the resampled cases and rounds, because they shared the measured ones. The standard
deviation of the resampled means gives a t interval of the logarithms. With few cases, percentiles of a bootstrap are
too narrow (Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69, 2015, sections
4.4 and 5.2).
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
_MEDIANS = 200  # resampled medians of a case's rounds, from which the draws choose
_FEWEST_SHARED = 6


@dataclass(frozen=True, slots=True)
class Rounds:
    """The times of a variant and of the fastest one in a case, by number of the round.

    ``is_paired`` where the two were interleaved.
    """

    own: dict[int, float]
    fastest: dict[int, float]
    is_paired: bool

    @property
    def ratios(self) -> dict[int, float]:
        """The variant's time divided by the fastest one's, in rounds that both have."""
        return {number: self.own[number] / self.fastest[number] for number in self.own.keys() & self.fastest}


@dataclass(frozen=True, slots=True)
class Spread:
    """The scatter of mean logarithms of ratios: one column of ``draws`` per variant, over ``cases`` cases."""

    draws: Floats
    cases: int

    def half_width(self, variant: int, other: int | None = None) -> float:
        """Half-width of the interval of a variant's mean logarithm, or of its difference from another's.

        Requires at least two cases.
        """
        values = self.draws[:, variant] - (0.0 if other is None else self.draws[:, other])
        # Resampling n of n values scatters less than drawing n new values, by this factor.
        corrected = float(values.std(ddof=1)) * math.sqrt(self.cases / (self.cases - 1))
        return t_quantile(self.cases - 1) * corrected


def spread(cases: Sequence[Sequence[Rounds]], seed: int = 0) -> Spread:
    """Resample cases and rounds. Each case has the rounds of every variant, in the same order."""
    random = np.random.default_rng(seed)
    medians = np.stack([_medians(case, random) for case in cases])  # case, variant, draw of rounds
    count = len(cases)
    drawn = random.integers(0, count, (_DRAWS, count))
    rounds = random.integers(0, _MEDIANS, (_DRAWS, count))
    return Spread(medians.transpose(0, 2, 1)[drawn, rounds].mean(axis=1), count)


def _medians(case: Sequence[Rounds], random: np.random.Generator) -> Floats:
    """Logarithms of median ratios, a row per variant. Interleaved variants share the resampled rounds."""
    ratios = [item.ratios for item in case if item.is_paired and item.ratios]
    shared = sorted(set.intersection(*map(set, ratios))) if ratios else []
    places = random.integers(0, max(1, len(shared)), (_MEDIANS, len(shared)))
    is_shared = len(shared) >= _FEWEST_SHARED
    return np.log([_drawn(item, shared if is_shared else [], places, random) for item in case])


def _drawn(
    item: Rounds, shared: Sequence[int], places: npt.NDArray[np.int64], random: np.random.Generator
) -> Floats:
    if not item.is_paired or not item.ratios:  # without disturbed rounds, the two may have none in common
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
    from scipy.special import stdtrit  # half a second of imports, only for leaderboards

    return float(stdtrit(freedom, (1 + confidence) / 2))
