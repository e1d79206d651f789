"""The cases of a learning experiment, and what of them is impossible and why. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import LearningText
from ciphermark_core.dimensions import DATA_SET
from ciphermark_core.model import SCHEMES, Case
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.parameters import recommended

KIND = "learning"


def cases(
    experiment: LearningText, available: Mapping[str, Availability]
) -> Iterator[tuple[Case, str | None]]:
    """Every case, and why it cannot be executed here. Of the schemes asked for, a workload has those it offers."""
    for name, scheme, data_set, threads, variant in product(
        experiment.workloads,
        experiment.schemes or SCHEMES,
        (item.known for item in experiment.data_sets),
        experiment.threads,
        experiment.variants,
    ):
        workload = WORKLOADS[name]
        if scheme not in workload.schemes:
            continue
        found = available[variant]
        spec = recommended(workload, scheme, found.declaration)
        case = Case(
            variant=variant,
            experiment=KIND,
            operation=name,
            parameters=replace(spec, security=0 if experiment.security == "none" else experiment.security),
            size=data_set.rows * data_set.features,
            data_pattern="real",
            threads=threads,
            dimensions={DATA_SET.name: data_set.name},
        )
        yield case, _reason_against(case, workload, found)


def _reason_against(case: Case, workload: AnyWorkload, available: Availability) -> str | None:
    declared, scheme = available.declaration, case.parameters.scheme
    if scheme not in declared.schemes:
        return f"{declared.library} offers no {scheme} here"
    if available.reason is not None:
        return f"{available.reason}; {available.remedy}"
    if case.threads > 1 and not declared.has_threads:
        return f"{declared.library} cannot be given {case.threads} threads here"
    missing = [name for name in workload.operations(scheme) if name not in declared.managed[scheme]]
    if missing:
        return f"{workload.name} needs {', '.join(missing)}: {declared.reason_against(missing[0], scheme)}"
    return None
