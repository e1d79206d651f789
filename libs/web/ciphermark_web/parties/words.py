"""The words of REST that both parties speak; nothing unknown is accepted."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from ciphermark_core.words import Sample
from ciphermark_measure.blobs import MOST_BYTES, Blob

MOST_BLOBS = 4096  # of one request
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$"

Variant = Annotated[
    str, Field(pattern=_NAME, description="a variant as `GET /v1/adapters` lists them", examples=["seal"])
]
WorkloadName = Annotated[str, Field(pattern=_NAME, description="a workload", examples=["lmc-plain"])]
SessionId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="the session", examples=["0f" * 16])]


class Asked(BaseModel):
    """What comes from outside: immutable, and without fields that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BlobName(Asked):
    """A blob on the shared volume."""

    digest: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of its bytes", examples=["5e" * 32])
    size_bytes: int = Field(ge=0, le=MOST_BYTES, examples=[524416])

    @property
    def blob(self) -> Blob:
        """As parties have it."""
        return Blob(self.digest, self.size_bytes)


BlobNames = Annotated[tuple[BlobName, ...], Field(min_length=1, max_length=MOST_BLOBS)]
Samples = Annotated[tuple[Sample, ...], Field(description="what the party measured while it worked")]


class SessionFacts(BaseModel):
    """One session."""

    id: str = Field(examples=["0f" * 16])
    variant: str = Field(examples=["seal"])
    workload: str = Field(examples=["lmc-plain"])
    is_busy: bool = Field(description="it is answering a request")


class AdapterFacts(BaseModel):
    """One variant, and whether it can be used here."""

    variant: str = Field(examples=["seal"])
    library: str = Field(examples=["SEAL"])
    schemes: tuple[str, ...] = Field(examples=[["bfv", "bgv", "ckks"]])
    license: str = Field(examples=["MIT"])
    is_installed: bool
    reason: str | None = Field(description="why it cannot be used here")
    remedy: str | None = Field(description="what to do about it")


def fields_of(reply: Any) -> dict[str, Any]:
    """The fields of a party's reply, as plain values."""
    found: dict[str, Any] = msgspec.to_builtins(reply)
    found.pop("type", None)
    return found
