"""Stored programs as tasks of accelerators: of every library, with their constants, and the reasons against others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_benchmark import machine_files, predicting, stored_programs
from ciphermark_benchmark.on_machines import Task, rows
from ciphermark_contract.program import Constant, Program
from ciphermark_core.model import Parameters
from ciphermark_db.database import StoredProgram
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.programs import all_traced

LIBRARIES = ("seal", "seal-hexl", "tenseal", "pyfhel", "openfhe", "lattigo", "helib")
MACHINE = machine_files.machine("craterlake")


def parameters_of(workload: str, scheme: str) -> Parameters:
    declared = registry.declaration("seal")
    _, stages = predicting.traced(WORKLOADS[workload], None, declared, scheme=scheme)
    return next(iter(stages.values())).program.parameters


def stored(workload: str, variant: str, parameters: Parameters) -> list[StoredProgram]:
    """What a run of a workload stores; its input differs from that of the prediction."""
    given = WORKLOADS[workload].input(7, None)
    programs = all_traced(WORKLOADS[workload], given, parameters, registry.declaration(variant))
    scheme = parameters.spec.scheme
    return [
        StoredProgram(workload, variant, scheme, stage, {}, item.program.to_bytes())
        for stage, item in programs.items()
    ]


def predicted(programs: list[StoredProgram]) -> dict:
    (task,) = stored_programs.tasks(programs)
    assert isinstance(task, Task), task
    (row,), reasons = rows(task, [MACHINE])
    assert reasons == []
    return row


@pytest.mark.parametrize("variant", LIBRARIES)
def test_a_stored_program_of_every_library_has_a_prediction(variant: str) -> None:
    """Coefficients of the polynomial are numbers: nothing is loaded for them. TenSEAL chooses levels itself."""
    parameters = parameters_of("logistic", "ckks")
    row = predicted(stored("logistic", variant, parameters))
    assert row["program"] == f"logistic, {variant}, ckks, N = {parameters.ring_dimension}"
    assert row["time_s"] > 0
    assert row["plaintext_bytes"] == 0
    managed = ["tenseal chooses levels itself: here they are those of seal."]
    assert row["remarks"] == (managed if variant == "tenseal" else [])
    assert row["case"]["variant"] == variant


def test_a_program_of_unknown_structure_loads_its_plaintexts() -> None:
    (item,) = stored("logistic", "seal", parameters_of("logistic", "ckks"))
    row = predicted([item._replace(workload="of-a-user")])
    assert row["plaintext_bytes"] > 0
    assert row["remarks"] == [
        "Plaintexts are loaded whole, even those with one value in all slots: only digests are stored."
    ]


def test_constants_are_known_by_their_place_where_digests_differ() -> None:
    """A constant may depend on the run's inputs, and a library may have another scale in the last bits."""
    (item,) = stored("logistic", "seal", parameters_of("logistic", "ckks"))
    program = Program.from_bytes(item.content)
    others = tuple(
        Constant(f"{number:064x}", constant.level, constant.scale and constant.scale * (1 + 1e-15))
        for number, constant in enumerate(program.constants)
    )
    other = replace(program, constants=others)
    assert predicted([item._replace(content=other.to_bytes())])["plaintext_bytes"] == 0


def test_cases_and_their_parameters_are_tasks_of_their_own() -> None:
    programs = stored("logistic", "seal", parameters_of("logistic", "ckks"))
    second = [item._replace(dimensions={"data_set": "boston"}) for item in programs]
    names = [task.name for task in stored_programs.tasks([*programs, *second]) if isinstance(task, Task)]
    assert len(names) == 2
    assert names[1] == names[0].replace("ckks, ", "ckks, boston, ")


def test_a_managed_program_without_its_workload_is_refused() -> None:
    (item,) = stored("logistic", "tenseal", parameters_of("logistic", "ckks"))
    (reason,) = stored_programs.tasks([item._replace(workload="of-a-user")])
    assert "cannot be traced again with these parameters" in str(reason)
