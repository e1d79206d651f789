"""Samples and their statistics: written and read as arrays, computed by :mod:`ciphermark_analysis`, stored.

The statistics of a comparison group (all cases of a run with the same group) are computed together, in the transaction
that records its trials. They are recomputed if the stored rows name an older method.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg.rows import dict_row

from ciphermark_analysis import METHOD
from ciphermark_analysis.host_state import HostState, host_state
from ciphermark_analysis.ratios import Kind, Ratio, ratios, relative
from ciphermark_analysis.results import GroupFacts, Result, facts, results
from ciphermark_analysis.samples import NO_REPETITIONS, Group, Place, Samples, Trial
from ciphermark_core.model import Outcome, Sample
from ciphermark_db.sql import blocks, filled

Row = dict[str, Any]
Rows = npt.NDArray[Any]
Key = tuple[str, str | None, str | None, str]

_AT_ONCE = 256  # comparison groups whose samples are in memory together
_REMEMBERED = 200_000  # samples
_LARGEST = np.iinfo(np.int32).max


def _binary(**columns: str) -> np.dtype[Any]:
    """A row of PostgreSQL's binary COPY format: the number of columns, then each column after its length."""
    pairs = ([(f"{name}_length", ">i4"), (name, kind)] for name, kind in columns.items())
    return np.dtype([("count", ">i2"), *(cell for pair in pairs for cell in pair)])


# Rows of the blocks copy_samples in statistics.sql and record.sql. A NULL in the last column shortens a written row.
_READ = _binary(
    series=">i8",
    value=">f8",
    slowdown=">f8",
    ordinal=">i4",
    repetitions=">i4",
    is_warmup="?",
    is_disturbed="?",
)
_WRITTEN = _binary(
    series=">i8",
    loops=">i8",
    value=">f8",
    slowdown=">f8",
    is_disturbed="?",
    is_warmup="?",
    ordinal=">i4",
    repetitions=">i4",
)
_HEADER, _TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_COLUMNS = {
    "value": np.float64,
    "slowdown": np.float64,
    "is_disturbed": np.bool_,
    "is_warmup": np.bool_,
    "ordinal": np.int64,
    "repetitions": np.int64,
}
_FIELDS = attrgetter(
    *("stage", "party", "step", "metric", "repetitions", "loops"),
    *("value", "slowdown", "is_disturbed", "is_warmup", "ordinal"),
)
_SAMPLE = np.dtype([("place", np.int64), *_COLUMNS.items()])


@dataclass(frozen=True, slots=True)
class TrialSamples:
    """Samples of a trial as columns; ``place`` is an index into ``places``."""

    places: tuple[Place, ...]
    rows: Rows


_NO_SAMPLES = TrialSamples((), np.zeros(0, _SAMPLE))


def record_samples(
    connection: psycopg.Connection[Any], outcomes: Sequence[Outcome]
) -> dict[str, TrialSamples]:
    """Record the samples of outcomes whose trials are recorded, and return them by trial."""
    recorded = {item.trial.id: _NO_SAMPLES for item in outcomes}
    columns = {item.trial.id: _columns(item.samples) for item in outcomes if item.samples}
    if not columns:
        return recorded
    keys = [(trial_id, *key) for trial_id, (places, *_) in columns.items() for key in places]
    names = ("trials", "stages", "parties", "steps", "metrics")
    parameters = {name: list(column) for name, column in zip(names, zip(*keys, strict=True), strict=True)}
    with connection.cursor() as cursor:
        cursor.execute(blocks("record")["record_series"], parameters)
        series = {tuple(key): (series_id, unit) for *key, unit, series_id in cursor}
        with cursor.copy(blocks("record")["copy_samples"]) as copy:
            copy.write(_HEADER)
            for trial_id, (places, rows, loops) in columns.items():
                own = [series[(trial_id, *key)] for key in places]
                copy.write(_packed(np.array([number for number, _ in own]), rows, loops))
                units = (unit for _, unit in own)
                located = tuple(Place(*key, unit) for key, unit in zip(places, units, strict=True))
                recorded[trial_id] = TrialSamples(located, rows)
            copy.write(_TRAILER)
    return recorded


def _columns(samples: Sequence[Sample]) -> tuple[list[Key], Rows, Rows]:
    """Places, rows and loops. Raises psycopg's error for numbers that exceed PostgreSQL's columns."""
    *key, repetitions, loops, value, slowdown, is_disturbed, is_warmup, ordinal = zip(
        *map(_FIELDS, samples), strict=True
    )
    keys = [*zip(*key, strict=True)]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    rows = np.empty(len(samples), _SAMPLE)
    rows["place"] = [*map(places.__getitem__, keys)]
    try:
        rows["repetitions"] = [NO_REPETITIONS if number is None else number for number in repetitions]
        rows["value"], rows["slowdown"], rows["ordinal"] = value, slowdown, ordinal
        rows["is_disturbed"], rows["is_warmup"] = is_disturbed, is_warmup
        of_loops = np.array(loops, np.int64)
    except OverflowError as error:
        raise psycopg.DataError(f"a sample is out of range: {error}") from error
    if max(rows["ordinal"].max(), rows["repetitions"].max()) > _LARGEST:
        raise psycopg.DataError("a sample is out of range: ordinals and repetitions have 32 bits")
    return [*places], rows, of_loops


def _packed(series: Rows, rows: Rows, loops: Rows) -> bytes:
    """Rows in the binary format; ``series`` are the ids of their places."""
    packed = np.zeros(len(rows), _WRITTEN)
    names = _WRITTEN.names or ()
    packed["count"] = len(names) // 2
    for name in names[1::2]:
        packed[name] = _WRITTEN[name.removesuffix("_length")].itemsize
    packed["series"], packed["loops"] = series[rows["place"]], loops
    for name in _COLUMNS:
        packed[name] = rows[name]
    is_absent = rows["repetitions"] == NO_REPETITIONS
    packed["repetitions_length"][is_absent] = -1
    cut = (
        packed[is_absent]
        .view(np.uint8)
        .reshape(-1, _WRITTEN.itemsize)[:, : -_WRITTEN["repetitions"].itemsize]
    )
    content: bytes = packed[~is_absent].tobytes() + cut.tobytes()
    return content


def latest(samples: Mapping[str, TrialSamples]) -> dict[str, TrialSamples]:
    """The latest samples, up to the limit of memory."""
    subset: dict[str, TrialSamples] = {}
    total = 0
    for trial_id, item in reversed([*samples.items()]):
        total += len(item.rows)
        if total > _REMEMBERED:
            break
        subset[trial_id] = item
    return dict(reversed([*subset.items()]))


def update(
    connection: psycopg.Connection[Any], outcomes: Iterable[Outcome], samples: Mapping[str, TrialSamples]
) -> None:
    """Compute the statistics that depend on these newly recorded outcomes. ``samples`` saves reading them for some
    trials, of these outcomes or others.
    """
    comparison_groups: dict[str, set[str]] = defaultdict(set)
    for outcome in outcomes:
        comparison_groups[outcome.trial.run_id].add(outcome.trial.case.comparison_group)
    for run_id, keys in comparison_groups.items():
        _compute(connection, run_id, sorted(keys), samples)


def rebuild(connection: psycopg.Connection[Any], run_id: str) -> None:
    """Recompute all statistics of a run from its samples."""
    rows = connection.execute(blocks("statistics")["comparison_groups"], {"run_id": run_id})
    _compute(connection, run_id, [key for (key,) in rows], {})
    update_host_state(connection, run_id)


def relative_to(connection: psycopg.Connection[Any], run_id: str, kind: Kind, variant: str) -> list[Ratio]:
    """The ratios of a run's times to those of a variant, computed from the samples."""
    rows = connection.execute(blocks("statistics")["comparison_groups"], {"run_id": run_id}).fetchall()
    return [
        ratio
        for keys in _pieces([key for (key,) in rows], _AT_ONCE)
        for ratio in relative(list(load(connection, run_id, keys).values()), kind, variant)
    ]


def _compute(
    connection: psycopg.Connection[Any],
    run_id: str,
    comparison_groups: Sequence[str],
    samples: Mapping[str, TrialSamples],
) -> None:
    for keys in _pieces(comparison_groups, _AT_ONCE):
        groups = load(connection, run_id, keys, samples)
        every = [group for members in groups.values() for group in members]
        connection.execute(blocks("statistics")["forget"], {"groups": [group.id for group in every]})
        _store(connection, "case_facts", GroupFacts, map(facts, every), method=METHOD)
        _store(connection, "result", Result, results(every))
        _store(connection, "ratio", Ratio, ratios(list(groups.values())))


def load(
    connection: psycopg.Connection[Any],
    run_id: str,
    comparison_groups: Sequence[str],
    samples: Mapping[str, TrialSamples] | None = None,
) -> dict[str, list[Group]]:
    """Groups of trials of a run, by comparison group. ``samples`` saves reading them for some trials."""
    parameters = {"run_id": run_id, "comparison_groups": list(comparison_groups)}
    with connection.cursor(row_factory=dict_row) as cursor:
        groups = cursor.execute(blocks("statistics")["groups"], parameters).fetchall()
        trials = cursor.execute(blocks("statistics")["trials"], parameters).fetchall()
    samples_by_trial = samples or {}
    samples_by_trial = {
        **samples_by_trial,
        **_read(connection, [row["id"] for row in trials if row["id"] not in samples_by_trial]),
    }
    members: dict[int, list[Row]] = defaultdict(list)
    for trial in trials:
        members[trial["case_info_id"]].append(trial)
    loaded: dict[str, list[Group]] = defaultdict(list)
    for row in groups:
        own = members[row["id"]]
        loaded[row.pop("comparison_group")].append(
            Group(
                **row,
                is_sequential=any(trial["is_sequential"] for trial in own),
                trials=tuple(_trial(trial) for trial in own),
                samples=_pooled([samples_by_trial.get(trial["id"], _NO_SAMPLES) for trial in own]),
            )
        )
    return loaded


def _trial(row: Row) -> Trial:
    return Trial(row["process"], row["started_at"], row["duration_s"], row["facts"], row["error"])


def _pooled(trials: Sequence[TrialSamples]) -> Samples:
    """The samples of the trials of a group."""
    places: dict[Place, int] = {}
    numbers = [
        np.array([places.setdefault(place, len(places)) for place in item.places], np.int64)
        for item in trials
    ]
    rows = np.concatenate([item.rows for item in trials])
    own = [number[item.rows["place"]] for number, item in zip(numbers, trials, strict=True)]
    return Samples(
        places=tuple(places),
        place=np.concatenate(own),
        trial=np.repeat(np.arange(len(trials)), [len(item.rows) for item in trials]),
        **{name: np.ascontiguousarray(rows[name]) for name in _COLUMNS},
    )


def _read(connection: psycopg.Connection[Any], trials: Sequence[str]) -> dict[str, TrialSamples]:
    """The recorded samples of trials; trials without samples are absent."""
    if not trials:
        return {}
    with connection.cursor() as cursor:
        series = cursor.execute(blocks("statistics")["series"], {"trials": list(trials)}).fetchall()
        if not series:
            return {}
        ids = [series_id for series_id, *_ in series]
        with cursor.copy(blocks("statistics")["copy_samples"], {"series": ids}) as copy:
            content = b"".join(bytes(piece) for piece in copy)
    copied = np.frombuffer(content[len(_HEADER) : -len(_TRAILER)], _READ)
    places: dict[str, list[Place]] = defaultdict(list)
    number, place = np.zeros((2, len(series)), np.int64)  # of each series: its trial, its place in it
    numbers: dict[str, int] = {}
    for index, (_, trial_id, *key) in enumerate(series):
        number[index] = numbers.setdefault(trial_id, len(numbers))
        place[index] = len(places[trial_id])
        places[trial_id].append(Place(*key))
    position = np.searchsorted(ids, copied["series"])
    order = np.argsort(number[position], kind="stable")
    rows = np.empty(len(copied), _SAMPLE)
    rows["place"] = place[position][order]
    for name in _COLUMNS:
        rows[name] = copied[name][order]
    ends = np.cumsum(np.bincount(number[position], minlength=len(numbers)))[:-1]
    return {
        trial_id: TrialSamples(tuple(places[trial_id]), part)
        for trial_id, part in zip(numbers, np.split(rows, ends), strict=True)
    }


def _store(
    connection: psycopg.Connection[Any], table: str, kind: type, rows: Iterable[Any], **also: Any
) -> None:
    """Copy rows of a dataclass into the table with the same column names; a group is stored as its case."""
    names = [field.name for field in fields(kind)]
    values = attrgetter(*names)
    columns = ", ".join("case_info_id" if name == "group" else name for name in (*names, *also))
    with (
        connection.cursor() as cursor,
        cursor.copy(filled(blocks("statistics")[f"copy_{table}"], columns=columns)) as copy,
    ):
        for row in rows:
            copy.write_row((*values(row), *also.values()))


def update_host_state(connection: psycopg.Connection[Any], run_id: str) -> None:
    """Compute the run's row in ``host_state`` from all its trials."""
    sql = blocks("statistics")
    with connection.cursor(row_factory=dict_row) as cursor:
        trials = [_trial(row) for row in cursor.execute(sql["timed_trials"], {"run_id": run_id})]
        cursor.execute(sql["forget_host_state"], {"run_id": run_id})
    if trials:
        _store(connection, "host_state", HostState, [host_state(trials, METHOD)], run_id=run_id)


def _pieces(values: Sequence[str], size: int) -> Iterator[list[str]]:
    rest = iter(values)
    while piece := list(islice(rest, size)):
        yield piece
