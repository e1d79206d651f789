"""The cases of an experiment with workloads, and what of them is impossible and why. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.learning.data_sets import Known
from ciphermark_benchmark.learning.fitting import Fitting
from ciphermark_benchmark.suite_workloads import WorkloadText
from ciphermark_core.dimensions import DATA_SET, Value
from ciphermark_core.model import SCHEMES, Case
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, families
from ciphermark_workloads.options import combinations, to_case
from ciphermark_workloads.parameters import Override, recommended

KINDS = families(WORKLOADS)
"""The experiments whose operations are workloads: their families."""


def cases(
    experiment: WorkloadText, available: Mapping[str, Availability]
) -> Iterator[tuple[Case, str | None]]:
    """Every case, and why it cannot be executed here. Of the schemes asked for, a workload has those it offers."""
    fitting = Fitting()
    for name, options in product(experiment.workloads, combinations(experiment.options)):
        workload = WORKLOADS[name].with_options(options)
        for case, data in _cases_of(experiment, workload, available):
            reason = _reason_against(case, workload, available[case.variant])
            declared = available[case.variant].declaration
            yield case, reason or fitting.reason_against(workload, case.parameters, declared, data)


def _cases_of(
    experiment: WorkloadText, workload: AnyWorkload, available: Mapping[str, Availability]
) -> Iterator[tuple[Case, Known | None]]:
    schemes = [scheme for scheme in experiment.schemes or SCHEMES if scheme in workload.schemes]
    security = 0 if experiment.security == "none" else experiment.security
    for scheme, ring, data, threads, variant in product(
        schemes,
        experiment.ring_dimension or (None,),
        _inputs(experiment),
        experiment.threads,
        experiment.variants,
    ):
        override = Override(ring_dimension=ring, security=security)
        case = Case(
            variant=variant,
            experiment=experiment.kind,
            operation=workload.name,
            parameters=recommended(workload, scheme, available[variant].declaration, override),
            size=1 if data is None else data.rows * data.features,
            data_pattern="random" if data is None else "real",
            threads=threads,
            dimensions={**to_case(workload.options), **_source(data)},
        )
        yield case, data


def _inputs(experiment: WorkloadText) -> list[Known | None]:
    """Data sets; where none are named, one input made of the trial's seed."""
    return [None] if experiment.data_sets is None else [item.known for item in experiment.data_sets]


def _source(data: Known | None) -> dict[str, Value]:
    return {} if data is None else {DATA_SET.name: data.name}


def _reason_against(case: Case, workload: AnyWorkload, available: Availability) -> str | None:
    declared, scheme = available.declaration, case.parameters.scheme
    if scheme not in declared.schemes:
        return f"{declared.library} offers no {scheme} here"
    if available.reason is not None:
        return f"{available.reason}; {available.remedy}"
    if case.threads > 1 and not (declared.has_threads or declared.programs_have_threads):
        return f"{declared.library} cannot be given {case.threads} threads here"
    missing = [name for name in workload.operations(scheme) if name not in declared.managed[scheme]]
    if missing:
        return f"{workload.name} needs {', '.join(missing)}: {declared.reason_against(missing[0], scheme)}"
    return None
