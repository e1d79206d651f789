"""The client's data sets over REST."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from ciphermark_client.data_sets import DataSets, Shape
from ciphermark_client.words import DataSetFacts
from ciphermark_core.errors import UserError
from ciphermark_web.problems import Problem, documented

_CSV = {
    "required": True,
    "content": {
        "text/csv": {
            "schema": {"type": "string", "minLength": 1},
            "example": "age,smokes,low\n19,0,0\n33,1,1\n",
        }
    },
}


def router(data_sets: DataSets) -> APIRouter:
    """``GET /data-sets`` and ``POST /data-sets``."""
    made = APIRouter(prefix="/v1", tags=["data sets"])

    @made.get("/data-sets", summary="Data sets that this client has", responses=documented())
    def list_data_sets() -> list[DataSetFacts]:
        return [_facts(shape) for shape in data_sets.all()]

    @made.post(
        "/data-sets",
        summary="Give the client a data set: CSV, a header line, numbers, the label (two values) last",
        status_code=201,
        openapi_extra={"requestBody": _CSV},
        responses=documented("too-many"),
    )
    async def add_data_set(request: Request) -> DataSetFacts:
        data = await request.body()
        try:
            return _facts(await run_in_threadpool(data_sets.add, data))
        except UserError as error:
            raise Problem("invalid", str(error)) from None

    return made


def _facts(shape: Shape) -> DataSetFacts:
    return DataSetFacts(name=shape.name, rows=shape.rows, features=shape.features)
