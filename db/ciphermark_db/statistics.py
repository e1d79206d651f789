"""Keeps the stored statistics: reads the facts of comparisons, lets :mod:`ciphermark_analysis` compute, stores rows.

Statistics of a comparison (all cases of a run with one comparison key) are computed together, in the transaction in
which its trials are recorded, and again where the method is newer than the one that the stored rows name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import dict_row

from ciphermark_analysis import METHOD
from ciphermark_analysis.host_state import HostState, host_state
from ciphermark_analysis.ratios import Ratio, ratios
from ciphermark_analysis.results import GroupFacts, Result, facts, results
from ciphermark_analysis.samples import Group, Place, Samples, Trial
from ciphermark_core.model import Outcome
from ciphermark_db.sql import blocks, filled

Row = dict[str, Any]

_AT_ONCE = 256  # comparisons whose samples are in memory together
# A row of the block copy_samples in COPY's binary format: a count of columns, and each with its length before it.
_COLUMNS = {
    "series": ">i8",
    "value": ">f8",
    "slowdown": ">f8",
    "ordinal": ">i4",
    "repetitions": ">i4",
    "is_warmup": "?",
    "is_disturbed": "?",
}
_ROW = np.dtype(
    [
        ("count", ">i2"),
        *(item for name, kind in _COLUMNS.items() for item in ((f"{name}_length", ">i4"), (name, kind))),
    ]
)
_HEADER, _TRAILER = 19, 2


def update(connection: psycopg.Connection[Any], outcomes: Iterable[Outcome]) -> None:
    """Compute the statistics that these outcomes, just recorded, are part of."""
    comparisons: dict[str, set[str]] = defaultdict(set)
    for outcome in outcomes:
        comparisons[outcome.trial.run_id].add(outcome.trial.case.comparison_key)
    for run_id, keys in comparisons.items():
        _compute(connection, run_id, sorted(keys))


def rebuild(connection: psycopg.Connection[Any], run_id: str) -> None:
    """Compute all statistics of a run anew from its samples."""
    rows = connection.execute(blocks("statistics")["comparisons"], {"run_id": run_id})
    _compute(connection, run_id, [key for (key,) in rows])


def _compute(connection: psycopg.Connection[Any], run_id: str, comparisons: Sequence[str]) -> None:
    for keys in _pieces(comparisons, _AT_ONCE):
        groups = load(connection, run_id, keys)
        every = [group for members in groups.values() for group in members]
        connection.execute(blocks("statistics")["forget"], {"groups": [group.id for group in every]})
        _store(connection, "case_facts", GroupFacts, map(facts, every), method=METHOD)
        _store(connection, "result", Result, results(every))
        _store(connection, "ratio", Ratio, ratios(list(groups.values())))
    _update_host_state(connection, run_id)


def load(
    connection: psycopg.Connection[Any], run_id: str, comparisons: Sequence[str]
) -> dict[str, list[Group]]:
    """The groups of trials of comparisons of a run with their samples, by comparison key."""
    sql = blocks("statistics")
    with connection.cursor(row_factory=dict_row) as cursor:
        asked = {"run_id": run_id, "comparisons": list(comparisons)}
        groups = cursor.execute(sql["groups"], asked).fetchall()
        trials = cursor.execute(sql["trials"], {"groups": [row["id"] for row in groups]}).fetchall()
        series = cursor.execute(sql["series"], {"trials": [row["id"] for row in trials]}).fetchall()
    samples = _samples_by_group(connection, trials, series)
    members: dict[int, list[Row]] = defaultdict(list)
    for trial in trials:
        members[trial["case_info_id"]].append(trial)
    loaded: dict[str, list[Group]] = defaultdict(list)
    for row in groups:
        own = members[row["id"]]
        loaded[row.pop("comparison_key")].append(
            Group(
                **row,
                is_sequential=any(trial["is_sequential"] for trial in own),
                trials=tuple(_trial(trial) for trial in own),
                samples=samples.get(row["id"], _NO_SAMPLES),
            )
        )
    return loaded


_NO_SAMPLES = Samples(
    (),
    *(np.zeros(0, np.int64),) * 2,
    *(np.zeros(0),) * 2,
    *(np.zeros(0, np.bool_),) * 2,
    *(np.zeros(0, np.int64),) * 2,
)


def _trial(row: Row) -> Trial:
    return Trial(row["process"], row["started_at"], row["duration_s"], row["facts"], row["error"])


def _samples_by_group(
    connection: psycopg.Connection[Any], trials: Sequence[Row], series: Sequence[Row]
) -> dict[int, Samples]:
    """The samples of series, which are in the order of their ids, by the group of their trials."""
    if not series:
        return {}
    position: dict[str, tuple[int, int]] = {}
    counts: dict[int, int] = defaultdict(int)
    for trial in trials:
        group = trial["case_info_id"]
        position[trial["id"]] = group, counts[group]
        counts[group] += 1
    places: dict[int, dict[Place, int]] = defaultdict(dict)
    described = []
    for row in series:
        group, trial_number = position[row["trial_id"]]
        place = Place(row["stage"], row["party"], row["step"], row["metric"], row["unit"])
        own = places[group]
        described.append((row["id"], group, trial_number, own.setdefault(place, len(own))))
    ids, groups, trial_numbers, place_numbers = np.array(described, np.int64).T
    rows = _copied(connection, [row["id"] for row in series])
    index = np.searchsorted(ids, rows["series"])
    order = np.argsort(groups[index], kind="stable")
    rows, index = rows[order], index[order]
    starts = np.flatnonzero(np.diff(groups[index], prepend=-1))
    pieces = zip(starts, [*starts[1:], len(rows)], strict=True)
    return {
        int(groups[index[start]]): _samples(
            tuple(places[int(groups[index[start]])]),
            place_numbers[index[start:end]],
            trial_numbers[index[start:end]],
            rows[start:end],
        )
        for start, end in pieces
    }


def _samples(places: tuple[Place, ...], place: Any, trial: Any, rows: Any) -> Samples:
    return Samples(
        places=places,
        place=place,
        trial=trial,
        value=rows["value"].astype(np.float64),
        slowdown=rows["slowdown"].astype(np.float64),
        is_disturbed=rows["is_disturbed"],
        is_warmup=rows["is_warmup"],
        ordinal=rows["ordinal"].astype(np.int64),
        repetitions=rows["repetitions"].astype(np.int64),
    )


def _copied(connection: psycopg.Connection[Any], series: Sequence[int]) -> Any:
    """The samples of series as an array of :data:`_ROW`, in no order."""
    with (
        connection.cursor() as cursor,
        cursor.copy(blocks("statistics")["copy_samples"], {"series": list(series)}) as copy,
    ):
        content = b"".join(bytes(piece) for piece in copy)
    return np.frombuffer(content[_HEADER:-_TRAILER], _ROW)


def _store(
    connection: psycopg.Connection[Any], table: str, kind: type, rows: Iterable[Any], **also: Any
) -> None:
    """Copy rows of a dataclass into the table whose columns are named as its fields; a group is a case."""
    names = [field.name for field in fields(kind)]
    columns = ", ".join("case_info_id" if name == "group" else name for name in (*names, *also))
    with (
        connection.cursor() as cursor,
        cursor.copy(filled(blocks("statistics")[f"copy_{table}"], columns=columns)) as copy,
    ):
        for row in rows:
            copy.write_row([*(getattr(row, name) for name in names), *also.values()])


def _update_host_state(connection: psycopg.Connection[Any], run_id: str) -> None:
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
