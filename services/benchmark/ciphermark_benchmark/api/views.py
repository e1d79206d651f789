"""What the API takes and tells: forms of bodies."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

State = Literal["queued", "running", "done", "cancelled", "failed", "recorded"]
_Word = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9@._-]+$")]


class NeedsText(BaseModel):
    """What the host must have beside the suite's variants."""

    model_config = ConfigDict(extra="forbid")

    isa: list[_Word] = Field(
        [], max_length=50, description="CPU flags as the kernel names them", examples=[["avx512ifma"]]
    )
    memory_mb: int = Field(
        0, ge=0, le=1 << 24, description="memory in MiB; the suite's own budget counts too"
    )


class Submitted(BaseModel):
    """A suite to execute: by name, as JSON, or as YAML text."""

    model_config = ConfigDict(extra="forbid")

    suite: Annotated[str, Field(max_length=200)] | dict[str, Any] | None = Field(
        None, description="name of a shipped suite, or a suite as JSON", examples=["smoke"]
    )
    suite_yaml: str | None = Field(
        None, description="a suite as YAML text, without anchors, aliases and tags"
    )
    variants: list[_Word] = Field(
        [], max_length=100, description="only these variants of the suite; empty: all"
    )
    needs: NeedsText = NeedsText()

    @model_validator(mode="after")
    def _one_suite(self) -> Self:
        if (self.suite is None) == (self.suite_yaml is None):
            raise ValueError("give either suite or suite_yaml")
        return self


class RunLine(BaseModel):
    """A run in the list."""

    id: str
    suite: str
    state: State = Field(description="recorded: a run of the command line, as far as it is recorded")
    reason: str | None = Field(
        description="why it failed or was cancelled; of an open one: what went wrong last"
    )
    host: str | None = Field(description="the host that executes it, or did so last")
    attempts: int
    trials: int | None = Field(description="how many it comes to; null before a host has planned it")
    submitted_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class Part(BaseModel):
    """What one host did of a run: a run in the database."""

    id: str
    host: str
    trials: int
    started_at: datetime


class RunDetail(RunLine):
    """A run with what is recorded of it."""

    recorded: dict[str, int] = Field(description="recorded trials by status")
    parts: list[Part] = Field(description="one per host that worked on it; nearly always one")
    waits_for: str | None = Field(description="why a queued run waits")


class Suites(BaseModel):
    """The suites that can be submitted by name."""

    suites: list[str]


class Runs(BaseModel):
    """Runs, the latest first. ``next`` is the value of ``before`` for those that follow."""

    runs: list[RunLine]
    next: str | None


class HostView(BaseModel):
    """A benchmark worker and what its host offers."""

    hostname: str
    fingerprint: str
    cpu_model: str
    variants: list[str]
    isa: list[str]
    memory_mb: int
    since: datetime
    last_heartbeat: datetime
    is_alive: bool
    run_id: str | None = Field(description="what it executes")


class Hosts(BaseModel):
    """All benchmark workers."""

    hosts: list[HostView]


class Adapters(BaseModel):
    """The libraries on the host of the API."""

    adapters: list[dict[str, Any]]
