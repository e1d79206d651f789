"""The client's data sets over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from ciphermark_client.data_sets import DataSets, Shape
from ciphermark_client.schemas import DataSetFacts
from ciphermark_core.errors import UserError
from ciphermark_web.problems import Problem, documented
from ciphermark_workloads.data_sets import LabelRule

_Called = Annotated[
    str | None,
    Query(
        alias="name",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$",
        description="`mine` makes it `mine@` and the beginning of its digest; absent: its whole digest is its name",
        examples=["mine"],
    ),
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
# What is answered to that, called `mine`.
_KEPT = {"content": {"application/json": {"example": {"name": "mine@d69b496f", "rows": 10, "features": 2}}}}


def router(data_sets: DataSets) -> APIRouter:
    """``GET /data-sets`` and ``POST /data-sets``."""
    made = APIRouter(prefix="/v1", tags=["data sets"])

    @made.get("/data-sets", summary="Data sets that this client has", responses=documented())
    def list_data_sets() -> list[DataSetFacts]:
        return [_facts(shape) for shape in data_sets.all()]

    @made.post(
        "/data-sets",
        summary="Give the client a data set: CSV, a header line, numbers, the label last",
        status_code=201,
        openapi_extra={"requestBody": _CSV},
        responses=documented("too-many", "exists") | {201: _KEPT},
    )
    async def add_data_set(request: Request, called: _Called = None, label: _Rule = "binary") -> DataSetFacts:
        data = await request.body()
        try:
            return _facts(await run_in_threadpool(data_sets.add, data, label, called))
        except UserError as error:
            raise Problem("invalid", str(error)) from None

    return made


def _facts(shape: Shape) -> DataSetFacts:
    return DataSetFacts(name=shape.name, rows=shape.rows, features=shape.features)
