"""What a service answers instead of a result: problem documents as RFC 9457 has them.

Every refusal is one of :data:`KINDS`. ``trial_status`` is Ciphermark's own word for what a trial that meets this
problem ends as; it is absent where no library was at work.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ciphermark_core.words import Status

MEDIA_TYPE = "application/problem+json"
# Kind of problem: HTTP status and title.
KINDS: dict[str, tuple[int, str]] = {
    "malformed": (400, "The request cannot be read"),
    "unauthorized": (401, "A bearer token is needed"),
    "not-found": (404, "There is no such thing"),
    "method-not-allowed": (405, "The method is not allowed here"),
    "session-busy": (409, "The session is answering another request"),
    "session-lost": (409, "The session's process ended"),
    "out-of-turn": (409, "The session is not ready for this"),
    "exists": (409, "There is one already"),
    "too-large": (413, "The body is too large"),
    "wrong-content-type": (415, "The content type is not accepted"),
    "invalid": (422, "The request is not valid"),
    "unsupported": (422, "This cannot be done here"),
    "exhausted": (422, "The levels or the noise budget are used up"),
    "library-failed": (422, "The library failed on this input"),
    "blob-refused": (422, "A blob cannot be used"),
    "too-many": (429, "There are too many already"),
    "internal": (500, "The service has a bug"),
    "not-ready": (503, "The service is not ready"),
}
# What any request may meet, whatever its route.
ALWAYS = ("malformed", "unauthorized", "method-not-allowed", "too-large", "wrong-content-type", "invalid")
_BY_STATUS = {400: "malformed", 401: "unauthorized", 404: "not-found", 405: "method-not-allowed"}
_SHOWN_ERRORS = 10
_SCHEMA = {"$ref": "#/components/schemas/ProblemBody"}


@dataclass  # not frozen: Python writes tracebacks into exceptions
class Problem(Exception):
    """A refusal; ``kind`` is one of :data:`KINDS`, ``detail`` says what is wrong and what to do."""

    kind: str
    detail: str
    trial_status: Status | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind][0]


class ProblemBody(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(
        description="`urn:ciphermark:` and the kind of problem", examples=["urn:ciphermark:not-found"]
    )
    title: str
    status: int = Field(description="the HTTP status", examples=[404])
    detail: str = Field(description="what is wrong, why, and what to do")
    trial_status: Status | None = Field(
        default=None,
        description="how a trial ends that meets this problem; absent where no library was at work",
    )


def response(problem: Problem) -> Response:
    """The problem as an HTTP response."""
    status, title = KINDS[problem.kind]
    body = ProblemBody(
        type=f"urn:ciphermark:{problem.kind}",
        title=title,
        status=status,
        detail=problem.detail,
        trial_status=problem.trial_status,
    )
    # As ASCII: a detail may quote what was sent, and that need not be valid text.
    text = json.dumps(body.model_dump(exclude_none=True), ensure_ascii=True)
    return Response(text, status, dict(problem.headers), MEDIA_TYPE)


def documented(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that may answer these kinds of problems, and those that any route may."""
    titles: dict[int, list[str]] = {}
    for kind in (*ALWAYS, *kinds):
        status, title = KINDS[kind]
        titles.setdefault(status, []).append(f"{title} (`{kind}`)")
    return {
        status: {"description": "; ".join(lines), "content": {MEDIA_TYPE: {"schema": _SCHEMA}}}
        for status, lines in sorted(titles.items())
    }


def install(app: FastAPI) -> None:
    """Make the application answer every refusal as a problem, its own and the framework's."""
    app.add_exception_handler(Problem, _of_problem)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]


def _of_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return response(error)


def _of_validation(_: Request, error: Exception) -> Response:
    """Where and what, never the input itself: it may be anything."""
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    if any(item["type"] == "json_invalid" for item in errors):
        return response(Problem("malformed", "the body is not JSON"))
    lines = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in errors[:_SHOWN_ERRORS]]
    return response(Problem("invalid", "; ".join(lines)))


def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = _BY_STATUS.get(error.status_code, "malformed")
    problem = Problem(
        kind, str(error.detail) or HTTPStatus(error.status_code).phrase, headers=error.headers or {}
    )
    return response(problem)


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's description, with problems in place of its own validation errors."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        schemas["ProblemBody"] = ProblemBody.model_json_schema()
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = made
    return app.openapi_schema
