"""Assembles a service: its own routes, and around them what every service has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header
from fastapi.security import HTTPBearer
from starlette.middleware import Middleware
from starlette.requests import Request

from ciphermark_core.nearest import did_you_mean
from ciphermark_web import health, problems, request_ids
from ciphermark_web.limits import BodyRule, Guarded, Limited
from ciphermark_web.observe import Metrics, Observed
from ciphermark_web.problems import Problem

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Service:
    """What one service is made of.

    ``routers`` have the prefix ``/v1`` from the start: metrics count by the path that a route was declared with.
    ``notes`` are what ``/readyz`` tells beside ``checks``, and is ready without. ``bodies`` are the paths that accept
    something else than JSON of ordinary size. ``innermost`` are layers of the service's own, around its routes.
    """

    title: str
    description: str
    version: str
    token: str
    routers: Sequence[APIRouter]
    checks: Mapping[str, health.Check]
    metrics: Metrics
    lifespan: Lifespan
    notes: Mapping[str, health.Check] = field(default_factory=dict)
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
            Middleware(Guarded, token=service.token),
            Middleware(Limited, rules=service.bodies),
            *service.innermost,
        ],
    )
    problems.install(app)
    app.include_router(health.router(service.checks, service.notes))
    guarded = APIRouter(dependencies=[Depends(_documented_bearer), Depends(_documented_ids)])
    guarded.include_router(health.metrics_router(service.metrics))
    for router in service.routers:
        guarded.include_router(router)
    app.include_router(guarded)
    return app


# What the layers around the routes demand, told to OpenAPI.
_documented_bearer = HTTPBearer(auto_error=False, description="this service's token")


async def _documented_ids(
    x_run_id: Annotated[
        str | None, Header(description="the run that this belongs to", pattern=request_ids.ID_PATTERN)
    ] = None,
    x_trial_id: Annotated[
        str | None, Header(description="the trial that this belongs to", pattern=request_ids.ID_PATTERN)
    ] = None,
) -> AsyncIterator[None]:
    """The ids appear in every line of the log, and in the answer."""
    yield


_SHOWN_CHARACTERS = 64  # of a name; it may be anything


async def known_only(request: Request) -> None:
    """Raise ``Problem`` for a query parameter that the description of the request's route does not name."""
    if not request.query_params:
        return
    known = _described_queries(request)
    for name in request.query_params:
        if name not in known:
            shown = name[:_SHOWN_CHARACTERS]
            here = f"known here: {', '.join(known)}" if known else "none is taken here"
            raise Problem(
                "invalid", f"query: unknown parameter {shown!r}{did_you_mean(shown, known)}; {here}"
            )


def _described_queries(request: Request) -> list[str]:
    """The query parameters of the request's route, as OpenAPI has them."""
    operation = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
    return [item["name"] for item in operation.get("parameters", ()) if item["in"] == "query"]
