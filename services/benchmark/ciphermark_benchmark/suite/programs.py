"""The programs of a workload, as a library would execute them, or of a run: what ``ciphermark program`` tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ciphermark_adapters import registry
from ciphermark_contract.program import Program
from ciphermark_core import host as hosts
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Scheme
from ciphermark_workloads.catalogue import WORKLOADS, named
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import recommended
from ciphermark_workloads.programs import all_traced

DEFAULT_DATA_SET = "boston"
_SEED = 1


@dataclass(frozen=True, slots=True)
class Question:
    """Which programs: ``scheme`` ``None`` is the workload's first, ``stage`` ``None`` all of them."""

    workload: str
    variant: str
    options: Mapping[str, Any]
    scheme: Scheme | None = None
    stage: str | None = None


def of_workload(question: Question) -> dict[str, Program]:
    """The program of each stage. Raises ``UserError`` for what there is not, and for what does not fit."""
    workload = named(WORKLOADS, question.workload).with_options(question.options)
    scheme = question.scheme or workload.schemes[0]
    declared = registry.declaration(question.variant)
    _require_here(question.variant)
    data = DATA_SETS[DEFAULT_DATA_SET]() if workload.takes_data else None
    try:
        parameters = registry.load(question.variant).resolve(recommended(workload, scheme, declared))
        traced = all_traced(workload, workload.input(_SEED, data), parameters, declared)
    except Unsupported as error:
        raise UserError(
            f"{workload.name} has no program for {question.variant} in {scheme}: {error}"
        ) from None
    return _chosen({name: item.program for name, item in traced.items()}, question.stage)


def of_run(measured: Iterable[tuple[str, str, str, str, bytes]], stage: str | None) -> dict[str, Program]:
    """The programs that a run measured, each by workload, variant, scheme and stage.

    ``measured`` is what :meth:`ciphermark_db.database.Database.programs` tells. Raises ``UserError`` for none.
    """
    programs = {
        f"{workload} {variant} {scheme} {name}": Program.from_bytes(data)
        for workload, variant, scheme, name, data in measured
        if stage in (None, name)
    }
    if not programs:
        raise UserError("the run measured no program" + (f" of a stage {stage!r}" if stage else ""))
    return programs


def _chosen(programs: dict[str, Program], stage: str | None) -> dict[str, Program]:
    if stage is None:
        return programs
    if stage not in programs:
        raise UserError(f"there is no stage {stage!r} here; stages: {', '.join(programs)}")
    return {stage: programs[stage]}


def _require_here(variant: str) -> None:
    found = registry.availability(variant, frozenset(hosts.collect().cpu_flags))
    if not found.is_installed:
        raise UserError(f"{variant}: {found.reason}; {found.remedy}")
    if not registry.is_loadable_here(variant):
        raise UserError(
            f"{variant} is loaded by an interpreter of its own, which chooses its primes: programs of its runs are "
            "stored; ask for that of a run, or for another variant"
        )
