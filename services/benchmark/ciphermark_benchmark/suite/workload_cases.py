"""The cases of an experiment with workloads, and what of them is impossible and why. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import msgspec

from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.data_sets import Known
from ciphermark_benchmark.suite.feasibility import (
    ProgramFeasibility,
    reason_against_memory,
    reason_against_variant,
)
from ciphermark_benchmark.suite.fields import as_list
from ciphermark_benchmark.suite.form import WorkloadText
from ciphermark_contract.declaration import Declaration
from ciphermark_core.descriptor import DATA_SET, Value
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import SCHEMES, Case, ParameterSpec, Scheme, Status
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, families
from ciphermark_workloads.options import BATCH, to_case
from ciphermark_workloads.parameters import Override, recommended

KINDS = families(WORKLOADS)
"""The experiments whose operations are workloads: their families."""
CaseFacts = tuple[Case, str | None, Status, int | None]
"""A case, why it cannot be executed, what it comes to then, and the MiB that its server keeps, if that is known."""


def cases(
    experiment: WorkloadText, available: Mapping[str, Availability], memory_mb: int | None = None
) -> Iterator[CaseFacts]:
    """Every case, where a party has ``memory_mb`` if that is known. Of the schemes asked for, a workload has those it
    offers.
    """
    feasibility = ProgramFeasibility()
    for workload, case, data, reason in _with_reasons(experiment, available):
        declared = available[case.variant].declaration
        needed_mb = None if reason else feasibility.server_mb(workload, case)
        # Before a program is traced.
        against_memory = reason_against_memory(needed_mb, memory_mb)
        if against_memory is not None:
            yield case, against_memory, "out_of_memory", needed_mb
        else:
            against = reason or feasibility.reason_against(workload, case, declared, data)
            yield case, against, "unsupported", needed_mb


def untraced(experiment: WorkloadText, available: Mapping[str, Availability]) -> Iterator[CaseFacts]:
    """Every case, and what stands against it without a look at its programs."""
    for _, case, _, reason in _with_reasons(experiment, available):
        yield case, reason, "unsupported", None


def _with_reasons(
    experiment: WorkloadText, available: Mapping[str, Availability]
) -> Iterator[tuple[AnyWorkload, Case, Known | None, str | None]]:
    for name, options in experiment.chosen():
        workload = WORKLOADS[name].with_options(options)
        for case, data, unresolved in _cases_of(experiment, workload, available):
            yield workload, case, data, _reason_against(case, workload, available[case.variant]) or unresolved


def _cases_of(
    experiment: WorkloadText, workload: AnyWorkload, available: Mapping[str, Availability]
) -> Iterator[tuple[Case, Known | None, str | None]]:
    """Every case, its data set, and why its parameter set cannot be."""
    schemes = [scheme for scheme in experiment.schemes or SCHEMES if scheme in workload.schemes]
    for division, scheme, ring, data, threads, batch, variant in product(
        as_list(experiment.division),
        schemes,
        experiment.ring_dimension or (None,),
        _inputs(experiment),
        experiment.threads,
        experiment.batch,
        experiment.variants,
    ):
        override = _override(experiment, ring)
        parameters, reason = _parameters(workload, scheme, available[variant].declaration, override)
        case = Case(
            variant=variant,
            experiment=experiment.kind,
            operation=workload.name,
            parameters=replace(parameters, division=division),
            size=1 if data is None else data.rows * data.features,
            data_pattern="random" if data is None else "real",
            threads=threads,
            dimensions={**to_case(workload.options), **_source(data), **_batch(batch)},
        )
        yield case, data, reason


def _override(experiment: WorkloadText, ring_dimension: int | None) -> Override:
    modulus = experiment.plain_modulus
    return Override(
        ring_dimension=ring_dimension,
        modulus_bits=None if experiment.modulus_bits is None else tuple(experiment.modulus_bits),
        scale_bits=experiment.scale_bits,
        plain_modulus=None if modulus is None else modulus.value,
        plain_modulus_bits=None if modulus is None else modulus.bits,
        security=0 if experiment.security == "none" else experiment.security,
    )


def _parameters(
    workload: AnyWorkload, scheme: Scheme, declared: Declaration, override: Override
) -> tuple[ParameterSpec, str | None]:
    """The parameter set, and why it cannot be: then it has no plaintext modulus."""
    try:
        return recommended(workload, scheme, declared, override), None
    except Unsupported as error:
        rest = msgspec.structs.replace(override, ring_dimension=None, plain_modulus_bits=None)
        without = replace(recommended(workload, scheme, declared, rest), plain_modulus=None)
        return replace(without, ring_dimension=override.ring_dimension or without.ring_dimension), str(error)


def _inputs(experiment: WorkloadText) -> list[Known | None]:
    """Data sets; where none are named, one input made of the trial's seed."""
    return [None] if experiment.data_sets is None else [item.known for item in experiment.data_sets]


def _source(data: Known | None) -> dict[str, Value]:
    return {} if data is None else {DATA_SET.name: data.name}


def _batch(count: int) -> dict[str, Value]:
    """Nothing for a single input, as before there were batches."""
    return {} if count == 1 else {BATCH.name: count}


def _reason_against(case: Case, workload: AnyWorkload, available: Availability) -> str | None:
    declared, scheme = available.declaration, case.parameters.scheme
    reason = reason_against_variant(case, available, declared.has_threads or declared.programs_have_threads)
    if reason is not None:
        return reason
    missing = [name for name in workload.operations(scheme) if not declared.has(name, scheme)]
    if missing:
        return f"{workload.name} needs {', '.join(missing)}: {declared.reason_against(missing[0], scheme)}"
    return declared.refusal(case.parameters)
