"""Stored programs of a run as tasks for accelerators.

A stored program names its constants by digest. Its workload is traced again with the same parameters, which shows the
constants with one value in all slots. A program that leaves levels to its library is replaced by this trace.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cache

from ciphermark_adapters import registry
from ciphermark_benchmark.on_machines import Task, body_of, uniform
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Exhausted
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import Traced
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Parameters
from ciphermark_db.database import StoredProgram
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.options import of_case
from ciphermark_workloads.programs import all_traced

_SEED = 1  # of inputs


def tasks(stored: Iterable[StoredProgram]) -> Iterator[Task | str]:
    """The tasks of a run's stored programs: one for each case and its parameters; or the reason."""
    cases = defaultdict[tuple[str, Parameters], list[tuple[StoredProgram, Program]]](list)
    for item in stored:
        program = Program.from_bytes(item.content)
        cases[item.case, program.parameters].append((item, program))
    for (case, parameters), several in cases.items():
        name = f"{case}, N = {parameters.ring_dimension}"
        try:
            yield _task(name, several[0][0], {item.stage: program for item, program in several})
        except Unsupported as error:
            yield f"{name}: {error}"


def _task(name: str, of: StoredProgram, programs: Mapping[str, Program]) -> Task:
    dimensions, remarks = json.dumps(of.dimensions), list[str]()
    parameters = next(iter(programs.values())).parameters
    if any(program.is_managed for program in programs.values()):
        again, variant = _by_levels(of, dimensions, parameters)
        programs = {stage: item.program for stage, item in again.items()}
        remarks.append(f"{of.variant} chooses levels itself: here they are those of {variant}.")
    else:
        again = _traced_again(of.workload, of.variant, dimensions, parameters)
    body = body_of([*programs.values()])
    numbers = frozenset().union(*map(uniform, (*again.values(), body)))
    equal = [(program, again[stage].program) for stage, program in programs.items() if stage in again]
    if len(equal) < len(programs) or any(_calls(mine) != _calls(other) for mine, other in equal):
        remarks.append(
            "Plaintexts are loaded whole, even those with one value in all slots: only digests are stored."
        )
    else:  # constants that depend on inputs have other digests
        numbers = numbers.union(
            constant.digest
            for mine, other in equal
            for constant, same in zip(mine.constants, other.constants, strict=True)
            if same.digest in numbers
        )
    return Task(
        name,
        tuple(programs.values()),
        numbers,
        body.program if body else None,
        remarks=tuple(remarks),
        measured=(of.workload,),
        case={
            "variant": of.variant,
            "scheme": of.scheme,
            "ring_dimension": parameters.ring_dimension,
            "dimensions": of.dimensions,
        },
    )


def _calls(program: Program) -> list[Hashable]:
    """What a program computes, without its exact scales: a library may have them in other last bits."""
    constants = len(program.constants)
    return [
        constants,
        *((node.operation, node.operands, node.constants, node.arguments) for node in program.nodes),
    ]


def _by_levels(
    of: StoredProgram, dimensions: str, parameters: Parameters
) -> tuple[Mapping[str, Traced], str]:
    """The programs with the levels of the first library that sets them itself, the wrapped one before others."""
    wraps = registry.declaration(of.variant).wraps
    declared = registry.declarations()
    for variant in (*([wraps] if wraps else []), *declared):
        if _drives(declared[variant], parameters):
            again = _traced_again(of.workload, variant, dimensions, parameters)
            if again:
                return again, variant
    raise Unsupported(
        "the program leaves levels to its library, and its workload cannot be traced again with these parameters"
    )


def _drives(declared: Declaration, parameters: Parameters) -> bool:
    return not declared.is_reference and declared.drives_levels(parameters.spec.scheme)


@cache
def _traced_again(name: str, variant: str, dimensions: str, parameters: Parameters) -> Mapping[str, Traced]:
    """The programs of a workload by stage for a variant; empty where it has none, such as for a user's file."""
    try:
        values: Mapping[str, str] = json.loads(dimensions)
        workload = WORKLOADS[name].with_options(of_case(values))
        data = DATA_SETS[values["data_set"]]() if workload.takes_data else None
        given = workload.input(_SEED, data)
        programs = all_traced(workload, given, parameters, registry.declaration(variant))
    except (Unsupported, Exhausted, UserError, LookupError, ValueError):
        return {}
    return {stage: item.traced for stage, item in programs.items()}
