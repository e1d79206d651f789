"""The client's routes."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request

from ciphermark_adapters import registry
from ciphermark_client.schemas import (
    EncryptAsked,
    EncryptDone,
    ScoreAsked,
    ScoreDone,
    SessionAsked,
    SessionMade,
    WorkloadFacts,
)
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_measure.parties import messages
from ciphermark_parties.host import PartyHost
from ciphermark_parties.schemas import SessionId, fields_of
from ciphermark_web import logs
from ciphermark_web.problems import Problem, documented
from ciphermark_web.sessions import Purpose
from ciphermark_workloads.catalogue import WORKLOADS

_IN_SESSION = (
    "not-found",
    "session-busy",
    "session-lost",
    "out-of-turn",
    "unsupported",
    "exhausted",
    "library-failed",
    "blob-refused",
)


def router(parties: PartyHost) -> APIRouter:
    """``/sessions`` and what is done in them, and ``/workloads``."""
    made = APIRouter(prefix="/v1")

    @made.post(
        "/sessions",
        tags=["sessions"],
        summary="Make keys",
        status_code=201,
        responses=documented("session-lost", "unsupported", "library-failed", "blob-refused", "too-many"),
    )
    def make_keys(asked: SessionAsked, request: Request) -> SessionMade:
        wanted = messages.MakeKeys(asked.variant, _spec(asked), asked.workload)
        purpose = Purpose(asked.variant, asked.workload, **logs.ids(request.headers))
        with parties.opened(purpose, asked.threads) as session:
            reply = parties.ask(session, wanted, messages.KeysMade)
        return SessionMade(id=session.id, machine=parties.machine, **fields_of(reply))

    @made.post(
        "/sessions/{session_id}/encrypt",
        tags=["sessions"],
        summary="Encrypt the inputs of a phase",
        responses=documented(*_IN_SESSION),
    )
    def encrypt(session_id: SessionId, asked: EncryptAsked) -> EncryptDone:
        request = messages.Encrypt(asked.phase, asked.data.data)
        with parties.sessions.used(session_id) as session:
            return EncryptDone(**fields_of(parties.ask(session, request, messages.Encrypted)))

    @made.post(
        "/sessions/{session_id}/score",
        tags=["sessions"],
        summary="Decrypt and score",
        responses=documented(*_IN_SESSION),
    )
    def score(session_id: SessionId, asked: ScoreAsked) -> ScoreDone:
        request = messages.Score(tuple(item.blob for item in asked.outputs), asked.data.data)
        with parties.sessions.used(session_id) as session:
            return ScoreDone(**fields_of(parties.ask(session, request, messages.Scored)))

    @made.get("/workloads", tags=["workloads"], summary="What can be computed", responses=documented())
    def list_workloads() -> list[WorkloadFacts]:
        return [
            WorkloadFacts(name=name, title=item.title, phases=item.phases, schemes=item.schemes)
            for name, item in sorted(WORKLOADS.items())
        ]

    return made


def _spec(asked: SessionAsked) -> ParameterSpec:
    """The parameters asked for, or else the workload's own; raises ``Problem`` where it has none."""
    workload = WORKLOADS.get(asked.workload)
    if workload is None:
        known = ", ".join(sorted(WORKLOADS))
        raise Problem("invalid", f"unknown workload {asked.workload!r}; known: {known}")
    if asked.parameters is not None:
        return asked.parameters.spec
    try:
        declared = registry.declaration(asked.variant)
        own = workload.roomy_parameters if declared.chooses_primes else workload.parameters
        return own(asked.scheme or _first_common(workload.schemes, declared.schemes))
    except UserError as error:
        raise Problem("invalid", str(error)) from None
    except Unsupported as reason:
        raise Problem("unsupported", str(reason), "unsupported") from None


def _first_common(wanted: Sequence[Scheme], offered: Sequence[Scheme]) -> Scheme:
    """The first scheme of the workload that the variant offers; its very first where there is none."""
    return next((scheme for scheme in wanted if scheme in offered), wanted[0])
