"""What is asked of the server over REST, and what it answers."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ciphermark_circuits.workload import Phase
from ciphermark_core.words import LibraryInfo, Parameters
from ciphermark_web.parties.words import Asked, BlobName, BlobNames, Samples, Variant, WorkloadName


class SessionAsked(Asked):
    """An evaluator of a client's public material."""

    variant: Variant
    workload: WorkloadName
    material: BlobName


class SessionMade(BaseModel):
    """The evaluator is ready."""

    id: str = Field(examples=["0f" * 16])
    library: LibraryInfo
    parameters: Parameters
    samples: Samples


class EvaluateAsked(Asked):
    """Evaluate one phase on ciphertexts; what it returns is also kept for the next phase."""

    phase: Phase
    inputs: BlobNames
    plain: BlobName


class EvaluateDone(BaseModel):
    """The outputs of the phase, on the shared volume."""

    outputs: tuple[BlobName, ...]
    samples: Samples
