"""The routes of accelerators: machines, published programs on them, and a prediction with changed values."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from ciphermark_benchmark import machine_comparison, machine_files, on_machines
from ciphermark_benchmark.on_machines import Task
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_web.problems import documented
from ciphermark_workloads.deep import graphs

_Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[a-z0-9-]+$")]
_Size = Annotated[str, Field(min_length=1, max_length=30)]
_ROW = {"machine": "craterlake", "time_s": 0.00301, "binding": "memory"}
_tracing = asyncio.Lock()

router = APIRouter(prefix="/v1", tags=["machines"])


class Machines(BaseModel):
    """Shipped machines, programs that can be predicted on them, and the results of CraterLake."""

    machines: list[str] = Field(examples=[["craterlake", "f1-plus"]])
    programs: list[str] = Field(examples=[["packed-bootstrap", "lstm"]])
    measured: dict[str, list[str]] = Field(
        description="workloads and operations that measure each program", examples=[{"lstm": ["lstm"]}]
    )
    published: dict[str, Any] = Field(
        description="published and predicted times, errors, ablations, sweeps, security", examples=[{}]
    )


class Question(BaseModel):
    """A program, a machine, and changes to its values."""

    model_config = ConfigDict(extra="forbid")

    program: _Name = Field("packed-bootstrap", description="a program of CraterLake", examples=["lstm"])
    machine: _Name = Field("craterlake", description="a shipped machine", examples=["craterlake"])
    register_file: _Size | None = Field(None, description="memory on the chip", examples=["512MiB"])
    bandwidth: _Size | None = Field(None, description="bandwidth of the main memory", examples=["2TB/s"])
    lanes: float | None = Field(None, gt=0, le=1e9, description="words per cycle", examples=[4096.0])
    digits: int | None = Field(None, ge=1, le=60, description="digits of key switching", examples=[3])


class Predicted(BaseModel):
    """The machine as it is, and with the changes."""

    rows: list[dict[str, Any]] = Field(
        description="times in seconds, bytes by kind, busy shares", examples=[[_ROW]]
    )


@router.get("/machines", response_model=Machines, summary="List machines", responses=documented())
def listed() -> dict[str, Any]:
    """Machines and programs by name, and the stored comparison with CraterLake's publication."""
    return {
        "machines": machine_files.names(),
        "programs": [*graphs.GRAPHS],
        "measured": on_machines.MEASURED,
        "published": machine_comparison.stored(),
    }


@router.post("/machines", response_model=Predicted, summary="Predict on a machine", responses=documented())
async def predicted(body: Question) -> dict[str, Any]:
    """Predicts a program on a machine, as it is and with changes. Measures nothing."""
    async with _tracing:
        return {"rows": await asyncio.to_thread(_rows, body)}


_traced = lru_cache(8)(on_machines.of_published)


def _rows(body: Question) -> list[on_machines.Row]:
    if body.machine not in machine_files.names():
        near = did_you_mean(body.machine, machine_files.names())
        raise UserError(f"there is no machine {body.machine!r}{near}")
    usual = machine_files.machine(body.machine)
    names = ("register_file", "bandwidth", "lanes")
    changes: dict[str, Any] = {name: value for name in names if (value := getattr(body, name)) is not None}
    if body.digits is not None:
        longest = usual.digits_at(None).max_residues or 0
        if body.digits > longest:
            raise UserError(
                f"digits: {body.machine} takes {longest} residues, and has no {body.digits} digits"
            )
        changes["digits"] = {next(iter(usual.digits)): [{"up_to": longest, "digits": body.digits}]}
        changes["special_residues"] = None  # as many as in a digit
    task: Task = _traced(body.program)
    several = [usual, *([machine_files.machine(body.machine, changes)] if changes else [])]
    rows, reasons = on_machines.rows(task, several)
    if reasons:
        raise UserError("\n".join(reasons))
    return rows
