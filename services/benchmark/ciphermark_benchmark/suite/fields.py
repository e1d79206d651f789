"""What the forms of all experiments have in common: variants, rings, sizes of primes."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ciphermark_adapters import registry
from ciphermark_benchmark.suite.dimensions import Several
from ciphermark_core.errors import UserError
from ciphermark_core.key_switching import Division
from ciphermark_core.model import BootstrappingParameters
from ciphermark_core.nearest import did_you_mean

# The largest ring of the security tables, and of any library here.
_LARGEST_RING = 131_072


def _variant(name: str) -> str:
    try:
        registry.declaration(name)
    except UserError as error:
        hint = did_you_mean(registry.base_variant(name), registry.declarations())
        raise ValueError(str(error) + hint) from None
    return name


def _ring_dimension(value: int) -> int:
    if value < 2 or value & (value - 1):
        raise ValueError(f"the ring dimension must be a power of two, not {value}")
    if value > _LARGEST_RING:
        raise ValueError(f"the ring dimension must be at most {_LARGEST_RING}, not {value}")
    return value


RingDimension = Annotated[int, AfterValidator(_ring_dimension)]
PrimeBits = Annotated[int, Field(ge=2, le=60)]
ScaleBits = Annotated[int, Field(ge=10, le=60)]
Divisions = Annotated[
    Division | Several[Division],
    Field(
        description="equal: keys are switched alike by all libraries; best: as each library's own documentation would "
        "set it. The two are never ranked together",
        examples=[["equal", "best"]],
    ),
]
Variant = Annotated[str, AfterValidator(_variant)]


class Strict(BaseModel):
    """A form that knows its keys and types, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class BootstrappingText(Strict):
    """How ckks ciphertexts are bootstrapped; the modulus chain has to have the levels for it."""

    level_budget: Annotated[list[Annotated[int, Field(ge=1, le=8)]], Field(min_length=2, max_length=2)] = (
        Field([3, 3], description="levels for encoding and decoding", examples=[[2, 2]])
    )
    slots: int | None = Field(
        None, ge=1, description="values that are bootstrapped; all where absent", examples=[8]
    )
    iterations: int = Field(1, ge=1, le=8, description="more than one raise the precision", examples=[2])
    precision_bits: int | None = Field(
        None, ge=1, le=60, description="precision of the first of several iterations", examples=[10]
    )

    @model_validator(mode="after")
    def _precision_is_of_the_first(self) -> Self:
        if (self.iterations > 1) != (self.precision_bits is not None):
            raise ValueError("precision_bits belongs to more than one of iterations, which need it")
        return self

    def parameters(self) -> BootstrappingParameters:
        """As a parameter set holds them."""
        first, last = self.level_budget
        return BootstrappingParameters((first, last), self.slots, self.iterations, self.precision_bits)


class PlainModulus(Strict):
    """The plaintext modulus t of bfv and bgv: its size in bits, or its value."""

    bits: int | None = Field(
        None, ge=2, le=60, description="the largest prime of so many bits that gives slots", examples=[20]
    )
    value: int | None = Field(
        None, ge=2, lt=1 << 60, description="t itself: a prime that is 1 modulo 2N", examples=[65537]
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.bits is None) == (self.value is None):
            raise ValueError("plain_modulus takes either bits or value")
        return self
