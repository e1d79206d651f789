"""What the API takes and tells: forms of bodies."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

State = Literal["queued", "running", "done", "cancelled", "failed", "recorded"]
_Word = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9@._-]+$")]


_RUN_ID = "927d5e7a-49c3-433d-81c6-666cae32cf41"
_SUITE: dict[str, Any] = {
    "name": "mine",
    "budget": {"samples": 30, "min_time_s": 0.0},
    "experiments": [
        {
            "kind": "arithmetic",
            "variants": ["seal", "cleartext"],
            "schemes": ["bfv"],
            "ring_dimension": [2048],
            "operations": ["add"],
        }
    ],
}
_YAML = """\
name: mine
experiments:
  - kind: arithmetic
    variants: [seal, cleartext]
    schemes: [bfv]
    ring_dimension: [2048]
    operations: [add]
"""


_ADAPTER: dict[str, Any] = {
    "variant": "tenseal",
    "is_installed": True,
    "reason": None,
    "remedy": None,
    "library": {
        "library": "TenSEAL",
        "variant": "tenseal",
        "version": "0.3.18",
        "hexl": False,
        "build": {"seal": "4.3", "compiler": "GCC: (GNU) 14.2.1", "flags": "not known: …", "hexl": "off"},
        "is_debug": False,
        "is_reference": False,
    },
    "declaration": {
        "library": "TenSEAL",
        "license": "Apache-2.0",
        "hexl": False,
        "operations": {"bfv": ["add", "sub", "add_plain", "sub_plain", "mul_plain", "mul"]},
        "managed": {"bfv": ["add", "sub", "add_plain", "sub_plain", "mul_plain", "mul"]},
        "compressions": ["zstd"],
        "notes": {"keys": "relinearization keys are made even when none are requested"},
        "reasons": {"square": "TenSEAL's bfv vectors have no squaring; use mul"},
    },
}


class NeedsText(BaseModel):
    """What the host must have beside the suite's variants."""

    model_config = ConfigDict(extra="forbid")

    isa: list[_Word] = Field(
        [], max_length=50, description="CPU flags as the kernel names them", examples=[["avx512ifma"]]
    )
    memory_mb: int = Field(
        0, ge=0, le=1 << 24, description="memory in MiB; the suite's own budget counts too", examples=[4096]
    )


class Submitted(BaseModel):
    """A suite to execute: by name, as JSON, or as YAML text."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"suite": "smoke"},
                {"suite": _SUITE, "variants": ["seal"], "needs": {"isa": ["avx2"], "memory_mb": 4096}},
                {"suite_yaml": _YAML},
            ]
        },
    )

    suite: Annotated[str, Field(max_length=200)] | dict[str, Any] | None = Field(
        None, description="name of a shipped suite, or a suite as JSON", examples=["smoke"]
    )
    suite_yaml: str | None = Field(
        None, description="a suite as YAML text, without anchors, aliases and tags", examples=[_YAML]
    )
    variants: list[_Word] = Field(
        [], max_length=100, description="only these variants of the suite; empty: all", examples=[["seal"]]
    )
    needs: NeedsText = NeedsText()

    @model_validator(mode="after")
    def _one_suite(self) -> Self:
        if (self.suite is None) == (self.suite_yaml is None):
            raise ValueError("give either suite or suite_yaml")
        return self


class RunLine(BaseModel):
    """A run in the list."""

    id: str = Field(examples=[_RUN_ID])
    suite: str = Field(examples=["mine"])
    state: State = Field(
        description="recorded: a run of the command line, as far as it is recorded", examples=["done"]
    )
    reason: str | None = Field(
        description="why it failed or was cancelled; of an open one: what went wrong last", examples=[None]
    )
    host: str | None = Field(description="the host that executes it, or did so last", examples=["bench"])
    attempts: int = Field(examples=[1])
    trials: int | None = Field(
        description="how many it comes to; null before a host has planned it", examples=[2]
    )
    submitted_at: datetime = Field(examples=["2026-11-21T21:26:19.476979Z"])
    started_at: datetime | None = Field(examples=["2026-11-21T21:26:22.003690Z"])
    ended_at: datetime | None = Field(examples=["2026-11-21T21:26:26.841157Z"])


class Part(BaseModel):
    """What one host did of a run: a run in the database."""

    id: str = Field(examples=[_RUN_ID])
    host: str = Field(examples=["bench"])
    trials: int = Field(examples=[2])
    started_at: datetime = Field(examples=["2026-11-21T21:26:24.897840Z"])


class RunDetail(RunLine):
    """A run with what is recorded of it."""

    recorded: dict[str, int] = Field(description="recorded trials by status", examples=[{"ok": 2}])
    parts: list[Part] = Field(description="one per host that worked on it; nearly always one")
    waits_for: str | None = Field(description="why a queued run waits", examples=[None])


class Suites(BaseModel):
    """The suites that can be submitted by name."""

    suites: list[str] = Field(
        examples=[
            [
                "inference",
                "inference-large",
                "micro",
                "pir-report",
                "quick",
                "retrieval",
                "retrieval-large",
                "seal-vs-openfhe",
                "smoke",
                "tenseal-ml",
            ]
        ]
    )


class Runs(BaseModel):
    """Runs, the latest first. ``next`` is the value of ``before`` for those that follow."""

    runs: list[RunLine]
    next: str | None = Field(examples=[None])


class HostView(BaseModel):
    """A benchmark worker and what its host offers."""

    hostname: str = Field(examples=["bench"])
    fingerprint: str = Field(examples=["2b202a3319f72644"])
    cpu_model: str = Field(examples=["AMD EPYC"])
    variants: list[str] = Field(examples=[["openfhe", "pyfhel", "seal", "seal-hexl", "tenseal"]])
    isa: list[str] = Field(examples=[["avx2", "avx512f", "avx512ifma"]])
    memory_mb: int = Field(examples=[24105])
    cores: int | None = Field(
        description="those that its worker may use; null where it tells none", examples=[16]
    )
    since: datetime = Field(examples=["2026-11-21T21:26:22.048210Z"])
    last_heartbeat: datetime = Field(examples=["2026-11-21T21:26:26.037521Z"])
    is_alive: bool = Field(examples=[True])
    run_id: str | None = Field(description="what it executes", examples=[_RUN_ID])


class Hosts(BaseModel):
    """All benchmark workers."""

    hosts: list[HostView]


class Adapters(BaseModel):
    """The libraries on the host of the API."""

    adapters: list[dict[str, Any]] = Field(
        description="each with what its library reports, and what it can do", examples=[[_ADAPTER]]
    )
