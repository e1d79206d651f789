"""A requested parameter set over REST."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ciphermark_core.key_switching import Division
from ciphermark_core.model import Scheme

_PrimeBits = Annotated[int, Field(ge=2, le=60)]


class ParametersAsked(BaseModel):
    """A requested parameter set; the library resolves it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    EXAMPLE: ClassVar[dict[str, Any]] = {
        "scheme": "ckks",
        "ring_dimension": 8192,
        "modulus_bits": [60, 40, 60],
        "scale_bits": 40,
    }

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
    division: Division = Field(
        default="equal", description="who chooses how keys are switched", examples=["best"]
    )

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
