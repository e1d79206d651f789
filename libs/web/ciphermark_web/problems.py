"""Error responses of a service: problem documents by RFC 9457.

Every refusal is one of :data:`KINDS`. ``trial_status`` is Ciphermark's extension: the final status of a trial that
meets this problem. It is absent where no library was at work.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ciphermark_core.model import Status

MEDIA_TYPE = "application/problem+json"


class Kind(NamedTuple):
    """A kind of problem: its HTTP status and title, an example of a detail, and the final status of a trial that meets
    it.
    """

    status: int
    title: str
    example: str
    trial_status: Status | None = None


_SESSION = "0f" * 16
KINDS: dict[str, Kind] = {
    "malformed": Kind(400, "The request cannot be read", "the body is not JSON"),
    "unauthorized": Kind(
        401, "A bearer token is needed", "send `Authorization: Bearer …` with this service's token"
    ),
    "forbidden": Kind(
        403, "The caller's role does not include this", "ada is a reader; this needs a submitter"
    ),
    "not-found": Kind(
        404, "There is no such thing", f"there is no session {_SESSION}: it was ended, or died, or never was"
    ),
    "method-not-allowed": Kind(405, "The method is not allowed here", "Method Not Allowed"),
    "session-busy": Kind(
        409,
        "The session is answering another request",
        f"session {_SESSION} answers one request at a time: wait for it",
    ),
    "session-lost": Kind(
        409, "The session's process ended", "the worker died of SIGSEGV; open a new session", "crashed"
    ),
    "out-of-turn": Kind(
        409, "The session is not ready for this", "there are no keys yet: ask for them first (make_keys)"
    ),
    "exists": Kind(
        409, "There is one already", "another data set is called mine@5e5e5e5e: call this one otherwise"
    ),
    "too-large": Kind(413, "The body is too large", "a body may have 1048576 bytes here"),
    "wrong-content-type": Kind(
        415, "The content type is not accepted", "send application/json here, in UTF-8"
    ),
    "invalid": Kind(
        422, "The request is not valid", "body.phase: Field required; body.inputs: Field required"
    ),
    "unsupported": Kind(422, "This cannot be done here", "the library has no rotation", "unsupported"),
    "budget-exhausted": Kind(
        422,
        "The levels or the noise budget are used up",
        "no noise budget is left in what the server returned",
        "budget_exhausted",
    ),
    "library-failed": Kind(
        422,
        "The library failed on this input",
        "RuntimeError: ciphertext data is invalid (in load)",
        "crashed",
    ),
    "blob-refused": Kind(
        422, "A blob cannot be used", f"blob {'5e' * 32} is missing: it was never written, or swept away"
    ),
    "too-many": Kind(
        429,
        "There are too many already",
        "100 data sets are stored, which is the limit: use or delete one of them",
    ),
    "internal": Kind(500, "The service has a bug", "internal error of the service; see its log"),
    "not-ready": Kind(
        503, "The service is not ready", "PostgreSQL does not answer, or takes too long: try again later"
    ),
    "disk-full": Kind(
        507,
        "The shared volume is full",
        "a blob could not be written to /blobs: No space left on device",
    ),
}
# Problems of any request, on every route.
ALWAYS = (
    "malformed",
    "unauthorized",
    "forbidden",
    "method-not-allowed",
    "too-large",
    "wrong-content-type",
    "invalid",
)
_BY_STATUS = {400: "malformed", 401: "unauthorized", 404: "not-found", 405: "method-not-allowed"}
_SHOWN_ERRORS = 10
_SCHEMA = {"$ref": "#/components/schemas/ProblemBody"}


@dataclass  # not frozen: Python writes tracebacks into exceptions
class Problem(Exception):
    """A refusal; ``kind`` is one of :data:`KINDS`, ``detail`` gives the error and the remedy."""

    kind: str
    detail: str
    trial_status: Status | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind].status


class ProblemBody(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(
        description="`urn:ciphermark:` and the kind of problem", examples=["urn:ciphermark:not-found"]
    )
    title: str = Field(examples=["There is no such thing"])
    status: int = Field(description="the HTTP status", examples=[404])
    detail: str = Field(
        description="the fault, its cause and the remedy", examples=[KINDS["not-found"].example]
    )
    trial_status: Status | None = Field(
        default=None,
        description="how a trial ends that meets this problem; absent where no library was at work",
    )


def response(problem: Problem) -> Response:
    """The problem as an HTTP response."""
    # As ASCII: a detail may quote the input, which need not be valid text.
    text = json.dumps(_body(problem), ensure_ascii=True)
    return Response(text, problem.status, dict(problem.headers), MEDIA_TYPE)


def _body(problem: Problem) -> dict[str, Any]:
    body = ProblemBody(
        type=f"urn:ciphermark:{problem.kind}",
        title=KINDS[problem.kind].title,
        status=problem.status,
        detail=problem.detail,
        trial_status=problem.trial_status,
    )
    return body.model_dump(exclude_none=True)


def documented(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that may answer these kinds of problems, and those that any route may."""
    by_status: dict[int, list[str]] = {}
    for kind in (*ALWAYS, *kinds):
        by_status.setdefault(KINDS[kind].status, []).append(kind)
    return {
        status: {
            "description": "; ".join(f"{KINDS[kind].title} (`{kind}`)" for kind in names),
            "content": {
                MEDIA_TYPE: {"schema": _SCHEMA, "examples": {kind: _example(kind) for kind in names}}
            },
        }
        for status, names in sorted(by_status.items())
    }


def _example(kind: str) -> dict[str, Any]:
    return {"value": _body(Problem(kind, KINDS[kind].example, KINDS[kind].trial_status))}


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
    """The location and kind of the error, never the input itself, which is arbitrary."""
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
        description = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = description.setdefault("components", {}).setdefault("schemas", {})
        schemas["ProblemBody"] = ProblemBody.model_json_schema()
        spread(description)
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = description
    return app.openapi_schema


Schema = Mapping[str, Any]


def spread(description: dict[str, Any]) -> None:
    """Give every body of an OpenAPI description an example; one whose schema has too few examples stays unchanged."""
    schemas = description["components"]["schemas"]
    for body in bodies(description):
        if not {"example", "examples"} & body.keys():
            for example in _example_of(body["schema"], schemas):
                body["example"] = example


def bodies(description: Schema) -> Iterator[dict[str, Any]]:
    """The media types of all requests and responses of an OpenAPI description."""
    for path in description["paths"].values():
        for operation in path.values():
            for part in (operation.get("requestBody", {}), *operation["responses"].values()):
                yield from part.get("content", {}).values()


def _example_of(schema: Schema, schemas: Schema) -> list[Any]:
    """The example of a schema, in a list; an empty one where there is none."""
    if "examples" in schema:
        return [schema["examples"][0]]
    if "$ref" in schema:
        return _example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "properties" in schema:
        return _example_of_properties(schema, schemas)
    if "items" in schema:
        item = _example_of(schema["items"], schemas)
        return [item] if item else []
    return []


def _example_of_properties(schema: Schema, schemas: Schema) -> list[Any]:
    """The example of all properties that have one; none where a required property lacks one."""
    examples = {name: _example_of(item, schemas) for name, item in schema["properties"].items()}
    if not all(examples[name] for name in schema.get("required", ())):
        return []
    return [{name: example[0] for name, example in examples.items() if example}]
