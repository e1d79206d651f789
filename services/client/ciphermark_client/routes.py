"""The client's routes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Body, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from ciphermark_client.data_sets import DataSets, Shape
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.parties import messages
from ciphermark_parties.api import AS_MESSAGE, SessionId, model_of, opened
from ciphermark_parties.host import PartyHost
from ciphermark_web.problems import Problem, documented
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.data_sets import LabelRule
from ciphermark_workloads.workload import Stage

_OF_KEYS = ("session-lost", "unsupported", "library-failed", "blob-refused", "disk-full", "too-many")
_IN_SESSION = (
    "not-found",
    "session-busy",
    "session-lost",
    "out-of-turn",
    "unsupported",
    "budget-exhausted",
    "library-failed",
    "blob-refused",
    "disk-full",
)


def router(parties: PartyHost) -> APIRouter:
    """The routes below ``/sessions`` and ``/workloads``."""
    routes = APIRouter(prefix="/v1")

    @routes.post(
        "/sessions",
        tags=["sessions"],
        summary="Make keys",
        status_code=201,
        response_model=opened(messages.KeysMade),
        responses=documented(*_OF_KEYS),
    )
    def make_keys(asked: Annotated[messages.MakeKeys, AS_MESSAGE, Body()], request: Request) -> Any:
        return parties.opened(asked, request.headers, messages.KeysMade)

    @routes.post(
        "/sessions/{session_id}/encrypt",
        tags=["sessions"],
        summary="Encrypt the inputs of a stage",
        response_model=model_of(messages.Encrypted),
        responses=documented(*_IN_SESSION),
    )
    def encrypt(session_id: SessionId, asked: Annotated[messages.Encrypt, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.Encrypted)

    @routes.post(
        "/sessions/{session_id}/score",
        tags=["sessions"],
        summary="Decrypt and score",
        response_model=model_of(messages.Scored),
        responses=documented(*_IN_SESSION),
    )
    def score(session_id: SessionId, asked: Annotated[messages.Score, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.Scored)

    @routes.post(
        "/sessions/{session_id}/layers",
        tags=["sessions"],
        summary="Compare what layers end with",
        response_model=model_of(messages.LayersCompared),
        responses=documented(*_IN_SESSION),
    )
    def layers(session_id: SessionId, asked: Annotated[messages.CompareLayers, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.LayersCompared)

    @routes.get("/workloads", tags=["workloads"], summary="What can be computed", responses=documented())
    def list_workloads() -> list[WorkloadFacts]:
        return [_facts(item) for _, item in sorted(WORKLOADS.items())]

    return routes


def _facts(workload: AnyWorkload) -> WorkloadFacts:
    return WorkloadFacts(
        name=workload.name,
        family=workload.family,
        title=workload.title,
        stages=workload.stages,
        schemes=workload.schemes,
        takes_data=workload.takes_data,
        options=msgspec.structs.asdict(workload.options),
    )


class DataSetFacts(BaseModel):
    """A data set that this client has."""

    name: str = Field(examples=["boston"])
    rows: int = Field(examples=[506])
    features: int = Field(examples=[13])


class WorkloadFacts(BaseModel):
    """A workload: its stages in order, and the defaults of its options."""

    name: str = Field(examples=["lmc-plain"])
    family: str = Field(examples=["learning"])
    title: str = Field(examples=["linear means, trained in the clear"])
    stages: tuple[Stage, ...] = Field(
        examples=[[{"name": "train", "returns": "nothing"}, {"name": "infer", "returns": "result"}]]
    )
    schemes: tuple[Scheme, ...] = Field(examples=[["bfv", "bgv", "ckks"]])
    takes_data: bool = Field(description="it computes on a data set", examples=[True])
    options: dict[str, Any] = Field(examples=[{"test_share": 0.2}])


_Called = Annotated[
    str | None,
    Query(
        alias="name",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$",
        description="`mine` makes it `mine@` and the beginning of its digest; absent: its whole digest is its name",
        examples=["mine"],
    ),
]
_Name = Annotated[
    str,
    Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$", description="as listed", examples=["mine@d69b496f"]),
]
_Rule = Annotated[
    LabelRule,
    Query(description="binary: the label has two values; median: class 1 is what is above the median"),
]
_CSV = {
    "required": True,
    "content": {
        "text/csv": {
            "schema": {"type": "string", "minLength": 1},
            "example": "age,smokes,low\n19,0,0\n33,1,1\n20,0,0\n21,1,1\n18,0,0\n"
            "35,1,1\n22,0,0\n27,0,0\n29,1,1\n24,0,1\n",
        }
    },
}
# The response to that data set, named `mine`.
_KEPT = {"content": {"application/json": {"example": {"name": "mine@d69b496f", "rows": 10, "features": 2}}}}


def data_sets_router(data_sets: DataSets) -> APIRouter:
    """The routes ``GET`` and ``POST /data-sets``, and ``DELETE /data-sets/{name}``."""
    routes = APIRouter(prefix="/v1", tags=["data sets"])

    @routes.get("/data-sets", summary="Data sets that this client has", responses=documented())
    def list_data_sets() -> list[DataSetFacts]:
        return [_shape_facts(shape) for shape in data_sets.all()]

    @routes.post(
        "/data-sets",
        summary="Give the client a data set: CSV, a header line, numbers, the label last",
        status_code=201,
        openapi_extra={"requestBody": _CSV},
        responses=documented("too-many", "exists") | {201: _KEPT},
    )
    async def add_data_set(request: Request, called: _Called = None, label: _Rule = "binary") -> DataSetFacts:
        data = await request.body()
        try:
            return _shape_facts(await run_in_threadpool(data_sets.add, data, label, called))
        except UserError as error:
            raise Problem("invalid", str(error)) from None

    @routes.delete(
        "/data-sets/{name}",
        summary="Delete a data set that the client was given",
        status_code=204,
        responses=documented("not-found"),
    )
    def remove_data_set(name: _Name) -> None:
        data_sets.remove(name)

    return routes


def _shape_facts(shape: Shape) -> DataSetFacts:
    return DataSetFacts(name=shape.name, rows=shape.rows, features=shape.features)
