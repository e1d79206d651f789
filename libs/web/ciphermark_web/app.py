"""Assembles a service: its own routes, inside the layers that all services share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ciphermark_core.nearest import did_you_mean
from ciphermark_web import observe, problems
from ciphermark_web.keyring import Keyring
from ciphermark_web.layers import BodyRule, Guarded, Limited
from ciphermark_web.observe import Metrics, Observed
from ciphermark_web.problems import Problem

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one service.

    ``routers`` must have the prefix ``/v1``: metrics count by the path that a route was declared with. ``/readyz``
    reports ``notes`` in addition to ``checks``, but they do not affect readiness. ``bodies`` are the paths that accept
    bodies other than JSON of ordinary size. ``innermost`` are the service's own layers around its routes.
    """

    title: str
    description: str
    version: str
    keyring: Keyring
    routers: Sequence[APIRouter]
    checks: Mapping[str, Check]
    metrics: Metrics
    lifespan: Lifespan
    notes: Mapping[str, Check] = field(default_factory=dict)
    bodies: Mapping[str, BodyRule] = field(default_factory=dict)
    innermost: Sequence[Middleware] = ()


def assembled(service: Service) -> FastAPI:
    """The application. Documentation pages are left out: they would load scripts from elsewhere."""
    app = FastAPI(
        title=service.title,
        description=service.description,
        version=service.version,
        docs_url=None,
        redoc_url=None,
        lifespan=service.lifespan,
        redirect_slashes=False,
        dependencies=[Depends(known_only)],
        middleware=[
            Middleware(Observed, metrics=service.metrics),
            Middleware(Guarded, keyring=service.keyring),
            Middleware(Limited, rules=service.bodies),
            *service.innermost,
        ],
    )
    problems.install(app)
    app.include_router(health_router(service.checks, service.notes))
    guarded = APIRouter(dependencies=[Depends(_documented_bearer), Depends(_documented_ids)])
    guarded.include_router(metrics_router(service.metrics))
    for router in service.routers:
        guarded.include_router(router)
    app.include_router(guarded)
    return app


# Requirements of the layers around the routes, for OpenAPI.
_documented_bearer = HTTPBearer(auto_error=False, description="this service's token")


async def _documented_ids(
    x_run_id: Annotated[
        str | None, Header(description="the run that this belongs to", pattern=observe.ID_PATTERN)
    ] = None,
    x_trial_id: Annotated[
        str | None, Header(description="the trial that this belongs to", pattern=observe.ID_PATTERN)
    ] = None,
) -> AsyncIterator[None]:
    """The ids appear in every line of the log, and in the response."""
    yield


_SHOWN_CHARACTERS = 64  # of a name, which is arbitrary input


async def known_only(request: Request) -> None:
    """Raise ``Problem`` for a query parameter that the description of the request's route does not name."""
    if not request.query_params:
        return
    names = _described_queries(request)
    for name in request.query_params:
        if name not in names:
            shown = name[:_SHOWN_CHARACTERS]
            here = f"known here: {', '.join(names)}" if names else "none is taken here"
            raise Problem(
                "invalid", f"query: unknown parameter {shown!r}{did_you_mean(shown, names)}; {here}"
            )


def _described_queries(request: Request) -> list[str]:
    """The query parameters of the request's route, as in OpenAPI."""
    operation = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
    return [item["name"] for item in operation.get("parameters", ()) if item["in"] == "query"]


READY = "/readyz"
Check = Callable[[], str | None]  # the fault or None; public, so without paths and names


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
    "description": "Not ready: `checks` gives the reason",
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


def health_router(checks: Mapping[str, Check], notes: Mapping[str, Check] = _NONE) -> APIRouter:
    """``/healthz`` and ``/readyz``, without a token. Notes are reported and do not affect readiness."""
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz", summary="Is it alive?", responses=_refusals())
    async def healthz() -> Alive:
        return Alive()

    @routes.get(
        READY,
        summary="Can it work?",
        response_model=Ready,
        responses=_refusals() | {503: _NOT_READY},
    )
    def readyz() -> Response:
        return readiness({name: check() for name, check in checks.items()}, notes)

    return routes


def readiness(found: Mapping[str, str | None], notes: Mapping[str, Check] = _NONE) -> Response:
    """The response of :data:`READY` for these results of checks."""
    is_ready = not any(found.values())
    beside = {name: note() for name, note in notes.items()} if is_ready else {}
    return JSONResponse({"ready": is_ready, "checks": found, "notes": beside}, 200 if is_ready else 503)


def metrics_router(counted: observe.Metrics) -> APIRouter:
    """``/metrics``, which requires the token."""
    routes = APIRouter(tags=["health"])

    @routes.get(
        "/metrics",
        summary="Prometheus metrics",
        response_class=Response,
        responses=problems.documented() | {200: {"content": {"text/plain": _EXPOSED}}},
    )
    def exposed() -> Response:
        return Response(counted.exposed(), media_type=observe.MEDIA_TYPE)

    return routes


def _refusals() -> dict[int | str, dict[str, object]]:
    """Other responses of health routes: they need no token, and accept no input."""
    responses = problems.documented()
    del responses[401]
    return responses
