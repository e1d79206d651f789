"""The dashboard's application: routes over views, and the middleware around them."""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from threading import Event
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ciphermark_core.errors import UserError
from ciphermark_dashboards import (
    __version__,
    accelerators,
    access,
    advising,
    drawing,
    live,
    templating,
    views,
)
from ciphermark_dashboards.access import ForeignError
from ciphermark_dashboards.benchmark import Benchmark, ServiceAwayError
from ciphermark_dashboards.pages import COMPARE_PAGE, OVERVIEW_PATH, PAGES
from ciphermark_dashboards.settings import Settings
from ciphermark_dashboards.store import NotFoundError, Store, TooSlowError, UnpreparedError
from ciphermark_db.database import DatabaseUnavailable
from ciphermark_db.database_monitor import AWAY, DatabaseMonitor
from ciphermark_web.app import READY, health_router, readiness
from ciphermark_web.layers import Availability

_RETRY_S = 5
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MISTAKES = (
    (NotFoundError, "Not found", 404),
    (ForeignError, "Request from another site", 403),
    (ServiceAwayError, "Benchmark service unavailable", 503),
    (UnpreparedError, "Database not ready", 503),
    (TooSlowError, "Query too large", 503),
)
_OF_RUNS = frozenset({OVERVIEW_PATH, *(page.path for page in PAGES)})


def made(settings: Settings) -> FastAPI:
    """The application; it connects when it starts."""
    store, monitor = Store(settings.database_url), DatabaseMonitor(settings.database_url)
    benchmark = (
        Benchmark(settings.benchmark_url, settings.benchmark_token) if settings.benchmark_url else None
    )

    handlers = views.Views(store)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        store.open()
        # The first page needs Altair, and its browser requests the scripts. Both take seconds to load, so start now.
        is_over = Event()
        preparing = asyncio.create_task(asyncio.to_thread(_prepare, handlers, is_over))
        async with monitor.kept():
            yield
        is_over.set()
        await asyncio.wait({preparing})
        preparing.exception()  # a request for the bundle or a page retries it, and reports the failure
        store.close()
        if benchmark is not None:
            await benchmark.close()

    app = FastAPI(
        title="Ciphermark dashboard",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.add_middleware(Availability, monitor=monitor, needs_none=_needs_no_database, answer=_is_away)
    sessions = None if settings.keyring is None else access.Sessions(settings.keyring)
    _surround(app, settings, sessions)
    _route(app, handlers)
    app.include_router(drawing.router(benchmark))
    app.include_router(advising.router(benchmark))
    app.include_router(accelerators.router(benchmark, store))
    app.include_router(live.router(store, benchmark, settings.services_file, handlers.navigation))
    app.include_router(health_router({"database": lambda: monitor.reason or _reason_against(store)}))
    app.add_exception_handler(UserError, _mistake)
    app.add_exception_handler(DatabaseUnavailable, _away)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.add_exception_handler(ClientDisconnect, _has_left)
    app.add_exception_handler(RequestValidationError, _no_such_id)
    return app


def _surround(app: FastAPI, settings: Settings, sessions: access.Sessions | None) -> None:
    """Add the middleware; the last one added is the outermost."""
    if sessions is not None:
        app.add_middleware(access.Guarded, sessions=sessions)
        _add_login(app, sessions)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*_LOOPBACK, *settings.hosts])
    app.add_middleware(_WithHeaders)
    app.add_middleware(_WithHead)


def _route(app: FastAPI, handlers: views.Views) -> None:
    app.add_api_route(OVERVIEW_PATH, handlers.overview, response_class=HTMLResponse)
    app.add_api_route("/answer.{kind}", handlers.answer)
    for page in PAGES:
        app.add_api_route(
            page.path, partial(handlers.page, page), response_class=HTMLResponse, name=page.title
        )
    app.add_api_route(COMPARE_PAGE.path, handlers.compare, response_class=HTMLResponse)
    app.add_api_route("/case", handlers.case, response_class=HTMLResponse)
    app.add_api_route("/figures/{name}.{kind}", handlers.figure)
    app.add_api_route("/assets/{digest}/{name}", views.asset)


def _add_login(app: FastAPI, sessions: access.Sessions) -> None:
    wrong_tokens = access.WrongTokens()

    @app.get(access.LOGIN_PATH)
    async def asked(request: Request) -> Response:
        """The form. With the token in the address, log in at once and redirect to an address without it."""
        if "token" in request.query_params:
            return await admitted(request, request.query_params)
        place = access.place_within(request.query_params.get("next", "/"))
        return templating.page("login.html", title="Log in", next=place)

    @app.post(access.LOGIN_PATH)
    async def given(request: Request) -> Response:
        return await admitted(request, await access.form(request))

    @app.post(access.LOGOUT_PATH)
    async def left(request: Request) -> Response:
        await access.form(request)
        sessions.close(access.session_id_in(request.headers))
        response = RedirectResponse(access.LOGIN_PATH, 303)
        response.delete_cookie(access.COOKIE)
        return response

    async def admitted(request: Request, fields: Mapping[str, str]) -> Response:
        place = access.place_within(fields.get("next", "/"))
        session_id = sessions.opened(fields.get("token", ""))
        if session_id is None:
            await sleep(wrong_tokens.delay_s())
            return templating.page("login.html", 401, title="Log in", next=place, is_wrong=True)
        response = RedirectResponse(place, 303)
        # Not strict: a link from elsewhere opens the page that it names. The origin check protects forms.
        response.set_cookie(
            access.COOKIE,
            session_id,
            max_age=access.SESSION_S,
            httponly=True,
            samesite="lax",
            secure=access.is_over_tls(request),
        )
        return response


def _prepare(handlers: views.Views, is_over: Event) -> None:
    import_module("altair")
    templating.bundled()
    handlers.prepare(is_over)


def _reason_against(store: Store) -> str | None:
    try:
        store.ask("run_choices", {})
    except (DatabaseUnavailable, UserError):
        return "the database does not answer, or is not migrated"
    return None


class _WithHeaders:
    """Adds default headers to every response, where the response does not set them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, completed)


class _WithHead:
    """Answers HEAD as GET; the server leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        await self._app({**scope, "method": "GET"} if is_head else scope, receive, send)


def _has_left(_: Request, __: Exception) -> Response:
    """The browser disconnected in the middle of a form: no client receives the response."""
    return Response(status_code=400)


def _no_such_route(request: Request, error: Exception) -> HTMLResponse:
    """The response to an unknown address, or to a method that the address does not support."""
    assert isinstance(error, HTTPException)
    if error.status_code != 405:
        return templating.message("Not found", f"There is no page {request.url.path}.", error.status_code)
    answer = templating.message(
        "Method not allowed", f"{request.url.path} does not accept {request.method}.", 405
    )
    answer.headers.update(error.headers or {})
    return answer


def _no_such_id(request: Request, _: Exception) -> HTMLResponse:
    """The response to a path parameter that is not a valid id."""
    return templating.message("Not found", f"There is nothing at {request.url.path}.", 404)


def _mistake(request: Request, error: Exception) -> HTMLResponse:
    """The response to an invalid request: the error's text, and a link that resets filters where these caused it."""
    for kind, title, status_code in _MISTAKES:
        if isinstance(error, kind):
            return templating.message(title, str(error), status_code)
    path, run = request.url.path, request.query_params.get("run")
    link = path + (f"?{urlencode({'run': run})}" if run else "") if path in _OF_RUNS else None
    return templating.message("Invalid request", str(error), 400, link=link)


def _needs_no_database(path: str) -> bool:
    """Whether a path is served while PostgreSQL is away: the liveness check, log-in, assets, and event streams."""
    return path != READY and (access.is_open(path) or path.endswith("/events"))


async def _is_away(scope: Scope, receive: Receive, send: Send) -> None:
    is_health = scope["path"] == READY
    page = _away_page("The server accepts or refuses connections, but does not respond.")
    await (readiness({"database": AWAY}) if is_health else page)(scope, receive, send)


def _away(_: Request, error: Exception) -> HTMLResponse:
    return _away_page(str(error))


def _away_page(told: str) -> HTMLResponse:
    """The response while PostgreSQL does not answer: the page reloads automatically."""
    return templating.message(
        "Database unavailable",
        f"PostgreSQL does not answer. This page retries every {_RETRY_S} s.",
        503,
        example=told,
        retry_s=_RETRY_S,
    )
