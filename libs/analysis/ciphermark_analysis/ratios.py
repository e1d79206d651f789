"""Ratios of times of variants that were measured with the same workload and parameters, sample by sample.

Interleaved trials overlap in time: their samples are paired by process and ordinal. For trials of a run that was
resumed in between, or too large to be alive together, medians are divided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ciphermark_analysis import METHOD, correction
from ciphermark_analysis.estimates import (
    Estimate,
    Estimates,
    Segments,
    Verdict,
    inverse,
    ratios_of,
    verdict,
)
from ciphermark_analysis.results import distinct, optional
from ciphermark_analysis.samples import NO_REPETITIONS, Booleans, Floats, Group, Integers, Place
from ciphermark_analysis.wins import Standing, standings
from ciphermark_core.encryption import bears_on
from ciphermark_core.security import COMPARED_BY

Kind = Literal["equal_security", "equal_security_2024", "across_security_levels", "hexl"]
KINDS: tuple[Kind, ...] = ("equal_security", "equal_security_2024", "across_security_levels", "hexl")
_LEVEL: Mapping[Kind, Callable[[Group], int | None]] = {
    "equal_security": attrgetter(COMPARED_BY["2018"]),
    "equal_security_2024": attrgetter(COMPARED_BY["2024"]),
    "across_security_levels": lambda group: None,
    "hexl": lambda group: getattr(group, COMPARED_BY[group.security_table]),
}

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ratio of a group's time to a base group's, at one place and number of repetitions; a row of the table ``ratio``.

    For the ``kind`` ``equal_security``, ``equal_security_2024`` or ``across_security_levels``, the base is the group
    with the fastest median: of one security level by the 2018 or 2024 table, or of all levels. ``verdict`` is about the
    group. For ``hexl``, the group is a library without HEXL, the base the same with it, and ``verdict`` is about the
    base; ``rank`` and ``standing`` are ``None``.

    ``median`` is that of the group. ``is_paired``: from ``n`` ratios of samples of one round. Otherwise it is the ratio
    of two medians, and ``n`` the smaller number of samples. A ratio of disturbed samples has no interval.
    ``undisturbed_share`` (of pairs) is ``None`` where the host was not observed or nothing is paired.

    Names with ``uncorrected_`` are the same statistics without correction, with their own base: the fastest group by
    uncorrected median.
    """

    kind: Kind
    group: int
    stage: str
    party: str | None
    step: str | None
    repetitions: int | None
    base: int
    rank: int | None
    standing: Standing | None
    median: float
    n: int
    ratio: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: Verdict
    is_paired: bool
    undisturbed_share: float | None
    uncorrected_base: int
    uncorrected_rank: int | None
    uncorrected_standing: Standing | None
    uncorrected_median: float
    uncorrected_n: int
    uncorrected_ratio: float | None
    uncorrected_ci_low: float | None
    uncorrected_ci_high: float | None
    uncorrected_verdict: Verdict
    uncorrected_is_paired: bool
    method: int


def ratios(comparison_groups: Sequence[Sequence[Group]], kinds: Sequence[Kind] = KINDS) -> list[Ratio]:
    """The ratios within each of several comparison groups: the groups of one run with equal ``comparison_group``.

    Groups that did not end ``ok`` and reference libraries are left out. A group that is compared with no other has
    ratio 1 to itself and the standing ``alone``. One call for many comparison groups is far faster than one call each.
    """
    members = [
        (number, group)
        for number, groups in enumerate(comparison_groups)
        for group in groups
        if group.status == "ok" and not group.is_reference
    ]
    ways = [_times(members, is_corrected) for is_corrected in (True, False)]
    rows = [_rows(times, kinds) for times in ways]
    return [
        _ratio(kind, corrected, uncorrected)
        for kind in kinds
        for corrected, uncorrected in zip(*(way[kind] for way in rows), strict=True)
    ]


def relative(comparison_groups: Sequence[Sequence[Group]], kind: Kind, variant: str) -> list[Ratio]:
    """The ratios of a ranked ``kind`` to the times of one variant instead of the fastest; none without a standing, and
    none where that variant was not measured. Its fastest group has the rank 1, all others 2.
    """
    members = [
        (number, group)
        for number, groups in enumerate(comparison_groups)
        for group in groups
        if group.status == "ok" and not group.is_reference
    ]
    ways = []
    for is_corrected in (True, False):
        times = _times(members, is_corrected)
        contests = [] if times is None else _contests_with(times, kind, variant)
        ways.append([] if times is None else _of_contests(times, contests, is_ranked=True))
    return [_ratio(kind, corrected, uncorrected) for corrected, uncorrected in zip(*ways, strict=True)]


def _contests_with(times: _Times, kind: Kind, variant: str) -> list[_Contest]:
    """Each segment against the fastest of a variant's that it is ranked with, in the order of segments."""
    contests = []
    for partition in _partitions(times, kind):
        own = (contest.own for contest in partition if times.group[contest.own].variant == variant)
        base = next(own, None)
        if base is not None:
            contests += [_Contest(each.own, base, 1 if each.own == base else 2) for each in partition]
    return sorted(contests, key=attrgetter("own"))


def _ratio(kind: Kind, corrected: _Row, uncorrected: _Row) -> Ratio:
    place, repetitions = corrected.place, corrected.repetitions
    return Ratio(
        kind=kind,
        group=corrected.group,
        stage=place.stage,
        party=place.party,
        step=place.step,
        repetitions=None if repetitions == NO_REPETITIONS else repetitions,
        base=corrected.base,
        rank=corrected.rank,
        standing=corrected.standing,
        median=corrected.median,
        n=corrected.ratio.n,
        ratio=_number(corrected.ratio.median),
        ci_low=corrected.ratio.low,
        ci_high=corrected.ratio.high,
        verdict=corrected.verdict,
        is_paired=corrected.is_paired,
        undisturbed_share=corrected.undisturbed_share,
        uncorrected_base=uncorrected.base,
        uncorrected_rank=uncorrected.rank,
        uncorrected_standing=uncorrected.standing,
        uncorrected_median=uncorrected.median,
        uncorrected_n=uncorrected.ratio.n,
        uncorrected_ratio=_number(uncorrected.ratio.median),
        uncorrected_ci_low=uncorrected.ratio.low,
        uncorrected_ci_high=uncorrected.ratio.high,
        uncorrected_verdict=uncorrected.verdict,
        uncorrected_is_paired=uncorrected.is_paired,
        method=METHOD,
    )


def _number(ratio: float) -> float | None:
    return None if math.isnan(ratio) else ratio


@dataclass(frozen=True, slots=True)
class _Contest:
    """Two segments whose times are compared; ``rank`` is that of the first, where it has one."""

    own: int
    base: int
    rank: int | None


@dataclass(slots=True)
class _Row:
    """A ratio, corrected or not; its standing follows from the others of its partition."""

    group: int
    place: Place
    repetitions: int
    base: int
    rank: int | None
    median: float
    ratio: Estimate
    verdict: Verdict
    is_paired: bool
    undisturbed_share: float | None
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class _Times:
    """Times of groups by segment: one group at one place and number of repetitions.

    Segments with equal ``contest``, a comparison group with a key of place and repetitions, are compared.

    Columns named ``round_…`` have a row for each segment and round, in ascending order of ``round_code``: the segment
    times ``rounds`` plus the number of the round. A round is a process and an ordinal; it lasts from the start of its
    trial to the end.
    """

    group: Sequence[Group]
    contest: Sequence[tuple[int, int]]
    place: Sequence[Place]
    repetitions: Sequence[int]
    estimates: Estimates
    slowdown: Floats
    is_disturbed: Booleans
    rounds: int
    round_code: Integers
    round_value: Floats
    round_slowdown: Floats
    round_is_disturbed: Booleans
    round_start: Integers
    round_end: Integers


def _times(members: Sequence[tuple[int, Group]], is_corrected: bool) -> _Times | None:
    """The times of groups, each with the number of its comparison group; ``None`` where there are none."""
    groups = [group for _, group in members]
    phases: dict[str, Place] = {}
    columns = [_columns(number, group, is_corrected, phases) for number, group in enumerate(groups)]
    if not any(len(column[0]) for column in columns):
        return None
    of_group, phase, repetitions, process, ordinal, value, slowdown, disturbed, start, end = (
        np.concatenate(parts) for parts in zip(*columns, strict=True)
    )
    keys, key = distinct(phase, repetitions)
    codes, segment = np.unique(of_group * len(keys) + key, return_inverse=True)
    numbered = [divmod(code, len(keys)) for code in codes.tolist()]
    of_segment = [groups[number] for number, _ in numbered]
    is_sequential = np.array([group.is_sequential for group in of_segment])
    is_disturbed = disturbed.astype(np.bool_)
    counted = Segments.of(*correction.corrected(value, slowdown, is_disturbed, segment))
    is_lost = correction.are_lost(is_disturbed, segment)
    places = list(phases.values())
    turns, turn = distinct(process, ordinal)
    order = np.argsort(segment * len(turns) + turn, kind="stable")
    code = (segment * len(turns) + turn)[order]
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    return _Times(
        group=of_segment,
        contest=[(members[number][0], place) for number, place in numbered],
        place=[places[keys[place][0]] for _, place in numbered],
        repetitions=[keys[place][1] for _, place in numbered],
        estimates=correction.without_intervals(counted.estimates(is_sequential), is_lost),
        slowdown=correction.mean_slowdowns(slowdown, is_disturbed, segment),
        is_disturbed=is_lost,
        rounds=len(turns),
        round_code=code[starts],
        round_value=np.maximum.reduceat((value / slowdown)[order], starts),
        round_slowdown=np.maximum.reduceat(slowdown[order], starts),
        round_is_disturbed=np.logical_or.reduceat(is_disturbed[order], starts),
        round_start=np.maximum.reduceat(start[order], starts),
        round_end=np.minimum.reduceat(end[order], starts),
    )


def _columns(
    number: int, group: Group, is_corrected: bool, phases: dict[str, Place]
) -> tuple[npt.NDArray[Any], ...]:
    """Columns of a group's times, and an entry in ``phases`` for every phase.

    They are: group, phase (an index into ``phases``), repetitions, process, ordinal, value, slowdown, whether it is
    disturbed, and start and end of its trial (µs).
    """
    samples = group.samples
    is_time = np.array([place.metric == "time" for place in samples.places], np.bool_)
    is_kept = is_time[samples.place] & ~samples.is_warmup
    for place, is_timed in zip(samples.places, is_time, strict=True):
        if is_timed:
            phases.setdefault(place.phase, place)
    indices = {phase: index for index, phase in enumerate(phases)}
    phase = np.array([indices.get(place.phase, 0) for place in samples.places], np.int64)
    start = [(trial.started_at - _EPOCH) // _MICROSECOND for trial in group.trials]
    end = [
        (trial.started_at + timedelta(seconds=trial.duration_s) - _EPOCH) // _MICROSECOND
        for trial in group.trials
    ]
    trial, value = samples.trial[is_kept], samples.value[is_kept]
    host = (samples.slowdown[is_kept], samples.is_disturbed[is_kept])
    return (
        np.full(len(trial), number),
        phase[samples.place[is_kept]],
        samples.repetitions[is_kept],
        np.array([trial.process for trial in group.trials], np.int64)[trial],
        samples.ordinal[is_kept],
        value,
        *(host if is_corrected else correction.ignored(value)),
        np.array(start, np.int64)[trial],
        np.array(end, np.int64)[trial],
    )


def _rows(times: _Times | None, kinds: Sequence[Kind]) -> dict[Kind, list[_Row]]:
    if times is None:
        return {kind: [] for kind in kinds}
    rows: dict[Kind, list[_Row]] = {}
    ranked: list[tuple[list[list[_Contest]], list[_Row]]] = []
    for kind in kinds:
        if kind == "hexl":
            rows[kind] = _of_contests(times, _of_hexl(times), is_ranked=False)
            continue
        partitions = _partitions(times, kind)
        # Where all are equally secure, levels make no difference.
        alike = next((of for others, of in ranked if others == partitions), None)
        rows[kind] = alike or _ranked(times, partitions)
        ranked.append((partitions, rows[kind]))
    return rows


def _ranked(times: _Times, partitions: Sequence[Sequence[_Contest]]) -> list[_Row]:
    """A row for each segment, with its standing."""
    contests = [contest for partition in partitions for contest in partition]
    rows = _of_contests(times, contests, is_ranked=True)
    for start, end in pairwise(np.cumsum([0, *map(len, partitions)]).tolist()):
        partition = rows[start:end]  # the fastest first
        is_disturbed = [bool(times.is_disturbed[contest.own]) for contest in contests[start:end]]
        verdicts = [row.verdict for row in partition]
        for row, standing in zip(partition, standings(0, verdicts, is_disturbed), strict=True):
            row.standing = standing
    order = {contest.own: row for contest, row in zip(contests, rows, strict=True)}
    return [order[segment] for segment in range(len(times.group))]


def _partitions(times: _Times, kind: Kind) -> list[list[_Contest]]:
    """Partition the segments of one place and number of repetitions into those ranked together.

    Composite operations are ranked separately, as are security levels, unless across levels, and kinds of encryption
    that affect the time. The base is the fastest by median, and ranks follow medians. Segments with only disturbed
    samples come last: their times are no evidence of speed.
    """
    members: dict[tuple[object, ...], list[int]] = {}
    for segment, group in enumerate(times.group):
        place = times.place[segment]
        key = group.encryption if bears_on(place.stage, place.step or place.party) else None
        apart = (times.contest[segment], group.is_composite, _LEVEL[kind](group), key)
        members.setdefault(apart, []).append(segment)
    medians = times.estimates.median.tolist()
    partitions = []
    for segments in members.values():
        ordered = sorted(
            (bool(times.is_disturbed[item]), medians[item], times.group[item].variant, item)
            for item in segments
        )
        best = ordered[0][-1]
        ranks = [1 + sum(other[:-1] < mine[:-1] for other in ordered) for mine in ordered]
        partitions.append([_Contest(item[-1], best, rank) for item, rank in zip(ordered, ranks, strict=True)])
    return partitions


def _of_hexl(times: _Times) -> list[_Contest]:
    """Pairs of a build without HEXL and one of its library with it, at one level by the table of their request."""
    with_hexl: dict[tuple[object, ...], list[int]] = {}
    for segment, group in enumerate(times.group):
        if group.hexl:
            with_hexl.setdefault(_traits(times, segment), []).append(segment)
    return [
        _Contest(own, base, None)
        for own, group in enumerate(times.group)
        if group.hexl is False and group.library is not None
        for base in with_hexl.get(_traits(times, own), ())
    ]


def _traits(times: _Times, segment: int) -> tuple[object, ...]:
    group = times.group[segment]
    return times.contest[segment], group.library, group.is_composite, _LEVEL["hexl"](group)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Paired samples, of one round of both sides of a contest, in ascending order of the contest's number."""

    contest: Integers
    ratio: Floats
    slowdown: Floats
    is_disturbed: Booleans


def _pairs(times: _Times, own: Integers, base: Integers, is_overlapping: bool) -> _Pairs:
    """The pairs of segments; with ``is_overlapping``, only of trials that overlap in time."""
    segment = times.round_code // times.rounds
    first = np.searchsorted(segment, own)
    counts = np.searchsorted(segment, own, side="right") - first
    contest = np.repeat(np.arange(len(own)), counts)
    mine = np.arange(len(contest)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    wanted = base[contest] * times.rounds + times.round_code[mine] % times.rounds
    other = np.minimum(np.searchsorted(times.round_code, wanted), len(times.round_code) - 1)
    is_pair = (times.round_code[other] == wanted) & (times.round_value[other] > 0)
    if is_overlapping:
        start = np.maximum(times.round_start[mine], times.round_start[other])
        is_pair &= start <= np.minimum(times.round_end[mine], times.round_end[other])
    mine, other = mine[is_pair], other[is_pair]
    return _Pairs(
        contest[is_pair],
        times.round_value[mine] / times.round_value[other],
        np.maximum(times.round_slowdown[mine], times.round_slowdown[other]),
        times.round_is_disturbed[mine] | times.round_is_disturbed[other],
    )


def _of_contests(times: _Times, contests: Sequence[_Contest], is_ranked: bool) -> list[_Row]:
    """The ratios of contests, without standings: of the pairs that count, or of the two medians without such pairs.

    Ratios for HEXL (not ``is_ranked``) use pairs only.
    """
    own, base = (np.array([getattr(item, side) for item in contests], np.int64) for side in ("own", "base"))
    pairs = _pairs(times, own, base, is_overlapping=is_ranked)
    may_be_disturbed = times.is_disturbed[own] | times.is_disturbed[base] | (not is_ranked)
    is_counted = correction.counts(pairs.is_disturbed, pairs.contest, may_be_disturbed[pairs.contest])
    paired, segment = np.unique(pairs.contest[is_counted], return_inverse=True)
    is_paired = np.isin(np.arange(len(contests)), paired)
    estimates = _unpaired(times.estimates, own, base)
    if len(paired):
        is_sequential = np.array([times.group[item.own].is_sequential for item in contests], np.bool_)
        of_pairs = correction.without_intervals(
            Segments.of(pairs.ratio[is_counted], segment).estimates(is_sequential[paired]),
            correction.are_lost(pairs.is_disturbed[is_counted], segment),
        )
        for field in fields(estimates):
            getattr(estimates, field.name)[paired] = getattr(of_pairs, field.name)
    if is_ranked:
        widening = _widening(times, contests, is_paired)
    else:
        slowdowns = correction.mean_slowdowns(
            pairs.slowdown, pairs.is_disturbed, pairs.contest, len(contests)
        )
        widening = correction.widening(slowdowns, slowdowns)
    estimates = correction.widened(estimates, widening)
    shares = correction.undisturbed_shares(pairs.slowdown, pairs.is_disturbed, pairs.contest, len(contests))
    return [
        _row(times, contest, estimates[index], share, bool(is_paired[index]))
        for index, (contest, share) in enumerate(zip(contests, optional(shares), strict=True))
        if is_ranked or is_paired[index]
    ]


def _row(times: _Times, contest: _Contest, ratio: Estimate, share: float | None, is_paired: bool) -> _Row:
    group, base = times.group[contest.own], times.group[contest.base]
    is_watched = group.is_watched and (contest.rank is not None or base.is_watched)
    return _Row(
        group=group.id,
        place=times.place[contest.own],
        repetitions=times.repetitions[contest.own],
        base=base.id,
        rank=contest.rank,
        median=float(times.estimates.median[contest.own]),
        ratio=ratio,
        verdict=verdict(ratio if contest.rank is None else inverse(ratio)),
        is_paired=is_paired,
        undisturbed_share=share if is_watched else None,
    )


def _unpaired(estimates: Estimates, own: Integers, base: Integers) -> Estimates:
    """The ratios of medians that were not interleaved."""
    columns = [field.name for field in fields(Estimates)]
    sides = (Estimates(*(getattr(estimates, name)[side] for name in columns)) for side in (own, base))
    return ratios_of(*sides)


def _widening(times: _Times, contests: Sequence[_Contest], is_paired: Booleans) -> Floats:
    """The factors by which intervals of ranked ratios are widened.

    Interference slows two builds of a library equally, so it cancels in one round. Other code has another exponent.
    """
    sides = [(times.group[item.own], times.group[item.base]) for item in contests]
    is_like = [
        own.library is not None and (own.library, own.hexl) == (base.library, base.hexl)
        for own, base in sides
    ]
    is_first = [
        item.rank == 1 and own.variant == base.variant
        for item, (own, base) in zip(contests, sides, strict=True)
    ]
    own, base = (times.slowdown[[getattr(item, side) for item in contests]] for side in ("own", "base"))
    return np.where(is_first | (is_paired & is_like), 1.0, correction.widening(own, base))
