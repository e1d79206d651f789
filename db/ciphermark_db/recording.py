"""Writes runs and outcomes: the central types as rows of the tables of facts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from typing import Any

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from ciphermark_core import descriptor
from ciphermark_core.descriptor import DIMENSIONS, Value
from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.metrics import METRICS, Metric
from ciphermark_core.model import LibraryInfo, Outcome, Parameters, ProgramUse, Sample
from ciphermark_core.run import Host, Run
from ciphermark_db.sql import blocks, filled

Row = dict[str, Any]
Place = tuple[str, str | None, str | None, str]

_SAMPLE_TYPES = ("int8", "float8", "int8", "int4", "int4", "bool", "bool", "float8")
_VOLATILE = ("clock_noise", "load_1min", "warnings")
# What identified a parameter set at first; what it got later is part of its identity where it differs from what it was
# in all sets until then. The generator of slots follows from the library.
_FIRST_OF_SET = ("spec", "ring_dimension", "moduli", "special_moduli", "slots", "plain_modulus", "scale")
_NO_IDENTITY = ("slot_generator",)


def record_run(
    connection: psycopg.Connection[Any], run: Run, *, is_imported: bool = False, continues: str | None = None
) -> bool:
    """Record the run and its host; False where the run is recorded already."""
    connection.execute(blocks("record")["record_host"], _host(run.host))
    row = _run(run) | {"is_imported": is_imported, "continues": continues}
    return connection.execute(blocks("record")["record_run"], row).rowcount == 1


def record_outcomes(connection: psycopg.Connection[Any], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Record outcomes, and return those whose trials were not recorded before. Their runs must be recorded.

    What is shared is written in one order by everybody, so that two who record at the same time wait for each other in
    one direction only.
    """
    sql = blocks("record")
    connection.execute(sql["lock_runs"], {"runs": sorted({item.trial.run_id for item in outcomes})})
    trials = {"trials": [item.trial.id for item in outcomes]}
    recorded = {trial_id for (trial_id,) in connection.execute(sql["recorded"], trials)}
    fresh = {item.trial.id: item for item in reversed(outcomes) if item.trial.id not in recorded}
    new = sorted(fresh.values(), key=lambda item: item.trial.id)
    if not new:
        return new
    uses = [(item.trial.id, use) for item in new for use in item.programs]
    with connection.cursor() as cursor:
        for statement, rows in _described(new):
            _execute(cursor, statement, rows)
        cases = _record_cases(cursor, new)
        _execute(cursor, "record_trial", [_trial(item, cases[_grouping(item)]) for item in new])
        programs = [{"trial_id": trial, "stage": use.stage, "program": use.digest} for trial, use in uses]
        _execute(cursor, "record_trial_program", programs)
        _execute(cursor, "record_trial_layer", [row for trial, use in uses for row in _layers(trial, use)])
        _record_samples(cursor, new)
    return new


def record_refusals(connection: psycopg.Connection[Any], outcomes: Iterable[Outcome], reason: str) -> None:
    """Record that outcomes cannot be recorded, and why."""
    text = ascii(reason)[1:-1]
    refused = [{"trial_id": item.trial.id, "run_id": item.trial.run_id, "reason": text} for item in outcomes]
    connection.cursor().executemany(blocks("record")["record_refusal"], refused)


def metric_row(name: str) -> Row:
    """The row of a metric; where nobody registered it in this process, what can be said of it all the same."""
    return asdict(METRICS.get(name) or Metric(name, "", None, 1.0, name, ""))


def dimension_row(name: str, value: Value = "") -> Row:
    """The row of a dimension; where nobody registered it in this process, the kind is that of ``value``."""
    known = DIMENSIONS.get(name)
    kind, sentence = (type(value), "") if known is None else (known.kind, known.sentence)
    return {"name": name, "kind": kind.__name__, "sentence": sentence}


def parameter_set_id(value: Parameters) -> str:
    """Identity of what the library really uses, whatever was asked for."""
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
        (name, getattr(value, name)) for name in newer if getattr(value, name) != getattr(unset, name)
    ]
    return _hash((*first, *differing))


def _execute(cursor: psycopg.Cursor[Any], statement: str, rows: Sequence[Row]) -> None:
    if rows:
        cursor.executemany(blocks("record")[statement], rows)


@cache
def _case_info_statement() -> bytes:
    names = [dimension.name for dimension in descriptor.columns()]
    values = ", ".join(f"%({name})s" for name in names)
    return filled(blocks("record")["record_case_info"], columns=", ".join(names), values=values)


def _record_cases(cursor: psycopg.Cursor[Any], outcomes: Iterable[Outcome]) -> dict[tuple[Any, ...], int]:
    """The number of each case as it was executed, by what trials are grouped by."""
    groups = {_grouping(item): item for item in outcomes}
    cursor.executemany(_case_info_statement(), [_case_info(item) for item in groups.values()], returning=True)
    numbers = [row[0] for _ in cursor.results() for row in cursor.fetchall()]
    return dict(zip(groups, numbers, strict=True))


def _record_samples(cursor: psycopg.Cursor[Any], outcomes: Iterable[Outcome]) -> None:
    places = {(item.trial.id, *_place(sample)): None for item in outcomes for sample in item.samples}
    if not places:
        return
    trials, stages, parties, steps, metrics = (list(column) for column in zip(*places, strict=True))
    columns = {"trials": trials, "stages": stages, "parties": parties, "steps": steps, "metrics": metrics}
    rows = cursor.execute(blocks("record")["record_series"], columns).fetchall()
    ids = {tuple(place): series_id for *place, series_id in rows}
    with cursor.copy(blocks("record")["copy_samples"]) as copy:
        copy.set_types(_SAMPLE_TYPES)
        for outcome in outcomes:
            for sample in outcome.samples:
                copy.write_row(_sample(ids[(outcome.trial.id, *_place(sample))], sample))


def _described(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, list[Row]]]:
    """What outcomes refer to, as statements of ``record.sql`` with their rows, each once and in order."""
    rows: dict[str, dict[str, Row]] = {
        f"record_{name}": {}
        for name in ("metric", "dimension", "case_request", "build", "parameter_set", "program")
    }
    for outcome in outcomes:
        case, library, parameters = outcome.trial.case, outcome.library, outcome.parameters
        metrics = {item.metric for item in outcome.samples} - rows["record_metric"].keys()
        rows["record_metric"] |= {name: metric_row(name) for name in metrics}
        rows["record_dimension"] |= {key: dimension_row(key, value) for key, value in case.dimensions.items()}
        rows["record_case_request"][case.key] = {"key": case.key, "request": _json(case)}
        rows["record_program"] |= {use.digest: _program(use) for use in outcome.programs}
        if library is not None:
            identity = _hash(library)
            rows["record_build"][identity] = {"id": identity, "facts": _json(library.build)}
        if parameters is not None:
            identity = parameter_set_id(parameters)
            primes = {"moduli": [*parameters.moduli], "special_moduli": [*parameters.special_moduli]}
            rows["record_parameter_set"][identity] = {"id": identity, **primes}
    for statement, by_key in rows.items():
        yield statement, [by_key[key] for key in sorted(by_key)]


def _host(value: Host) -> Row:
    """The host's lasting facts; those that differ from run to run are part of the run."""
    lasting = {name: fact for name, fact in asdict(value).items() if name not in _VOLATILE}
    caches = _json(lasting.pop("caches"))
    lasting["cpu_flags"] = list(value.cpu_flags)
    return {"id": host_id(value), **lasting, "caches_bytes": caches}


def host_id(value: Host) -> str:
    """Identity of the host's lasting facts."""
    return _hash({name: fact for name, fact in asdict(value).items() if name not in _VOLATILE})


def _run(value: Run) -> Row:
    """A run, with what its host was like that day."""
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
        "host_warnings": list(value.host.warnings),
        "label": value.label,
    }


def _grouping(outcome: Outcome) -> tuple[Any, ...]:
    """What trials are pooled by: run, case, build, parameter set and status."""
    build = None if outcome.library is None else _hash(outcome.library)
    parameters = None if outcome.parameters is None else parameter_set_id(outcome.parameters)
    return outcome.trial.run_id, outcome.trial.case.key, build, parameters, outcome.status


def _case_info(outcome: Outcome) -> Row:
    """The case of an outcome as it was executed: its identities, and every dimension of the descriptor."""
    run_id, key, build, parameters, status = _grouping(outcome)
    return {
        "run_id": run_id,
        "case_key": key,
        "comparison_key": outcome.trial.case.comparison_key,
        "build_id": build,
        "parameter_set_id": parameters,
        "status": status,
        **{name: _value(value) for name, value in descriptor.row(outcome).items()},
    }


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _json(value)
    return list(value) if isinstance(value, tuple) else value


def _trial(outcome: Outcome, case_info_id: int) -> Row:
    """A trial with what came of it, samples excepted."""
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
        "wrong_slots": None if accuracy is None else accuracy.wrong_slots,
        "tolerance": None if accuracy is None else accuracy.tolerance,
        "precision_bits": None if accuracy is None else accuracy.precision_bits,
        "started_at": outcome.started_at,
        "duration_s": outcome.duration_s,
        "facts": _json(outcome.facts),
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


def _place(value: Sample) -> Place:
    """What the samples of one series of a trial have in common: stage, party, step and metric."""
    return value.stage, value.party, value.step, value.metric


def _sample(series_id: int, value: Sample) -> tuple[Any, ...]:
    """One row for ``copy_samples``, of :data:`_SAMPLE_TYPES`."""
    return (
        series_id,
        value.value,
        value.loops,
        value.ordinal,
        value.repetitions,
        value.is_warmup,
        value.is_disturbed,
        value.slow_down,
    )


def _hash(value: LibraryInfo | object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:32]


def _json(value: object) -> Jsonb:
    """JSON in which a figure that is no number (NaN, infinity) is null."""
    return Jsonb(value, dumps=msgspec.json.encode)


def _text(value: str) -> str:
    """Text that PostgreSQL takes: what a crashed library printed may have NULs and broken UTF-8."""
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
