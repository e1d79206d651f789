"""The parameter set of a workload: the one that it recommends, and what a suite says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ciphermark_contract.declaration import Declaration
from ciphermark_core import primes
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_workloads.workload import Workload


class Override(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a recommended parameter set is to be otherwise; what is ``None`` stays.

    ``scale_bits`` is for ckks, ``plain_modulus`` for bfv and bgv: where a scheme has no such thing, it is left out.
    """

    ring_dimension: Annotated[int | None, Meta(ge=2, le=1 << 17, description="N, a power of two")] = None
    modulus_bits: Annotated[
        tuple[Annotated[int, Meta(ge=2, le=60)], ...] | None,
        Meta(description="prime sizes, the special prime last"),
    ] = None
    scale_bits: Annotated[int | None, Meta(ge=10, le=60, description="log2 of the ckks scale")] = None
    plain_modulus: Annotated[int | None, Meta(ge=2, lt=1 << 60, description="t; bfv and bgv")] = None
    security: Annotated[int | None, Meta(ge=0, le=256, description="least level; 0 for none")] = None


NOTHING = Override()


def recommended(
    workload: Workload[Any, Any], scheme: Scheme, declared: Declaration, override: Override = NOTHING
) -> ParameterSpec:
    """The parameter set that a workload recommends for a library, less what is to be otherwise.

    Raises ``Unsupported`` for a scheme that the workload is not made for, and for a ring dimension that is no power of
    two or has no plaintext modulus of the size that the workload needs.
    """
    own = workload.roomy_parameters if declared.chooses_primes else workload.parameters
    return changed(own(scheme), override)


def changed(spec: ParameterSpec, override: Override) -> ParameterSpec:
    """A parameter set with some of it otherwise; t follows N, at the size that it had, unless it is given."""
    for_others = "plain_modulus" if spec.scheme == "ckks" else "scale_bits"
    values = {
        name: value
        for name, value in msgspec.structs.asdict(override).items()
        if value is not None and name != for_others
    }
    return _batching(replace(spec, **values), spec)


def _batching(spec: ParameterSpec, before: ParameterSpec) -> ParameterSpec:
    """With a plaintext modulus that has slots: where N changed and t did not, one of the same size."""
    modulus = spec.plain_modulus
    if modulus is None or modulus != before.plain_modulus or primes.batches(modulus, spec.ring_dimension):
        return spec
    return replace(spec, plain_modulus=primes.batching_modulus(modulus.bit_length(), spec.ring_dimension))
