"""Advice: which library, build and parameters to take within limits, and why. From predicted costs. Pure.

A candidate is one way to execute a computation: a variant, a parameter set, options and threads. One dominates another
if it needs no more time, memory and bytes, and surely less of one of them. Times with overlapping intervals are a tie.
Errors of predictions of one variant go together, so there the predicted times decide; of equal candidates the first.
The answer is the candidates that meet all limits and are not dominated, and the reason against each other one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, TypeAlias

from ciphermark_core.descriptor import Value
from ciphermark_core.model import EXACT_SCHEMES, ParameterSpec
from ciphermark_core.security import LEVEL_BY, Table
from ciphermark_model.quantity import Quantity

Objective = Literal["time", "memory", "bytes"]
Against = Literal["limit", "unsupported", "uncovered", "dominated"]
MAX_NEAREST = 5  # candidates that the answer names if none meets all limits


@dataclass(frozen=True, slots=True)
class Costs:
    """The predicted costs of one pass. ``None`` is unknown.

    ``latency_s`` is the time of all steps of both parties, and ``transfer_s`` the part of it that the link takes.
    ``evaluation_s`` is the server's computation alone, and ``operations_s`` its parts by operation. ``price`` is that
    of the evaluation. ``error`` is the largest absolute error of a ckks result; ``budget_bits`` is the noise budget
    that remains in bfv and bgv. ``security_2018`` and ``security_2024`` are classical levels; ``log_qp`` is log2 of the
    largest modulus.
    """

    latency_s: Quantity
    evaluation_s: Quantity
    transfer_s: float
    client_memory_bytes: float | None
    server_memory_bytes: float | None
    upload_bytes: float
    download_bytes: float
    key_bytes: float
    security_2018: int | None
    security_2024: int | None
    log_qp: float
    operations_s: Mapping[str, float]
    error: Quantity | None = None
    budget_bits: Quantity | None = None
    price: Quantity | None = None

    @property
    def memory_bytes(self) -> float:
        """The memory of the party that needs more; infinite if it is unknown."""
        parties = (self.client_memory_bytes, self.server_memory_bytes)
        return max(math.inf if value is None else value for value in parties)

    @property
    def traffic_bytes(self) -> float:
        """The bytes of a pass, both ways, without the keys, which are sent once."""
        return self.upload_bytes + self.download_bytes


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to execute a computation. ``ring_dimension`` and ``modulus_bits`` are those that the library resolves,
    as far as they are known.

    ``costs`` is ``None`` for a candidate without a prediction: then ``reason`` gives the library's words, or names
    what the cost table lacks (``is_uncovered``). ``missing_steps`` are steps around the evaluation that the table
    lacks: times are without them.
    """

    variant: str
    threads: int
    request: ParameterSpec
    options: Mapping[str, Value]
    ring_dimension: int
    modulus_bits: tuple[int, ...] | None = None
    costs: Costs | None = None
    reason: str = ""
    is_uncovered: bool = False
    missing_steps: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether its results are exact."""
        return self.request.scheme in EXACT_SCHEMES


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer must keep; ``None`` is no limit.

    ``error`` is the largest absolute error, which exact results meet. ``throughput`` is in passes per second of the
    server. ``libraries`` are variants, all if empty. ``price`` is that of a pass.
    """

    security: int = 128
    security_table: Table = "2018"
    error: float | None = None
    exact: bool = False
    latency: float | None = None
    throughput: float | None = None
    client_memory: float | None = None
    server_memory: float | None = None
    upload: float | None = None
    download: float | None = None
    keys: float | None = None
    price: float | None = None
    libraries: tuple[str, ...] = ()
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A cost with a limit of the same name. ``unit`` is that of the value. ``is_floor``: the limit is a minimum.

    A limit is judged by the predicted value. With ``is_cautious`` it is judged by the unfavorable end of the interval:
    a result outside such a limit is incorrect, not only late.
    """

    name: str
    unit: str
    of: Callable[[Costs], Quantity | None]
    is_floor: bool = False
    is_cautious: bool = False


def _exactly(value: float | None) -> Quantity | None:
    return None if value is None else Quantity(value, value, value)


def _per_second(costs: Costs) -> Quantity:
    """The inverse of the time of the evaluation."""
    time = costs.evaluation_s
    return Quantity(1 / time.value, 1 / time.high, 1 / time.low if time.low else math.inf)


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        measure.name: measure
        for measure in (
            Measure("latency", "s", lambda costs: costs.latency_s),
            Measure("throughput", "1/s", _per_second, is_floor=True),
            Measure("client_memory", "bytes", lambda costs: _exactly(costs.client_memory_bytes)),
            Measure("server_memory", "bytes", lambda costs: _exactly(costs.server_memory_bytes)),
            Measure("upload", "bytes", lambda costs: _exactly(costs.upload_bytes)),
            Measure("download", "bytes", lambda costs: _exactly(costs.download_bytes)),
            Measure("keys", "bytes", lambda costs: _exactly(costs.key_bytes)),
            Measure("price", "price", lambda costs: costs.price),
            Measure("error", "", lambda costs: costs.error, is_cautious=True),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Miss:
    """A limit that a candidate misses. ``factor`` is by how much the limit would have to give, at least 1; infinite if
    no such factor exists. ``value`` is ``None`` if it is unknown.
    """

    limit: str
    value: float | str | None
    allowed: float | str
    factor: float = math.inf
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate against another one: ratios of the other's costs to its own.

    ``is_tie``: the intervals of both times overlap. ``operation`` takes the most time more in the other, by
    ``difference_s``; empty if none does.
    """

    time: float
    is_tie: bool
    memory: float
    traffic: float
    operation: str = ""
    difference_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """A recommended candidate. ``index`` is its place among all candidates. Points that do not differ surely in the
    objective share a ``rank``. ``next`` compares it with the point after it. ``uncertain`` names the limits within its
    intervals.
    """

    index: int
    rank: int
    next: Comparison | None
    uncertain: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate that the answer leaves out: it misses limits, is dominated by another one (``by``, compared with
    it), or has no prediction (``reason``).
    """

    index: int
    against: Against
    misses: tuple[Miss, ...] = ()
    by: int | None = None
    comparison: Comparison | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer: recommended points in the order of the objective, and all others with the reason against each.

    ``nearest`` are the candidates that come nearest to the limits; empty if any point meets them.
    """

    points: tuple[Point, ...]
    left_out: tuple[LeftOut, ...]
    nearest: tuple[LeftOut, ...]


_Pair: TypeAlias = tuple[int, Costs]
_OBJECTIVES: Mapping[Objective, Callable[[Costs], float]] = MappingProxyType(
    {
        "time": lambda costs: costs.latency_s.value,
        "memory": lambda costs: costs.memory_bytes,
        "bytes": lambda costs: costs.traffic_bytes,
    }
)
OBJECTIVES: tuple[Objective, ...] = tuple(_OBJECTIVES)


def advise(candidates: Sequence[Candidate], limits: Limits, objective: Objective = "time") -> Advice:
    """The advice for candidates within limits, ranked by the objective."""
    left_out: list[LeftOut] = []
    able: list[_Pair] = []
    for index, candidate in enumerate(candidates):
        if candidate.costs is None:
            kind: Against = "uncovered" if candidate.is_uncovered else "unsupported"
            left_out.append(LeftOut(index, kind, reason=candidate.reason))
        elif missed := misses(candidate, limits):
            left_out.append(LeftOut(index, "limit", missed))
        else:
            able.append((index, candidate.costs))
    front = [pair for pair in able if not any(_beats(other, pair, candidates) for other in able)]
    names = {index for index, _ in front}
    left_out += [_dominated(pair, front, able, candidates) for pair in able if pair[0] not in names]
    nearest = () if able else _nearest(left_out)
    front.sort(key=lambda pair: _order(pair, objective))
    points = [
        Point(index, rank, following, _uncertain(candidates[index], costs, limits))
        for (index, costs), rank, following in zip(
            front, _ranks(front, objective), _comparisons(front), strict=True
        )
    ]
    return Advice(tuple(points), tuple(sorted(left_out, key=lambda item: item.index)), nearest)


def misses(candidate: Candidate, limits: Limits) -> tuple[Miss, ...]:
    """The limits that a candidate with costs misses."""
    costs = candidate.costs
    assert costs is not None
    missed = [*_kinds_missed(candidate, costs, limits)]
    for measure in MEASURES.values():
        allowed = getattr(limits, measure.name)
        if allowed is None or (measure.name == "error" and candidate.is_exact):
            continue
        quantity = measure.of(costs)
        if quantity is None:
            missed.append(Miss(measure.name, None, allowed, unit=measure.unit))
            continue
        value = (
            (quantity.low if measure.is_floor else quantity.high) if measure.is_cautious else quantity.value
        )
        if value < allowed if measure.is_floor else value > allowed:
            factor = _ratio(allowed, value) if measure.is_floor else _ratio(value, allowed)
            missed.append(Miss(measure.name, value, allowed, factor, measure.unit))
    return tuple(missed)


def _kinds_missed(candidate: Candidate, costs: Costs, limits: Limits) -> Iterable[Miss]:
    """The missed limits that are no amount."""
    if limits.libraries and candidate.variant not in limits.libraries:
        yield Miss("libraries", candidate.variant, ", ".join(limits.libraries))
    if limits.exact and not candidate.is_exact:
        yield Miss("exact", f"{candidate.request.scheme} is approximate", "exact")
    level: int | None = getattr(costs, LEVEL_BY[limits.security_table])
    if limits.security and (level or 0) < limits.security:
        yield Miss("security", level, limits.security, unit="bits")
    if limits.threads is not None and candidate.threads > limits.threads:
        yield Miss("threads", candidate.threads, limits.threads, candidate.threads / limits.threads)
    budget = costs.budget_bits
    if budget is not None and budget.low <= 0:
        yield Miss("noise_budget", budget.low, 0, unit="bits")


def dominates(a: Costs, b: Costs, *, is_of_one_variant: bool = False) -> bool:
    """Whether ``a`` needs no more time, memory and bytes than ``b``, and surely less of one of them; of one variant,
    less by prediction.
    """
    time, least = (
        (a.latency_s.value, b.latency_s.value) if is_of_one_variant else (a.latency_s.high, b.latency_s.low)
    )
    return _is_no_worse(a, b) and (
        time < least or a.memory_bytes < b.memory_bytes or a.traffic_bytes < b.traffic_bytes
    )


def _is_no_worse(a: Costs, b: Costs) -> bool:
    return all(of(a) <= of(b) for of in _OBJECTIVES.values())


def _beats(a: _Pair, b: _Pair, candidates: Sequence[Candidate]) -> bool:
    """Whether a candidate dominates another one, or is the first of equal ones of a variant."""
    is_of_one_variant = candidates[a[0]].variant == candidates[b[0]].variant
    if dominates(a[1], b[1], is_of_one_variant=is_of_one_variant):
        return True
    return is_of_one_variant and a[0] < b[0] and _is_no_worse(a[1], b[1])


def compared(a: Costs, b: Costs) -> Comparison:
    """``a`` against ``b``."""
    more = {
        name: b.operations_s.get(name, 0.0) - a.operations_s.get(name, 0.0)
        for name in sorted({*a.operations_s, *b.operations_s})
    }
    operation = max(more, key=lambda name: more[name], default="")
    difference = more.get(operation, 0.0)
    return Comparison(
        time=_ratio(b.latency_s.value, a.latency_s.value),
        is_tie=_overlap(a.latency_s, b.latency_s),
        memory=_ratio(b.memory_bytes, a.memory_bytes),
        traffic=_ratio(b.traffic_bytes, a.traffic_bytes),
        operation=operation if difference > 0 else "",
        difference_s=max(difference, 0.0),
    )


def regret(ranking: Sequence[Hashable], measured_s: Mapping[Hashable, float]) -> float:
    """How much more time the first of a ranking takes than the fastest of everything measured, as a share: 0 is the
    best choice. Raises ``KeyError`` if the first one was not measured.
    """
    return measured_s[ranking[0]] / min(measured_s.values()) - 1


def _overlap(a: Quantity, b: Quantity) -> bool:
    return a.low <= b.high and b.low <= a.high


def _ratio(a: float, b: float) -> float:
    """``a / b``; 1 for equal values, infinite or not."""
    if a == b:
        return 1.0
    return a / b if b else math.inf


def _order(pair: _Pair, objective: Objective) -> tuple[float, ...]:
    """The objective first, then the others, then the place."""
    index, costs = pair
    return (_OBJECTIVES[objective](costs), *(of(costs) for of in _OBJECTIVES.values()), index)


def _ranks(front: Sequence[_Pair], objective: Objective) -> list[int]:
    """The ranks of points in order: a tie with the first of a rank shares it."""
    ranks: list[int] = []
    leader: Costs | None = None
    for place, (_, costs) in enumerate(front, 1):
        if leader is None or not _is_tie(leader, costs, objective):
            leader = costs
            ranks.append(place)
        else:
            ranks.append(ranks[-1])
    return ranks


def _is_tie(a: Costs, b: Costs, objective: Objective) -> bool:
    if objective == "time":
        return _overlap(a.latency_s, b.latency_s)
    return _OBJECTIVES[objective](a) == _OBJECTIVES[objective](b)


def _comparisons(front: Sequence[_Pair]) -> list[Comparison | None]:
    """Each point against the next one."""
    return [*(compared(a, b) for (_, a), (_, b) in pairwise(front)), *[None][: len(front)]]


def _uncertain(candidate: Candidate, costs: Costs, limits: Limits) -> tuple[str, ...]:
    """The limits within the intervals of a candidate that meets them."""
    names = []
    for measure in MEASURES.values():
        allowed, quantity = getattr(limits, measure.name), measure.of(costs)
        if allowed is None or quantity is None or (measure.name == "error" and candidate.is_exact):
            continue
        if quantity.low < allowed if measure.is_floor else quantity.high > allowed:
            names.append(measure.name)
    return tuple(names)


def _dominated(
    pair: _Pair, front: Sequence[_Pair], able: Sequence[_Pair], candidates: Sequence[Candidate]
) -> LeftOut:
    """A dominated candidate, with the fastest that dominates it: one of the answer, if there is one."""
    index, costs = pair
    for several in (front, able):
        better = [other for other in several if _beats(other, pair, candidates)]
        if better:
            by, own = min(better, key=lambda other: _order(other, "time"))
            return LeftOut(index, "dominated", by=by, comparison=compared(own, costs))
    raise AssertionError("dominated by none")


def _nearest(left_out: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """The candidates whose limits would have to give least: fewest kinds, then the smallest product of factors."""

    def distance(item: LeftOut) -> tuple[int, float]:
        factors = [miss.factor for miss in item.misses]
        finite = [math.log(factor) for factor in factors if math.isfinite(factor)]
        return len(factors) - len(finite), sum(finite)

    missing = (item for item in left_out if item.against == "limit")
    return tuple(sorted(missing, key=distance)[:MAX_NEAREST])


def operations_of(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Seconds by operation, from shares of operations at levels; the longest first."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for operation, own in shares:
        seconds[operation] += own
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))
