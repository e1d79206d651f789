"""The server's routes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request

from ciphermark_measure.parties import messages
from ciphermark_parties.api import AS_MESSAGE, SessionId, model_of, opened
from ciphermark_parties.host import PartyHost
from ciphermark_web.problems import documented

_IN_SESSION = ("not-found", "session-busy", "session-lost", "out-of-turn", "library-failed")


def router(parties: PartyHost) -> APIRouter:
    """The routes below ``/sessions``."""
    routes = APIRouter(prefix="/v1", tags=["sessions"])

    @routes.post(
        "/sessions",
        summary="Load a client's public material",
        status_code=201,
        response_model=opened(messages.Loaded),
        responses=documented("session-lost", "unsupported", "library-failed", "blob-refused", "too-many"),
    )
    def load(asked: Annotated[messages.Load, AS_MESSAGE, Body()], request: Request) -> Any:
        return parties.opened(asked, request.headers, messages.Loaded)

    @routes.post(
        "/sessions/{session_id}/evaluate",
        summary="Evaluate a stage on ciphertexts",
        response_model=model_of(messages.Evaluated),
        responses=documented(*_IN_SESSION, "unsupported", "budget-exhausted", "blob-refused", "disk-full"),
    )
    def evaluate(session_id: SessionId, asked: Annotated[messages.Evaluate, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.Evaluated)

    @routes.post(
        "/sessions/{session_id}/describe",
        summary="Describe the program of an evaluated stage",
        response_model=model_of(messages.Described),
        responses=documented(*_IN_SESSION),
    )
    def describe(session_id: SessionId, asked: Annotated[messages.Describe, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.Described)

    @routes.post(
        "/sessions/{session_id}/layers",
        summary="Evaluate the last stage layer by layer",
        response_model=model_of(messages.LayersEvaluated),
        responses=documented(*_IN_SESSION, "blob-refused", "disk-full"),
    )
    def layers(session_id: SessionId, asked: Annotated[messages.EvaluateLayers, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.LayersEvaluated)

    return routes
