"""The parameter set of a workload: its recommendation, with the changes of a suite."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ciphermark_contract.declaration import Declaration
from ciphermark_core import primes
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_core.security import Table, limit
from ciphermark_workloads.workload import Workload


class Override(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Changes to a recommended parameter set; ``None`` leaves a value unchanged.

    ``scale_bits`` is for ckks, ``plain_modulus`` for bfv and bgv; other schemes ignore them.
    """

    ring_dimension: Annotated[int | None, Meta(ge=2, le=1 << 17, description="N, a power of two")] = None
    modulus_bits: Annotated[
        tuple[Annotated[int, Meta(ge=2, le=60)], ...] | None,
        Meta(description="prime sizes, the special prime last"),
    ] = None
    scale_bits: Annotated[int | None, Meta(ge=10, le=60, description="log2 of the CKKS scale")] = None
    plain_modulus: Annotated[int | None, Meta(ge=2, lt=1 << 60, description="t; BFV and BGV")] = None
    plain_modulus_bits: Annotated[
        int | None, Meta(ge=2, le=60, description="size of t, which is then the largest that gives slots")
    ] = None
    security: Annotated[int | None, Meta(ge=0, le=256, description="minimum level; 0 for none")] = None
    security_table: Annotated[Table | None, Meta(description="table that the level is of")] = None


NOTHING = Override()
_LARGEST_RING = 1 << 17


def recommended(
    workload: Workload[Any, Any], scheme: Scheme, declared: Declaration, override: Override = NOTHING
) -> ParameterSpec:
    """The parameter set that a workload recommends for a library, with changes.

    A library that chooses its primes and its levels goes by bounds on the noise, which need more room. It gets its
    default chain, the longest with the requested security. Bootstrapping is the same for every library where the
    changes state the primes, so that libraries can be ranked together.

    Raises ``Unsupported`` for a scheme that the workload does not support. Raises it also for a ring dimension that is
    no power of two or has no plaintext modulus of the required size.
    """
    own = workload.roomy_parameters if declared.chooses_primes else workload.parameters
    if sends_seeded(workload, declared):
        own = workload.seeded_parameters
    spec = changed(own(scheme), override)
    if spec.bootstrapping is not None and override.modulus_bits is not None:
        return changed(workload.parameters(scheme), override)
    chooses_all = declared.chooses_primes and scheme in declared.manages_levels
    if chooses_all and override.modulus_bits is None and spec.security:
        return replace(spec, modulus_bits=None)
    return spec


def sends_seeded(workload: Workload[Any, Any], declared: Declaration) -> bool:
    """Whether a workload's ciphertexts are sent to the server with seeds, at half the size."""
    return workload.is_seeded and declared.writes_seeded


def _secure_ring(spec: ParameterSpec) -> int:
    """The smallest ring from the present one on whose limit the requested primes keep; the present one if none does."""
    ring, log_qp = spec.ring_dimension, sum(spec.modulus_bits or ())
    while ring <= _LARGEST_RING:
        bound = limit(spec.security_table, ring, spec.security)
        if bound is not None and log_qp <= bound:
            return ring
        ring *= 2
    return spec.ring_dimension


def reason_against(spec: ParameterSpec) -> str | None:
    """Why no library supports a workload's parameters; ``None`` where no reason is known."""
    n = spec.ring_dimension
    if n < 2 or n & (n - 1):
        return f"the workload's parameters for {spec.scheme} have N = {n}, which must be a power of two"
    return None


def changed(spec: ParameterSpec, override: Override) -> ParameterSpec:
    """A parameter set with changes; t follows N, at the same size, unless it is given. A higher security level than the
    recommended one raises N to the smallest ring that has it, if there is one, unless N is given.
    """
    given = msgspec.structs.asdict(override)
    asked_bits = given.pop("plain_modulus_bits")
    for_others = "plain_modulus" if spec.scheme == "ckks" else "scale_bits"
    values = {name: value for name, value in given.items() if value is not None and name != for_others}
    other, modulus = replace(spec, **values), spec.plain_modulus
    if override.ring_dimension is None and other.security > spec.security:
        other = replace(other, ring_dimension=_secure_ring(other))
    if modulus is None or other.plain_modulus != modulus:
        return other
    if asked_bits is None and (primes.batches(modulus, other.ring_dimension) or other.plain_residues):
        return other
    bits = asked_bits or modulus.bit_length()
    return replace(other, plain_modulus=primes.batching_modulus(bits, other.ring_dimension))
