"""The server's routes."""

from __future__ import annotations

from fastapi import APIRouter, Request

from ciphermark_measure.parties import messages
from ciphermark_parties.host import PartyHost
from ciphermark_parties.schemas import SessionId, fields_of
from ciphermark_server.schemas import EvaluateAsked, EvaluateDone, SessionAsked, SessionMade
from ciphermark_web import logs
from ciphermark_web.problems import documented
from ciphermark_web.sessions import Purpose


def router(parties: PartyHost) -> APIRouter:
    """``/sessions`` and what is done in them."""
    made = APIRouter(prefix="/v1", tags=["sessions"])

    @made.post(
        "/sessions",
        summary="Load a client's public material",
        status_code=201,
        responses=documented("session-lost", "unsupported", "library-failed", "blob-refused", "too-many"),
    )
    def load(asked: SessionAsked, request: Request) -> SessionMade:
        wanted = messages.Load(asked.variant, asked.workload, asked.material.blob)
        purpose = Purpose(asked.variant, asked.workload, **logs.ids(request.headers))
        with parties.opened(purpose, asked.threads) as session:
            reply = parties.ask(session, wanted, messages.Loaded)
        return SessionMade(id=session.id, machine=parties.machine, **fields_of(reply))

    @made.post(
        "/sessions/{session_id}/evaluate",
        summary="Evaluate a phase on ciphertexts",
        responses=documented(
            "not-found",
            "session-busy",
            "session-lost",
            "out-of-turn",
            "unsupported",
            "exhausted",
            "library-failed",
            "blob-refused",
        ),
    )
    def evaluate(session_id: SessionId, asked: EvaluateAsked) -> EvaluateDone:
        inputs = tuple(item.blob for item in asked.inputs)
        request = messages.Evaluate(asked.phase, inputs, asked.plain.blob)
        with parties.sessions.used(session_id) as session:
            return EvaluateDone(**fields_of(parties.ask(session, request, messages.Evaluated)))

    return made
