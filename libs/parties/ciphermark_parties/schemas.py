"""The words of REST that both parties speak; nothing unknown is accepted."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from ciphermark_core.model import LibraryInfo, Parameters, Sample
from ciphermark_measure.blobs import MOST_BYTES, Blob
from ciphermark_web.logs import ID_PATTERN

MOST_BLOBS = 4096  # of one request
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$"

Variant = Annotated[
    str, Field(pattern=_NAME, description="a variant as `GET /v1/adapters` lists them", examples=["seal"])
]
WorkloadName = Annotated[str, Field(pattern=_NAME, description="a workload", examples=["lmc-plain"])]
SessionId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="the session", examples=["0f" * 16])]
RunId = Annotated[
    str, Query(pattern=ID_PATTERN, description="as `X-Run-Id` named the run", examples=["a-run"])
]
TrialId = Annotated[
    str | None,
    Query(
        pattern=ID_PATTERN,
        description="as `X-Trial-Id` named the trial; absent: all of the run",
        examples=["a-trial"],
    ),
]
Threads = Annotated[
    int | None,
    Field(
        ge=1,
        le=4096,
        description="threads of the library, at most what CIPHERMARK_PARTY_THREADS allows, which is the default",
        examples=[1],
    ),
]
Machine = Annotated[
    str | None,
    Field(
        description="the same for all processes on a machine since it started, containers included; null where the "
        "kernel does not tell",
        examples=["0f" * 8],
    ),
]


class Asked(BaseModel):
    """What comes from outside: immutable, and without fields that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BlobName(Asked):
    """A blob on the shared volume."""

    digest: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of its bytes", examples=["5e" * 32])
    size_bytes: int = Field(ge=0, le=MOST_BYTES, examples=[65649])

    @property
    def blob(self) -> Blob:
        """As parties have it."""
        return Blob(self.digest, self.size_bytes)


BlobNames = Annotated[tuple[BlobName, ...], Field(min_length=1, max_length=MOST_BLOBS)]
Samples = Annotated[tuple[Sample, ...], Field(description="what the party measured while it worked")]
Library = Annotated[
    LibraryInfo,
    Field(
        examples=[
            {
                "library": "SEAL",
                "variant": "seal",
                "version": "4.1.2",
                "hexl": False,
                "build": {"build_type": "Release", "compiler": "GCC 12.2.0", "flags": " -O3 -DNDEBUG"},
                "is_debug": False,
                "is_reference": False,
            }
        ]
    ),
]
Resolved = Annotated[
    Parameters,
    Field(
        description="as the library uses them, prime by prime",
        examples=[
            {
                "spec": {
                    "scheme": "bfv",
                    "ring_dimension": 4096,
                    "modulus_bits": [60, 49],
                    "plain_modulus": 268369921,
                    "security": 128,
                },
                "ring_dimension": 4096,
                "moduli": [1152921504606830593],
                "special_moduli": [562949953216513],
                "slots": 4096,
                "plain_modulus": 268369921,
            }
        ],
    ),
]


class SessionFacts(BaseModel):
    """One session."""

    id: str = Field(examples=["0f" * 16])
    variant: str = Field(examples=["seal"])
    workload: str = Field(examples=["lmc-plain"])
    is_busy: bool = Field(description="it is answering a request", examples=[False])


class SessionsEnded(BaseModel):
    """What became of a wish to end sessions."""

    ended: int = Field(description="how many there were", examples=[2])


class AdapterFacts(BaseModel):
    """One variant, and whether it can be used here."""

    variant: str = Field(examples=["seal"])
    library: str = Field(examples=["SEAL"])
    schemes: tuple[str, ...] = Field(examples=[["bfv", "bgv", "ckks"]])
    license: str = Field(examples=["MIT"])
    is_installed: bool = Field(examples=[True])
    reason: str | None = Field(description="why it cannot be used here", examples=[None])
    remedy: str | None = Field(description="what to do about it", examples=[None])


def measured(phase: str, time_s: float, cpu_time_s: float, peak_memory_bytes: int) -> list[dict[str, Any]]:
    """The sums of a party's samples, as an example of them."""
    stage, party = phase.split(".")
    place = {"stage": stage, "party": party}
    return [
        {"metric": "time", "value": time_s, **place},
        {"metric": "cpu_time", "value": cpu_time_s, **place},
        {"metric": "peak_memory", "value": peak_memory_bytes, **place},
    ]


def fields_of(reply: Any) -> dict[str, Any]:
    """The fields of a party's reply, as plain values."""
    found: dict[str, Any] = msgspec.to_builtins(reply)
    found.pop("type", None)
    return found
