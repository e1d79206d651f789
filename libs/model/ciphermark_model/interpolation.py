"""Costs that a table lacks, from the measured ones around them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ciphermark_model.table import Cost, CostTable, Key

_MOST_TIMES = 8  # handles of an operation on several, against those measured
_SWITCHES_ALIKE = {"relinearize": "rotate"}
Point = tuple[int, int]  # ring dimension, data primes


class Costs:
    """Looks costs up, and interpolates between measured ones. Nothing is extrapolated.

    - Between ring dimensions and between numbers of primes: by :class:`Law`, only inside of the measured range.
    - Between chains with few and with many primes above 50 bits, linearly: each prime has its own transforms.
    - Between numbers of handles, linearly; from one measured number up to 8 times as many in proportion.
    - A relinearization where no product exists, as at level 0 in CKKS: the rotation there, which switches keys alike,
      times the ratio of both at the nearest number of primes.
    """

    def __init__(self, table: CostTable) -> None:
        self.table = table
        self._costs: dict[Key, Cost | None] = {}

    def of(self, key: Key) -> Cost | None:
        """The cost; ``None`` for one that the table does not cover."""
        if key not in self._costs:
            entry = self.table.entries.get(key)
            self._costs[key] = (
                entry or self._between_sizes(key) or self._between_counts(key) or self._by_rotation(key)
            )
        return self._costs[key]

    def _between_sizes(self, key: Key) -> Cost | None:
        if 0 < key.wide < key.used_primes:
            narrow, wide = (self.of(replace(key, wide=wide)) for wide in (0, key.used_primes))
            if narrow is not None and wide is not None:
                return mixed(narrow, wide, key.wide / key.used_primes)
        law = self._laws.get(_group(key))
        return None if law is None else law.cost((key.ring_dimension, key.primes))

    def _between_counts(self, key: Key) -> Cost | None:
        measured = self._counts.get(replace(key, count=1), {})
        if len(measured) == 0 or key.count in measured:
            return None
        below, above = (
            max((count for count in measured if count < key.count), default=None),
            min((count for count in measured if count > key.count), default=None),
        )
        if below is not None and above is not None:
            return mixed(measured[below], measured[above], (key.count - below) / (above - below))
        nearest = below or above or 1
        factor = key.count / nearest
        return measured[nearest].scaled(factor) if factor <= _MOST_TIMES else None

    def _by_rotation(self, key: Key) -> Cost | None:
        other = _SWITCHES_ALIKE.get(key.operation)
        rotation = other and self.table.entries.get(replace(key, operation=other))
        if not other or not rotation:
            return None
        ratios = []
        for primes in (key.primes + 1, key.primes + 2):
            there = _with_primes(key, primes)
            pair = [self.table.entries.get(replace(there, operation=name)) for name in (key.operation, other)]
            ratios += [own.median / other.median for own, other in [pair] if own and other]
        if not ratios:
            return None
        cost = rotation.scaled(ratios[0])
        spread = cost.median * abs(1 - ratios[-1] / ratios[0])
        return replace(cost, low=cost.low - spread, high=cost.high + spread)

    @cached_property
    def _laws(self) -> Mapping[Key, Law]:
        groups: dict[Key, dict[Point, Cost]] = {}
        for key, cost in self.table.entries.items():
            if key.digits in (0, key.primes) and key.wide in (0, key.used_primes):
                groups.setdefault(_group(key), {})[key.ring_dimension, key.primes] = cost
        return {group: Law(group, points) for group, points in groups.items()}

    @cached_property
    def _counts(self) -> Mapping[Key, Mapping[int, Cost]]:
        counts: dict[Key, dict[int, Cost]] = {}
        for key, cost in self.table.entries.items():
            if key.count > 1:
                counts.setdefault(replace(key, count=1), {})[key.count] = cost
        return counts


def _with_primes(key: Key, primes: int) -> Key:
    """The key at another number of data primes, in a chain of the same kind."""
    digits = primes if key.digits == key.primes else key.digits
    there = replace(key, primes=primes, digits=digits)
    return replace(there, wide=there.used_primes if key.wide == key.used_primes else 0)


def _group(key: Key) -> Key:
    """The key without the ring dimension and the number of primes; ``wide`` and ``digits`` become flags."""
    return replace(
        key,
        ring_dimension=0,
        primes=0,
        digits=min(key.digits, 1) if key.digits in (0, key.primes) else -key.digits,
        wide=min(key.wide, 1),
    )


def mixed(a: Cost, b: Cost, share: float) -> Cost:
    """The cost at ``share`` of the way from ``a`` to ``b``."""
    pairs = zip((a.median, a.low, a.high), (b.median, b.low, b.high), strict=True)
    median, low, high = ((1 - share) * one + share * other for one, other in pairs)
    return Cost(median, low, high, min(a.n, b.n), a.is_older or b.is_older)


@dataclass(frozen=True)
class Law:
    """The costs of one operation over ring dimensions N and numbers of data primes ℓ.

    A nonnegative least-squares fit of relative errors on Nℓ, N·log2(N)·transforms and, with d digits and k special
    primes, the bytes of the key; without a key, Nℓ² for conversions between bases. Transforms are (d + 2)(ℓ + k), or ℓ
    without a key. A measured point keeps its own value. Between two points the fit is multiplied by their deviations
    from it, interpolated in logarithms.
    """

    group: Key
    points: Mapping[Point, Cost]

    def cost(self, at: Point) -> Cost | None:
        """The cost at a point within the measured range, first along ℓ, then along N; ``None`` outside of it."""
        ring, primes = at
        along = self._along_primes(ring, primes)
        if along is not None:
            return along
        rings = sorted({each for each, _ in self.points})
        below = self._nearest((each for each in reversed(rings) if each < ring), primes)
        above = self._nearest((each for each in rings if each > ring), primes)
        if below is None or above is None:
            return None
        (low_ring, low), (high_ring, high) = below, above
        share = math.log2(ring / low_ring) / math.log2(high_ring / low_ring)
        return self._between(at, ((low_ring, primes), low), ((high_ring, primes), high), share)

    def _nearest(self, rings: Iterable[int], primes: int) -> tuple[int, Cost] | None:
        costs = ((ring, self._along_primes(ring, primes)) for ring in rings)
        return next(((ring, cost) for ring, cost in costs if cost is not None), None)

    def _along_primes(self, ring: int, primes: int) -> Cost | None:
        if (ring, primes) in self.points:
            return self.points[ring, primes]
        numbers = [number for each, number in self.points if each == ring]
        low = max((number for number in numbers if number < primes), default=None)
        high = min((number for number in numbers if number > primes), default=None)
        if low is None or high is None:
            return None
        ends = ((ring, low), self.points[ring, low]), ((ring, high), self.points[ring, high])
        return self._between((ring, primes), *ends, (primes - low) / (high - low))

    def _between(self, at: Point, a: tuple[Point, Cost], b: tuple[Point, Cost], share: float) -> Cost:
        """The fit at a point, times the deviations of two neighbors; the interval grows by that of the fit."""
        deviations = [math.log(cost.median / self._fitted(point)) for point, cost in (a, b)]
        median = self._fitted(at) * math.exp((1 - share) * deviations[0] + share * deviations[1])
        spread = abs(deviations[0] - deviations[1]) / 2
        low = min(cost.low / cost.median for _, cost in (a, b)) - spread
        high = max(cost.high / cost.median for _, cost in (a, b)) + spread
        costs = a[1], b[1]
        is_older = any(cost.is_older for cost in costs)
        return Cost(median, median * low, median * high, min(cost.n for cost in costs), is_older)

    def _fitted(self, point: Point) -> float:
        return float(np.dot(self._basis(point), self._coefficients))

    @cached_property
    def _coefficients(self) -> Sequence[float]:
        from scipy.optimize import nnls  # loads only where a cost is missing

        points = sorted(self.points)
        rows = np.array([np.array(self._basis(point)) / self.points[point].median for point in points])
        scales = np.maximum(rows.max(axis=0), np.finfo(float).tiny)
        coefficients, _ = nnls(rows / scales, np.ones(len(points)))
        return list(coefficients / scales)

    def _basis(self, point: Point) -> tuple[float, float, float]:
        ring, primes = point
        if not self.group.digits:
            return (ring * primes, ring * math.log2(ring) * primes, ring * primes**2)
        used = primes + self.group.special
        transforms = (primes + 2) * used
        return (ring * primes, ring * math.log2(ring) * transforms, 16 * primes * used * ring)
