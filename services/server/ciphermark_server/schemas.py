"""What is asked of the server over REST, and what it answers."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ciphermark_parties.schemas import (
    Asked,
    BlobName,
    BlobNames,
    Library,
    Machine,
    Resolved,
    Samples,
    Threads,
    Variant,
    WorkloadName,
    measured,
)
from ciphermark_workloads.learning.workload import Phase


class SessionAsked(Asked):
    """An evaluator of a client's public material."""

    variant: Variant
    workload: WorkloadName
    material: BlobName
    threads: Threads = None


class SessionMade(BaseModel):
    """The evaluator is ready."""

    id: str = Field(examples=["0f" * 16])
    machine: Machine
    library: Library
    parameters: Resolved
    samples: Samples = Field(examples=[measured("prepare.server", 0.0755, 0.0177, 41795584)])


class EvaluateAsked(Asked):
    """Evaluate one phase on ciphertexts; what it returns is also kept for the next phase."""

    phase: Phase = Field(examples=["infer"])
    inputs: BlobNames
    plain: BlobName


class EvaluateDone(BaseModel):
    """The outputs of the phase, on the shared volume."""

    outputs: tuple[BlobName, ...]
    samples: Samples = Field(examples=[measured("infer.server", 0.0116, 0.0035, 45199360)])
