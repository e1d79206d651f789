"""What both parties tell over REST of sessions and adapters. What is said in a session are the messages of the parties:
see :mod:`ciphermark_parties.message_models`.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, Field

from ciphermark_web.belonging import ID_PATTERN

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
Machine = Annotated[
    str | None,
    Field(
        description="the same for all processes on a machine since it started, containers included; null where the "
        "kernel does not tell",
        examples=["0f" * 8],
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
