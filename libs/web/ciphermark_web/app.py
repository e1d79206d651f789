"""Assembles a service: its own routes, and around them what every service has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header
from fastapi.security import HTTPBearer
from starlette.middleware import Middleware

from ciphermark_web import belonging, health, problems, queries
from ciphermark_web.guard import Guarded
from ciphermark_web.limits import BodyRule, Limited
from ciphermark_web.metrics import Metrics
from ciphermark_web.observe import Observed

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
        dependencies=[Depends(queries.known_only)],
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
        str | None, Header(description="the run that this belongs to", pattern=belonging.ID_PATTERN)
    ] = None,
    x_trial_id: Annotated[
        str | None, Header(description="the trial that this belongs to", pattern=belonging.ID_PATTERN)
    ] = None,
) -> AsyncIterator[None]:
    """The ids appear in every line of the log, and in the answer."""
    yield
