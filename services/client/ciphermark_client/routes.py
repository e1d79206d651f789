"""The client's routes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Body, Request

from ciphermark_client.schemas import WorkloadFacts
from ciphermark_measure.parties import messages
from ciphermark_parties.host import PartyHost
from ciphermark_parties.message_models import AS_MESSAGE, model_of, opened
from ciphermark_parties.schemas import SessionId
from ciphermark_web.problems import documented
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload

_OF_KEYS = ("session-lost", "unsupported", "library-failed", "blob-refused", "disk-full", "too-many")
_IN_SESSION = (
    "not-found",
    "session-busy",
    "session-lost",
    "out-of-turn",
    "unsupported",
    "exhausted",
    "library-failed",
    "blob-refused",
    "disk-full",
)


def router(parties: PartyHost) -> APIRouter:
    """``/sessions`` and what is done in them, and ``/workloads``."""
    made = APIRouter(prefix="/v1")

    @made.post(
        "/sessions",
        tags=["sessions"],
        summary="Make keys",
        status_code=201,
        response_model=opened(messages.KeysMade),
        responses=documented(*_OF_KEYS),
    )
    def make_keys(asked: Annotated[messages.MakeKeys, AS_MESSAGE, Body()], request: Request) -> Any:
        return parties.opened(asked, request.headers, messages.KeysMade)

    @made.post(
        "/sessions/{session_id}/encrypt",
        tags=["sessions"],
        summary="Encrypt the inputs of a stage",
        response_model=model_of(messages.Encrypted),
        responses=documented(*_IN_SESSION),
    )
    def encrypt(session_id: SessionId, asked: Annotated[messages.Encrypt, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.Encrypted)

    @made.post(
        "/sessions/{session_id}/score",
        tags=["sessions"],
        summary="Decrypt and score",
        response_model=model_of(messages.Scored),
        responses=documented(*_IN_SESSION),
    )
    def score(session_id: SessionId, asked: Annotated[messages.Score, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.Scored)

    @made.post(
        "/sessions/{session_id}/layers",
        tags=["sessions"],
        summary="Compare what layers end with",
        response_model=model_of(messages.LayersCompared),
        responses=documented(*_IN_SESSION),
    )
    def layers(session_id: SessionId, asked: Annotated[messages.CompareLayers, AS_MESSAGE, Body()]) -> Any:
        return parties.asked_in(session_id, asked, messages.LayersCompared)

    @made.get("/workloads", tags=["workloads"], summary="What can be computed", responses=documented())
    def list_workloads() -> list[WorkloadFacts]:
        return [_facts(item) for _, item in sorted(WORKLOADS.items())]

    return made


def _facts(workload: AnyWorkload) -> WorkloadFacts:
    return WorkloadFacts(
        name=workload.name,
        family=workload.family,
        title=workload.title,
        stages=workload.stages,
        schemes=workload.schemes,
        takes_data=workload.takes_data,
        options=msgspec.structs.asdict(workload.options),
    )
