"""Writes runs and outcomes: objects of the core model as rows of the fact tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from ciphermark_core import case_keys, descriptor
from ciphermark_core.descriptor import DIMENSIONS, Value
from ciphermark_core.errors import UserError
from ciphermark_core.key_switching import KeySwitching, one_digit_per_prime
from ciphermark_core.metrics import METRICS, Metric
from ciphermark_core.model import LibraryInfo, Outcome, Parameters, ProgramUse
from ciphermark_core.run import Host, Run
from ciphermark_db.sql import blocks, filled

Row = dict[str, Any]

_VOLATILE = ("clock_noise", "load_1min", "warnings")
# The original identity of a parameter set. A later field is part of it only where it differs from its value in all
# earlier sets. The generator of slots follows from the library.
_FIRST_OF_SET = ("spec", "ring_dimension", "moduli", "special_moduli", "slots", "plain_modulus", "scale")
_NO_IDENTITY = ("slot_generator",)


@dataclass(frozen=True, slots=True)
class _Grouping:
    """The key by which trials are pooled."""

    run: str
    case: str
    build: str | None
    parameters: str | None
    status: str


def record_run(
    connection: psycopg.Connection[Any],
    run: Run,
    *,
    is_imported: bool = False,
    is_shipped: bool = False,
    continues: str | None = None,
) -> bool:
    """Record the run and its host; false if the run is already recorded."""
    facts = {"id": host_id(run.host), **_lasting(run.host), "caches_bytes": run.host.caches}
    connection.execute(blocks("record")["record_host"], {"host": _json(facts)})
    origin = {"is_imported": is_imported, "is_shipped": is_shipped, "continues": continues}
    row = _run(run) | origin
    return connection.execute(blocks("record")["record_run"], row).rowcount == 1


def record_imported(connection: psycopg.Connection[Any], run: Run) -> None:
    """Record a run that was measured elsewhere, and its host. Raises ``UserError`` with the differences if another run
    is recorded under its id; labels may differ. A reference run becomes the user's.
    """
    if record_run(connection, run, is_imported=True):
        return
    connection.execute(blocks("record")["adopt_run"], _run(run))
    differences = [what for (what,) in connection.execute(blocks("record")["run_differences"], _run(run))]
    if differences:
        raise UserError(f"run {run.id} is recorded already, with another {', '.join(differences)}")


def record_reference(connection: psycopg.Connection[Any], run: Run) -> None:
    """Record a shipped run, and its host; raises psycopg's error if it was recorded before."""
    connection.execute(blocks("record")["record_reference"], {"id": run.id})
    record_run(connection, run, is_imported=True, is_shipped=True)


def lock_runs(connection: psycopg.Connection[Any], runs: Iterable[str]) -> None:
    """Lock these runs: no other transaction writes their outcomes or statistics until this one ends."""
    connection.execute(blocks("record")["lock_runs"], {"runs": sorted(runs)})


def record_outcomes(connection: psycopg.Connection[Any], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Record outcomes without their samples, and return those whose trials were new. Requires that their runs are
    recorded. Raises psycopg's error for a trial that belongs to another run.

    Every transaction writes shared rows in the same order, which prevents deadlocks.
    """
    sql = blocks("record")
    lock_runs(connection, {item.trial.run_id for item in outcomes})
    trials = {"trials": [item.trial.id for item in outcomes]}
    recorded = dict(connection.execute(sql["recorded"], trials).fetchall())
    _require_owners(outcomes, recorded)
    fresh = {item.trial.id: item for item in reversed(outcomes) if item.trial.id not in recorded}
    new = sorted(fresh.values(), key=lambda item: item.trial.id)
    groupings = [_grouping(item) for item in new]
    uses = [(item.trial.id, use) for item in new for use in item.programs]
    for statement, rows in _described(new, groupings):
        _execute(connection, statement, rows)
    cases = _record_cases(connection, dict(zip(groupings, new, strict=True)))
    numbered = zip(new, groupings, strict=True)
    _execute(connection, "record_trial", [_trial(item, cases[grouping]) for item, grouping in numbered])
    programs = [{"trial_id": trial, "stage": use.stage, "program": use.digest} for trial, use in uses]
    _execute(connection, "record_trial_program", programs)
    _execute(connection, "record_trial_layer", [row for trial, use in uses for row in _layers(trial, use)])
    return new


def _require_owners(outcomes: Iterable[Outcome], recorded: Mapping[str, str]) -> None:
    """Raise psycopg's error if a trial is recorded for another run; ``recorded`` maps trials to their runs."""
    for item in outcomes:
        trial_id, run_id = item.trial.id, item.trial.run_id
        if (owner := recorded.get(trial_id, run_id)) != run_id:
            raise psycopg.IntegrityError(
                f"trial {trial_id} of run {run_id} is recorded as one of run {owner}"
            )


def record_refusals(connection: psycopg.Connection[Any], outcomes: Iterable[Outcome], reason: str) -> None:
    """Record that outcomes cannot be recorded, and why."""
    text = ascii(reason)[1:-1]
    refused = [{"trial_id": item.trial.id, "run_id": item.trial.run_id, "reason": text} for item in outcomes]
    connection.cursor().executemany(blocks("record")["record_refusal"], refused)


def metric_row(name: str) -> Row:
    """The row of a metric; for one that is not registered in this process, a row of defaults."""
    return asdict(METRICS.get(name) or Metric(name, "", None, 1.0, name, ""))


def dimension_row(name: str, value: Value = "") -> Row:
    """The row of a dimension; if it is not registered in this process, its kind is that of ``value``."""
    dimension = DIMENSIONS.get(name)
    kind, sentence = (type(value), "") if dimension is None else (dimension.kind, dimension.sentence)
    return {"name": name, "kind": kind.__name__, "sentence": sentence}


def parameter_set_id(value: Parameters) -> str:
    """The identity of the parameters that the library really uses, whatever was requested."""
    first = (
        value.spec.scheme,
        value.ring_dimension,
        ([str(q) for q in value.moduli], [str(p) for p in value.special_moduli]),
        str(value.plain_modulus),
        value.scale,
        value.slots,
    )
    switching = one_digit_per_prime(value.moduli, value.special_moduli)
    unset = Parameters(value.spec, value.ring_dimension, (), (), value.slots, key_switching=switching)
    newer = [item.name for item in fields(Parameters) if item.name not in (*_FIRST_OF_SET, *_NO_IDENTITY)]
    differing = [
        (name, _in_first_words(getattr(value, name)))
        for name in newer
        if getattr(value, name) != getattr(unset, name)
    ]
    return _hash((*first, *differing))


def _in_first_words(value: Any) -> Any:
    return case_keys.key_switching(asdict(value)) if isinstance(value, KeySwitching) else value


def _execute(connection: psycopg.Connection[Any], statement: str, rows: Sequence[Row]) -> None:
    if rows:
        connection.cursor().executemany(blocks("record")[statement], rows)


@cache
def _case_info_statement() -> bytes:
    names = [dimension.name for dimension in descriptor.columns()]
    values = ", ".join(f"%({name})s" for name in names)
    return filled(blocks("record")["record_case_info"], columns=", ".join(names), values=values)


def _record_cases(
    connection: psycopg.Connection[Any], groups: Mapping[_Grouping, Outcome]
) -> dict[_Grouping, int]:
    """The ``case_info_id`` of each case as executed."""
    rows = [_case_info(grouping, outcome) for grouping, outcome in groups.items()]
    cursor = connection.cursor()
    cursor.executemany(_case_info_statement(), rows, returning=True)
    numbers = [row[0] for _ in cursor.results() for row in cursor.fetchall()]
    return dict(zip(groups, numbers, strict=True))


def _described(
    outcomes: Iterable[Outcome], groupings: Iterable[_Grouping]
) -> Iterator[tuple[str, list[Row]]]:
    """The rows that outcomes refer to, by statement of ``record.sql``: each row once, in order."""
    rows: dict[str, dict[str, Row]] = {
        f"record_{name}": {}
        for name in ("metric", "dimension", "case_request", "build", "parameter_set", "program")
    }
    for outcome, grouping in zip(outcomes, groupings, strict=True):
        case, library, parameters = outcome.trial.case, outcome.library, outcome.parameters
        metrics = {item.metric for item in outcome.samples} - rows["record_metric"].keys()
        rows["record_metric"] |= {name: metric_row(name) for name in metrics}
        rows["record_dimension"] |= {key: dimension_row(key, value) for key, value in case.dimensions.items()}
        rows["record_program"] |= {use.digest: _program(use) for use in outcome.programs}
        if grouping.case not in rows["record_case_request"]:
            rows["record_case_request"][grouping.case] = {"key": grouping.case, "request": _json(case)}
        if library is not None and grouping.build is not None and grouping.build not in rows["record_build"]:
            rows["record_build"][grouping.build] = {"id": grouping.build, "facts": _json(library.build)}
        if parameters is not None and grouping.parameters is not None:
            primes = {"moduli": [*parameters.moduli], "special_moduli": [*parameters.special_moduli]}
            rows["record_parameter_set"][grouping.parameters] = {"id": grouping.parameters, **primes}
    for statement, by_key in rows.items():
        yield statement, [by_key[key] for key in sorted(by_key)]


def _lasting(value: Host) -> Row:
    """The host's lasting facts; facts that vary between runs belong to the run. A fact that is newer than a journal has
    its default there and is left out.
    """
    defaults = {field.name: field.default for field in fields(value)}
    return {
        name: fact for name, fact in asdict(value).items() if name not in _VOLATILE and fact != defaults[name]
    }


def host_id(value: Host) -> str:
    """The identity of the host's lasting facts."""
    return _hash(_lasting(value))


def _run(value: Run) -> Row:
    """A run, with the host facts that vary between runs."""
    return {
        "id": value.id,
        "suite": value.suite_name,
        "suite_text": _text(value.suite_text),
        "seed": value.seed,
        "started_at": value.started_at,
        "software_version": value.software_version,
        "host_id": host_id(value.host),
        "host_clock_noise": value.host.clock_noise,
        "host_load_1min": value.host.load_1min,
        "host_warnings": [_text(warning) for warning in value.host.warnings],
        "label": value.label,
    }


def _grouping(outcome: Outcome) -> _Grouping:
    return _Grouping(
        outcome.trial.run_id,
        outcome.trial.case.key,
        None if outcome.library is None else _hash(outcome.library),
        None if outcome.parameters is None else parameter_set_id(outcome.parameters),
        outcome.status,
    )


def _case_info(grouping: _Grouping, outcome: Outcome) -> Row:
    """The case of an outcome as it was executed: its identities, and every dimension of the descriptor."""
    return {
        "run_id": grouping.run,
        "case_key": grouping.case,
        "comparison_group": outcome.trial.case.comparison_group,
        "build_id": grouping.build,
        "parameter_set_id": grouping.parameters,
        "status": grouping.status,
        **{name: _value(value) for name, value in descriptor.row(outcome).items()},
    }


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _json(value)
    return list(value) if isinstance(value, tuple) else value


def _trial(outcome: Outcome, case_info_id: int) -> Row:
    """A trial with its outcome, except its samples."""
    trial, accuracy = outcome.trial, outcome.accuracy
    return {
        "id": trial.id,
        "run_id": trial.run_id,
        "case_info_id": case_info_id,
        "process": trial.process,
        "seed": trial.seed,
        "budget": _json(trial.budget),
        "status": outcome.status,
        "error": None if outcome.error is None else _text(outcome.error),
        "max_abs_error": None if accuracy is None else accuracy.max_abs_error,
        "incorrect_slots": None if accuracy is None else accuracy.incorrect_slots,
        "tolerance": None if accuracy is None else accuracy.tolerance,
        "precision_bits": None if accuracy is None else accuracy.precision_bits,
        "started_at": outcome.started_at,
        "duration_s": outcome.duration_s,
        "facts": _json(outcome.facts),
        "unmeasured": _texts(outcome.unmeasured),
        "stacks": _texts(outcome.stacks),
    }


def _program(value: ProgramUse) -> Row:
    """A program, named by the hash of its content."""
    return {
        "digest": value.digest,
        "scheme": value.scheme,
        "depth": value.depth,
        "nodes": sum(count.n for count in value.counts),
        "constants": value.constants,
        "live_ciphertexts": value.live_ciphertexts,
        "counts": _json(value.counts),
        "content": value.content,
    }


def _layers(trial_id: str, value: ProgramUse) -> list[Row]:
    """The layers of a program that a trial executed, in order."""
    return [
        {
            "trial_id": trial_id,
            "stage": value.stage,
            "position": position,
            "layer": layer.name,
            "level": layer.level,
            "end_level": layer.end_level,
            "scale_bits": layer.scale_bits,
            "operand_bytes": layer.operand_bytes,
            "result_bytes": layer.result_bytes,
            "counts": _json(layer.counts),
        }
        for position, layer in enumerate(value.layers, 1)
    ]


def _hash(value: LibraryInfo | object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:32]


def _json(value: object) -> Jsonb:
    """JSON with NaN and infinity as null."""
    return Jsonb(value, dumps=msgspec.json.encode)


def _texts(values: Mapping[str, str]) -> Jsonb | None:
    """Texts by name as JSON; ``None`` for none of them."""
    return _json({name: _text(text) for name, text in values.items()}) if values else None


def _text(value: str) -> str:
    """Text that PostgreSQL accepts: the output of a crashed library may contain NULs and broken UTF-8."""
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
