"""The route of classifications: classifies the image of a caller under encryption, and reports both parties' steps."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from time import monotonic
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from ciphermark_adapters import registry
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark.api.state import State, state_of
from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.parties.party import NoPlace, Parties
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.runs import alone_on_host
from ciphermark_contract.keys import KeyRequest
from ciphermark_core import host
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob
from ciphermark_measure.parties.messages import CHECK, MAX_GIVEN, Role
from ciphermark_measure.parties.passes import Driver, Subject
from ciphermark_measure.processes import Confinement, WorkerDied
from ciphermark_measure.protocol import Refused
from ciphermark_web.problems import Problem, documented
from ciphermark_workloads.catalogue import WORKLOADS, named
from ciphermark_workloads.inference.networks import stored

_TIMEOUT_S = 120.0
_MEMORY_MB = 4096
_BUSY = (
    "a run is being measured on this machine, and a classification would disturb it: wait until it has ended"
)
_TAKEN = "somebody else's image is being classified: try again in a few seconds"
# Kinds of problem by the cause of a party's refusal, else by its status.
_BY_CAUSE = {
    "UserError": "invalid",
    "invalid": "invalid",
    "blob-refused": "blob-refused",
    "DiskFull": "disk-full",
}
_BY_STATUS = {"unsupported": "unsupported", "budget_exhausted": "budget-exhausted"}
_WORKLOAD = "lola-mnist"
_Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*$")]
R = TypeVar("R")

router = APIRouter(prefix="/v1", tags=["classifications"])
Shared = Annotated[State, Depends(state_of)]


class Able(BaseModel):
    """What can classify images here."""

    workload: str = Field(examples=["lola-mnist"])
    side: int = Field(description="images have so many rows and columns", examples=[28])
    variants: list[str] = Field(
        description="installed, with the operations that it takes; those with HEXL first",
        examples=[["seal-hexl", "seal"]],
    )


class Pictured(BaseModel):
    """An image for a network."""

    model_config = ConfigDict(extra="forbid")

    workload: _Name = Field(_WORKLOAD, description="a workload of the family inference", examples=["digits"])
    variant: _Name = Field(description="as `GET /v1/adapters` lists them", examples=["seal"])
    pixels: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        min_length=1,
        max_length=MAX_GIVEN,
        description="from 0, the background, to 1; row by row",
        examples=[[0.0, 0.4, 1.0, 0.2]],
    )


class Step(BaseModel):
    """What a party did, and for how long; keys and loading are of the stage `prepare`."""

    party: Role = Field(examples=["server"])
    stage: str = Field(examples=["infer"])
    step: str = Field(examples=["evaluate"])
    seconds: float = Field(examples=[0.0312])


class Sent(BaseModel):
    """What went to a party: so many blobs of so many bytes in all."""

    stage: str = Field(examples=["infer"])
    to: Role = Field(examples=["server"])
    blobs: int = Field(examples=[8])
    size_bytes: int = Field(examples=[2756301])


class Classification(BaseModel):
    """What the network says of the image, to two digits, and how it came to it."""

    label: int = Field(description="the class: the number of the largest score", examples=[7])
    scores: list[float] = Field(
        description="the logits, to two digits after the point", examples=[[0.12, -3.4]]
    )
    complaint: str | None = Field(
        description="null where the class is that of the network in the clear", examples=[None]
    )
    ring_dimension: int = Field(examples=[8192])
    steps: list[Step]
    sent: list[Sent]


@router.get(
    "/classifications", response_model=Able, summary="What can classify an image", responses=documented()
)
async def able() -> Able:
    """Of the workload that is taken where none is named."""
    return await asyncio.to_thread(_able)


def _able() -> Able:
    workload, flags = WORKLOADS[_WORKLOAD], frozenset(host.collect().cpu_flags)
    scheme = workload.schemes[0]
    able_variants = [
        declared
        for name, declared in sorted(registry.declarations().items())
        if not declared.is_reference
        and set(workload.operations(scheme)) <= set(declared.managed.get(scheme, ()))
        and registry.availability(name, flags).is_installed
    ]
    by_speed = sorted(able_variants, key=lambda declared: not declared.hexl)
    side = stored.shipped(_WORKLOAD).network.shape.side
    return Able(workload=_WORKLOAD, side=side, variants=[declared.variant for declared in by_speed])


@router.post(
    "/classifications",
    response_model=Classification,
    summary="Have an image classified under encryption",
    responses=documented(
        "not-ready",
        "too-many",
        "unsupported",
        "budget-exhausted",
        "library-failed",
        "blob-refused",
        "disk-full",
        "session-lost",
    ),
)
async def classified(body: Pictured, state: Shared) -> Classification:
    """The client encrypts it under keys that are made for it, the server computes, the client decrypts: by the services
    of both where there are such, else by two processes here. Nothing is recorded, and nothing else is measured
    meanwhile.
    """
    named(WORKLOADS, body.workload).given_input(body.pixels)  # refuses invalid input before any work
    if state.classifying.locked():
        raise Problem("too-many", _TAKEN)
    async with state.classifying:
        return await asyncio.to_thread(_classified, body)


def _classified(body: Pictured) -> Classification:
    workload = WORKLOADS[body.workload]
    needs = WorkerNeeds(
        variant=body.variant,
        parameters=workload.parameters(workload.schemes[0]),
        keys=KeyRequest.of(relinearization=True),
        confinement=Confinement((), 1, _MEMORY_MB),
        timeout_s=_TIMEOUT_S,
    )
    with alone_on_host(data_directories.find(), _refuse):
        parties = http_party.chosen(os.environ)(needs)
        try:
            return passed_once(parties, body, _TIMEOUT_S)
        except NoPlace as refusal:
            raise Problem("too-many", str(refusal)) from None
        except WorkerDied as death:
            raise Problem("session-lost", str(death), death.status) from None
        finally:
            parties.end()


def _refuse() -> None:
    raise Problem("too-many", _BUSY)


class _Asking:
    """Sends requests to the parties within one common deadline, and collects their steps."""

    def __init__(self, parties: Parties, timeout_s: float) -> None:
        self._parties, self._deadline_s = parties, monotonic() + timeout_s
        self.steps: list[Step] = []

    def asked(self, role: Role, request: Any, kind: type[R]) -> R:
        party = self._parties.client if role == "client" else self._parties.server
        reply: Any = party.ask(request, max(0.0, self._deadline_s - monotonic()))
        if isinstance(reply, Refused):
            problem = _BY_CAUSE.get(reply.cause or "") or _BY_STATUS.get(reply.status, "library-failed")
            raise Problem(problem, reply.error, reply.status)
        assert isinstance(reply, kind), f"{type(reply).__name__} is no answer to {type(request).__name__}"
        samples = messages.samples_of(reply) if isinstance(reply, messages.Measured) else ()
        self.steps += [
            Step(party=role, stage=sample.stage, step=sample.step, seconds=sample.value)
            for sample in samples
            if sample.metric == "time" and sample.step is not None and sample.step != CHECK
        ]
        return reply


def passed_once(parties: Parties, body: Pictured, timeout_s: float) -> Classification:
    """Make keys and execute all stages of the workload once. Raises ``Problem`` if a party refuses, and ``WorkerDied``
    if a party dies or all requests together exceed ``timeout_s``.
    """
    asking = _Asking(parties, timeout_s)
    source = messages.Source(0, given=tuple(body.pixels))
    driver = Driver(asking.asked, Subject(body.variant, body.workload, source))
    keys = driver.prepare().keys
    sent = [_sent(messages.PREPARE, "server", [keys.material])]
    scored: messages.Scored | None = None
    for stage_pass in driver.passed():
        name, there, back = stage_pass.stage.name, stage_pass.sent, stage_pass.back
        sent += [_sent(name, "server", [*there.inputs, there.public]), _sent(name, "client", back.outputs)]
        scored = stage_pass.scored
    assert scored is not None
    scores = list(scored.found or ())
    return Classification(
        label=max(range(len(scores)), key=scores.__getitem__),
        scores=scores,
        complaint=scored.complaint,
        ring_dimension=keys.parameters.ring_dimension,
        steps=asking.steps,
        sent=sent,
    )


def _sent(stage: str, to: Role, blobs: Iterable[Blob]) -> Sent:
    several = tuple(blobs)
    size_bytes = sum(blob.payload_bytes for blob in several)
    return Sent(stage=stage, to=to, blobs=sum(max(1, blob.parts) for blob in several), size_bytes=size_bytes)
