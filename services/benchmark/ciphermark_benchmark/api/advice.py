"""The route of advice: which library, build and parameters to take for an installed workload, within limits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from ciphermark_benchmark import advising
from ciphermark_benchmark.advising import Wish
from ciphermark_benchmark.api.state import Advisable, State, state_of
from ciphermark_benchmark.api.views import ADVICE
from ciphermark_benchmark.limits import WishText
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_core.run import Host
from ciphermark_model.advice import Limits
from ciphermark_web.problems import documented
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, named

_FILE = (
    "services execute no files: use `ciphermark advise FILE.py`, or install yours with an entry point "
    "ciphermark.workloads"
)
_LAST = "select coalesce(max(sequence), 0) from trial"
_Name = Annotated[str, Field(min_length=1, max_length=200)]

router = APIRouter(prefix="/v1", tags=["advice"])
Shared = Annotated[State, Depends(state_of)]


class Advisees(BaseModel):
    """The workloads that advice can be requested for."""

    workloads: list[str] = Field(examples=[["logistic", "matrix-product"]])


class Asked(WishText):
    """An installed workload, its options, and the limits; numbers in SI units, or texts with a unit."""

    workload: _Name = Field(description="as `ciphermark workload list` names it", examples=["logistic"])
    options: dict[str, str | int | float | bool] = Field(
        {}, max_length=50, description="options of the workload; others have their defaults", examples=[{}]
    )


class Advised(BaseModel):
    """The points that no candidate beats in time, memory and traffic, the best first; and the reason against each other
    candidate. Indices are those of `candidates`. Unknown or infinite numbers are null.
    """

    workload: str = Field(examples=["logistic"])
    objective: str = Field(examples=["time"])
    limits: dict[str, Any] = Field(description="in SI units", examples=[ADVICE["limits"]])
    link: dict[str, Any] = Field(description="bits per second, seconds", examples=[ADVICE["link"]])
    notes: list[str] = Field(description="on the cost tables", examples=[ADVICE["notes"]])
    candidates: list[dict[str, Any]] = Field(
        description="everything compared, with predicted costs or the reason for none",
        examples=[ADVICE["candidates"]],
    )
    points: list[dict[str, Any]] = Field(
        description="rank, comparison with the next one, limits within the intervals, and a suite to run",
        examples=[ADVICE["points"]],
    )
    left_out: list[dict[str, Any]] = Field(
        description="missed limits, the dominating candidate, or the reason for no prediction",
        examples=[ADVICE["left_out"]],
    )
    nearest: list[dict[str, Any]] = Field(
        description="the candidates nearest to the limits; empty if any point meets them",
        examples=[ADVICE["nearest"]],
    )


@router.get("/advice", response_model=Advisees, summary="What to advise on", responses=documented())
def advisees() -> Advisees:
    """The installed workloads."""
    return Advisees(workloads=sorted(WORKLOADS))


@router.post(
    "/advice",
    response_model=Advised,
    summary="Ask for advice",
    responses=documented("not-ready"),
)
async def advised(body: Asked, state: Shared) -> dict[str, Any]:
    """Predicts from the cost tables of this host; measures nothing. Another request that differs in limits only is
    answered from the same predictions.
    """
    if user_workloads.is_own(body.workload):
        raise UserError(_FILE)
    workload = named(WORKLOADS, body.workload).with_options(body.options)
    facts = await asyncio.to_thread(host.collect)
    wish = advising.wished(workload, body.workload, body, facts)
    level = Limits(security=wish.limits.security, security_table=wish.limits.security_table)
    whole = replace(wish, limits=level)
    place = repr(
        (
            whole.name,
            workload.options,
            level,
            whole.link,
            whole.threads,
            whole.core_hour,
            whole.accepts_other_hosts,
        )
    )
    last = await asyncio.to_thread(_last_trial, state)

    async def ask() -> Advisable:
        async with state.advising:
            return await asyncio.to_thread(_candidates, state, whole, facts)

    several, notes = await state.advisable.get((place, last), ask)
    return await asyncio.to_thread(advising.answered, wish, several, notes)


def _last_trial(state: State) -> int:
    """The number of the last recorded trial: cost tables change with it."""
    with state.connect() as database:
        return int(database.query(_LAST).rows[0][0])


def _candidates(state: State, wish: Wish, facts: Host) -> Advisable:
    with state.connect() as database:
        predict, notes = advising.predictor(database, wish, facts)
    there = advising.installed(wish.limits, frozenset(facts.cpu_flags))
    return advising.candidates(wish, there, predict), notes
