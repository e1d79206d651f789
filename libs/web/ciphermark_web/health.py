"""Is it alive, is it ready, what does it count."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from ciphermark_web import metrics, problems

Check = Callable[[], str | None]  # why not, or None; told to anyone, so without paths and names


class Alive(BaseModel):
    """The service answers."""

    alive: bool = True


class Ready(BaseModel):
    """Whether the service can do its work; ``checks`` says why not, check by check."""

    ready: bool
    checks: dict[str, str | None] = Field(examples=[{"blobs": None}])


def router(checks: Mapping[str, Check]) -> APIRouter:
    """``/healthz`` and ``/readyz``, for anyone."""
    made = APIRouter(tags=["health"])

    @made.get("/healthz", summary="Is it alive?", responses=_refusals())
    async def healthz() -> Alive:
        return Alive()

    @made.get(
        "/readyz",
        summary="Can it work?",
        response_model=Ready,
        responses=_refusals() | {503: {"model": Ready, "description": "Not now: `checks` says why"}},
    )
    def readyz() -> Response:
        found = {name: check() for name, check in checks.items()}
        is_ready = not any(found.values())
        return JSONResponse({"ready": is_ready, "checks": found}, 200 if is_ready else 503)

    return made


def metrics_router(counted: metrics.Metrics) -> APIRouter:
    """``/metrics``, for those who have the token."""
    made = APIRouter(tags=["health"])

    @made.get(
        "/metrics",
        summary="Prometheus metrics",
        response_class=Response,
        responses=problems.documented() | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    def exposed() -> Response:
        return Response(counted.exposed(), media_type=metrics.MEDIA_TYPE)

    return made


def _refusals() -> dict[int | str, dict[str, object]]:
    """What health may answer besides: it needs no token, and takes nothing."""
    found = problems.documented()
    del found[401]
    return found
