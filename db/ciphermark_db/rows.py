"""The central types as rows: the parameters of the statements in ``sql/record.sql``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import msgspec
from psycopg.types.json import Jsonb

from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.model import Case, LibraryInfo, Outcome, Parameters, ProgramUse, Sample
from ciphermark_core.run import Host, Run
from ciphermark_db import registries

Row = dict[str, Any]
Place = tuple[str, str | None, str | None, str]

SAMPLE_TYPES = ("int8", "float8", "int8", "int4", "int4", "bool", "bool", "float8")

_VOLATILE = ("clock_noise", "load_1min", "warnings")
# What parameter sets tell since: part of their identity where it is not what it was in all of them at first.
_NEWER_OF_SET = ("key_switching", "scaling", "secret_distribution", "encryption")


def host(value: Host) -> Row:
    """The host's lasting facts; those that differ from run to run are part of the run."""
    lasting = {name: fact for name, fact in asdict(value).items() if name not in _VOLATILE}
    caches = _json(lasting.pop("caches"))
    lasting["cpu_flags"] = list(value.cpu_flags)
    return {"id": host_id(value), **lasting, "caches_bytes": caches}


def host_id(value: Host) -> str:
    """Identity of the host's lasting facts."""
    return _hash({name: fact for name, fact in asdict(value).items() if name not in _VOLATILE})


def run(value: Run, is_imported: bool = False) -> Row:
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
        "is_imported": is_imported,
    }


def case(value: Case) -> Row:
    """A case with its parameters as requested."""
    spec = value.parameters
    return {
        "key": value.key,
        "comparison_key": value.comparison_key,
        "variant": value.variant,
        "experiment": value.experiment,
        "operation": value.operation,
        "scheme": spec.scheme,
        "ring_dimension": spec.ring_dimension,
        "modulus_bits": None if spec.modulus_bits is None else list(spec.modulus_bits),
        "plain_modulus": spec.plain_modulus,
        "scale_bits": spec.scale_bits,
        "security_bits": spec.security,
        "depth": spec.depth,
        "ring_dimension_is_minimum": spec.ring_dimension_is_minimum,
        "division": spec.division,
        "slots": spec.slots,
        "size": value.size,
        "data_pattern": value.data_pattern,
        "threads": value.threads,
        "dimensions": _json(value.dimensions),
    }


def build(value: LibraryInfo) -> Row:
    """A library build, named by all that it says about itself."""
    return {
        "id": _hash(value),
        "library": value.library,
        "variant": value.variant,
        "version": value.version,
        "hexl": value.hexl,
        "is_debug": value.is_debug,
        "is_reference": value.is_reference,
        "facts": _json(value.build),
    }


def parameter_set(value: Parameters) -> Row:
    """A resolved parameter set with its security; the request it came from is part of the case."""
    switching = value.key_switching
    return {
        "id": parameter_set_id(value),
        "scheme": value.spec.scheme,
        "ring_dimension": value.ring_dimension,
        "modulus_bits": list(value.modulus_bits),
        "moduli": list(value.moduli),
        "special_moduli": list(value.special_moduli),
        "log_q": value.log_q,
        "log_qp": value.log_qp,
        "plain_modulus": value.plain_modulus,
        "scale": value.scale,
        "slots": value.slots,
        "security_2018": value.security_2018,
        "security_2024": value.security_2024,
        "key_switching": None if switching is None else switching.method,
        "digits": None if switching is None else switching.digits,
        "scaling": value.scaling,
        "secret_distribution": value.secret_distribution,
        "encryption": value.encryption,
    }


def descriptions(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, Row]]:
    """What outcomes refer to, as statements of ``record.sql`` with their rows, each once.

    The order is the same for everybody, so that two who record at the same time wait for each other in one
    direction only.
    """
    metrics: dict[str, Row] = {}
    dimensions: dict[str, Row] = {}
    programs: dict[str, Row] = {}
    cases, builds, sets = {}, {}, {}
    for outcome in outcomes:
        metrics |= registries.metrics({item.metric for item in outcome.samples})
        dimensions |= registries.dimensions(outcome.trial.case.dimensions)
        cases[outcome.trial.case.key] = case(outcome.trial.case)
        programs |= {use.digest: program(use) for use in outcome.programs}
        if outcome.library is not None:
            made = build(outcome.library)
            builds[made["id"]] = made
        if outcome.parameters is not None:
            made = parameter_set(outcome.parameters)
            sets[made["id"]] = made
    for statement, found in (
        ("record_metric", metrics),
        ("record_dimension", dimensions),
        ("record_case", cases),
        ("record_build", builds),
        ("record_parameter_set", sets),
        ("record_program", programs),
    ):
        for key in sorted(found):
            yield statement, found[key]


def parameter_set_id(value: Parameters) -> str:
    """Identity of what the library really uses, whatever was asked for."""
    moduli = ([str(q) for q in value.moduli], [str(p) for p in value.special_moduli])
    known = (
        value.spec.scheme,
        value.ring_dimension,
        moduli,
        str(value.plain_modulus),
        value.scale,
        value.slots,
    )
    switching = one_digit_per_prime(value.moduli, value.special_moduli)
    first = Parameters(value.spec, value.ring_dimension, (), (), value.slots, key_switching=switching)
    newer = {name: getattr(value, name) for name in _NEWER_OF_SET}
    return _hash((*known, *((name, fact) for name, fact in newer.items() if fact != getattr(first, name))))


def trial(outcome: Outcome) -> Row:
    """A trial with what came of it, samples excepted."""
    made, accuracy = outcome.trial, outcome.accuracy
    return {
        "id": made.id,
        "run_id": made.run_id,
        "case_key": made.case.key,
        "build_id": None if outcome.library is None else _hash(outcome.library),
        "parameter_set_id": None if outcome.parameters is None else parameter_set_id(outcome.parameters),
        "process": made.process,
        "seed": made.seed,
        "budget": _json(made.budget),
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


def program(value: ProgramUse) -> Row:
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


def layers(trial_id: str, value: ProgramUse) -> list[Row]:
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


def place(value: Sample) -> Place:
    """What the samples of one series of a trial have in common: stage, party, step and metric."""
    return value.stage, value.party, value.step, value.metric


def series(outcome: Outcome) -> Row:
    """All series of an outcome, a list per column."""
    places = dict.fromkeys(map(place, outcome.samples))
    stages, parties, steps, metrics = (list(column) for column in zip(*places, strict=True))
    return {
        "trial_id": outcome.trial.id,
        "stages": stages,
        "parties": parties,
        "steps": steps,
        "metrics": metrics,
    }


def sample(series_id: int, value: Sample) -> tuple[Any, ...]:
    """One row for ``copy_samples``, of :data:`SAMPLE_TYPES`."""
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


def _hash(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:32]


def _json(value: object) -> Jsonb:
    """JSON in which a figure that is no number (NaN, infinity) is null."""
    return Jsonb(value, dumps=msgspec.json.encode)


def _text(value: str) -> str:
    """Text that PostgreSQL takes: what a crashed library printed may have NULs and broken UTF-8."""
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
