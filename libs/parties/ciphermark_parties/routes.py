"""The routes that both parties have: their sessions, and what is installed."""

from __future__ import annotations

from fastapi import APIRouter

from ciphermark_adapters.registry import Availability
from ciphermark_parties.host import PartyHost, PartySession
from ciphermark_parties.schemas import (
    AdapterFacts,
    RunId,
    SessionFacts,
    SessionId,
    SessionsEnded,
    TrialId,
)
from ciphermark_web.problems import documented


def router(parties: PartyHost) -> APIRouter:
    """``GET`` and ``DELETE /sessions``, ``DELETE /sessions/{session_id}`` and ``GET /adapters``."""
    made = APIRouter(prefix="/v1")

    @made.get("/sessions", tags=["sessions"], summary="Open sessions", responses=documented())
    def list_sessions() -> list[SessionFacts]:
        return [_facts(session) for session in parties.sessions.all()]

    @made.delete(
        "/sessions/{session_id}",
        tags=["sessions"],
        summary="End a session, whatever it is doing",
        status_code=204,
        responses=documented("not-found"),
    )
    def end_session(session_id: SessionId) -> None:
        parties.sessions.end(session_id, "its caller ended it")

    @made.delete(
        "/sessions",
        tags=["sessions"],
        summary="End the sessions of a run, or of one trial of it, whatever they are doing",
        responses=documented(),
    )
    def end_sessions(run_id: RunId, trial_id: TrialId = None) -> SessionsEnded:
        return SessionsEnded(ended=parties.sessions.end_of(run_id, trial_id))

    @made.get("/adapters", tags=["adapters"], summary="What is installed here", responses=documented())
    def list_adapters() -> list[AdapterFacts]:
        return [_adapter(item) for item in parties.available()]

    return made


def _facts(session: PartySession) -> SessionFacts:
    return SessionFacts(
        id=session.id,
        variant=session.purpose.variant,
        workload=session.purpose.workload,
        is_busy=session.is_busy,
    )


def _adapter(item: Availability) -> AdapterFacts:
    declared = item.declaration
    return AdapterFacts(
        variant=declared.variant,
        library=declared.library,
        schemes=declared.schemes,
        license=declared.license,
        is_installed=item.is_installed,
        reason=item.reason,
        remedy=item.remedy,
    )
