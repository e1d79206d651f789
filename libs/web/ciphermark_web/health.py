"""Is it alive, is it ready, what does it count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from ciphermark_web import observe, problems

READY = "/readyz"
Check = Callable[[], str | None]  # why not, or None; told to anyone, so without paths and names


class Alive(BaseModel):
    """The service answers."""

    alive: bool = Field(True, examples=[True])


class Ready(BaseModel):
    """Whether the service can do its work; ``checks`` says why not, check by check, ``notes`` what else is amiss."""

    ready: bool = Field(examples=[True])
    checks: dict[str, str | None] = Field(examples=[{"blobs": None}])
    notes: dict[str, str | None] = Field(
        description="what it answers without; null where nothing is amiss", examples=[{}]
    )


_NONE: Mapping[str, Check] = MappingProxyType({})
_NOT_READY: dict[str, Any] = {
    "model": Ready,
    "description": "Not now: `checks` says why",
    "content": {
        "application/json": {
            "example": {
                "ready": False,
                "checks": {"blobs": "the shared volume cannot be written: Read-only file system"},
                "notes": {},
            }
        }
    },
}
_EXPOSED = {
    "schema": {"type": "string"},
    "example": "# HELP ciphermark_requests_total Requests answered\n"
    "# TYPE ciphermark_requests_total counter\n"
    'ciphermark_requests_total{method="GET",route="/readyz",status="200"} 1.0\n',
}


def router(checks: Mapping[str, Check], notes: Mapping[str, Check] = _NONE) -> APIRouter:
    """``/healthz`` and ``/readyz``, for anyone. Notes are told while it is ready, and make nothing unready."""
    made = APIRouter(tags=["health"])

    @made.get("/healthz", summary="Is it alive?", responses=_refusals())
    async def healthz() -> Alive:
        return Alive()

    @made.get(
        READY,
        summary="Can it work?",
        response_model=Ready,
        responses=_refusals() | {503: _NOT_READY},
    )
    def readyz() -> Response:
        return told({name: check() for name, check in checks.items()}, notes)

    return made


def told(found: Mapping[str, str | None], notes: Mapping[str, Check] = _NONE) -> Response:
    """What :data:`READY` answers where checks found this."""
    is_ready = not any(found.values())
    beside = {name: note() for name, note in notes.items()} if is_ready else {}
    return JSONResponse({"ready": is_ready, "checks": found, "notes": beside}, 200 if is_ready else 503)


def metrics_router(counted: observe.Metrics) -> APIRouter:
    """``/metrics``, for those who have the token."""
    made = APIRouter(tags=["health"])

    @made.get(
        "/metrics",
        summary="Prometheus metrics",
        response_class=Response,
        responses=problems.documented() | {200: {"content": {"text/plain": _EXPOSED}}},
    )
    def exposed() -> Response:
        return Response(counted.exposed(), media_type=observe.MEDIA_TYPE)

    return made


def _refusals() -> dict[int | str, dict[str, object]]:
    """What health may answer besides: it needs no token, and takes nothing."""
    found = problems.documented()
    del found[401]
    return found
