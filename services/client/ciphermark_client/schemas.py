"""What is asked of the client over REST, and what it answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ciphermark_core.model import Accuracy, ParameterSpec, Scheme
from ciphermark_measure.parties.messages import DataSet
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

_PrimeBits = Annotated[int, Field(ge=2, le=60)]


class ParametersAsked(Asked):
    """A requested parameter set; the library resolves it."""

    scheme: Scheme = Field(examples=["bfv"])
    ring_dimension: int = Field(ge=1024, le=1 << 17, examples=[8192])
    modulus_bits: Annotated[tuple[_PrimeBits, ...], Field(min_length=1, max_length=64)] | None = Field(
        default=None,
        description="sizes of the primes, the special one last; absent: the default chain",
        examples=[[60, 49]],
    )
    plain_modulus: int | None = Field(
        default=None, ge=2, lt=1 << 61, description="t; bfv and bgv", examples=[268369921]
    )
    scale_bits: int | None = Field(default=None, ge=1, le=60, description="ckks", examples=[40])
    security: int = Field(default=128, ge=0, le=256, description="at least, by the 2018 table; 0 for none")

    @model_validator(mode="after")
    def _fit_the_scheme(self) -> ParametersAsked:
        needed, other = (
            ("scale_bits", "plain_modulus") if self.scheme == "ckks" else ("plain_modulus", "scale_bits")
        )
        if getattr(self, needed) is None or getattr(self, other) is not None:
            raise ValueError(f"{self.scheme} needs {needed}, and has no {other}")
        if self.ring_dimension & (self.ring_dimension - 1):
            raise ValueError("ring_dimension is a power of two")
        return self

    @property
    def spec(self) -> ParameterSpec:
        """As the adapters have it."""
        return ParameterSpec(**self.model_dump())


_PARAMETERS: dict[str, Any] = {
    "scheme": "ckks",
    "ring_dimension": 8192,
    "modulus_bits": [60, 40, 60],
    "scale_bits": 40,
}


class SessionAsked(Asked):
    """Keys for a workload; its own parameters unless others are given."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"variant": "seal", "workload": "lmc-plain", "scheme": "bfv"},
                {"variant": "seal", "workload": "lmc-plain", "parameters": _PARAMETERS, "threads": 1},
            ]
        }
    )

    variant: Variant
    workload: WorkloadName
    scheme: Scheme | None = Field(
        default=None, description="which of the workload's own parameters", examples=["bfv"]
    )
    parameters: ParametersAsked | None = Field(default=None, examples=[_PARAMETERS])
    threads: Threads = None

    @model_validator(mode="after")
    def _name_one_scheme(self) -> SessionAsked:
        if self.scheme is not None and self.parameters is not None:
            raise ValueError("give scheme or parameters, not both: parameters name their scheme")
        return self


class SessionMade(BaseModel):
    """Keys are made. ``material`` is all that a server needs; the secret key stays in the session's process."""

    id: str = Field(examples=["0f" * 16])
    machine: Machine
    phases: tuple[Phase, ...] = Field(description="those of the workload, in order", examples=[["infer"]])
    library: Library
    parameters: Resolved
    material: BlobName
    samples: Samples = Field(examples=[measured("prepare.client", 0.0718, 0.0227, 41795584)])


class DataAsked(Asked):
    """Which rows, and how they are split."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$",
        description="a data set as `GET /v1/data-sets` lists them",
        examples=["boston"],
    )
    split_seed: int = Field(default=1, ge=0, lt=1 << 32, examples=[1])
    test_share: float = Field(default=0.2, ge=0.05, le=0.5, examples=[0.2])

    @property
    def data(self) -> DataSet:
        """As parties have it."""
        return DataSet(self.name, self.split_seed, self.test_share)


class EncryptAsked(Asked):
    """Encrypt what one phase of the workload needs."""

    phase: Phase = Field(examples=["infer"])
    data: DataAsked


class EncryptDone(BaseModel):
    """Ciphertexts are on the shared volume. ``plain`` is what the server is told in the clear."""

    inputs: tuple[BlobName, ...]
    plain: BlobName
    plaintext_bytes: int = Field(examples=[5304])
    samples: Samples = Field(examples=[measured("infer.client", 0.0512, 0.0111, 49664000)])


class ScoreAsked(Asked):
    """Decrypt the outputs of the last phase and compare them with the plaintext run."""

    outputs: BlobNames
    data: DataAsked


class ScoreDone(BaseModel):
    """How good the result is; ``complaint`` says why it is wrong, and is null where it is right."""

    accuracy: Accuracy = Field(
        examples=[
            {"max_abs_error": 0.0044, "wrong_slots": 0, "tolerance": 0.1662, "precision_bits": None},
        ]
    )
    complaint: str | None = Field(examples=[None])
    samples: Samples = Field(examples=[measured("infer.client", 0.0021, 0.0008, 49414144)])


class DataSetFacts(BaseModel):
    """A data set that this client has."""

    name: str = Field(examples=["boston"])
    rows: int = Field(examples=[506])
    features: int = Field(examples=[13])


class WorkloadFacts(BaseModel):
    """A workload, and its phases in order."""

    name: str = Field(examples=["lmc-plain"])
    title: str = Field(examples=["linear means, trained in the clear"])
    phases: tuple[Phase, ...] = Field(examples=[["infer"]])
    schemes: tuple[Scheme, ...] = Field(examples=[["bfv", "bgv", "ckks"]])
