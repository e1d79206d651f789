"""The parameter set that an experiment requests at one point of its matrix. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_benchmark.suite.fields import asked_security
from ciphermark_benchmark.suite.form import ExperimentText
from ciphermark_contract.operations import OPERATIONS, read
from ciphermark_core import chains, primes
from ciphermark_core.descriptor import MAX_REPETITIONS, REPETITIONS
from ciphermark_core.errors import Unsupported
from ciphermark_core.key_switching import Tuning
from ciphermark_core.model import ParameterSpec, Scheme, offered
from ciphermark_measure import parameter_selection
from ciphermark_measure.experiments import KINDS

SMALLEST_RING = 1024  # of the security tables; the search for a ring begins here
_SMALL_PRIME_BITS = 30
_SMALL_PRIME_RING = 8192


@dataclass(frozen=True, slots=True)
class Point:
    """The part of the matrix that determines the parameter set; without a ring dimension, the smallest secure one is
    used.
    """

    scheme: Scheme
    ring_dimension: int | None
    repetitions: int | None
    tuning: Tuning


def requested(
    experiment: ExperimentText, point: Point, operations: Sequence[str]
) -> tuple[ParameterSpec, str | None]:
    """The parameter set of one point of the matrix for these operations, and the reason why it cannot exist, if any."""
    bits = experiment.modulus_bits
    depth = (experiment.depth or point.repetitions) if bits == "for-depth" else None
    chain = None if isinstance(bits, str) else tuple(bits)
    ring_dimension = point.ring_dimension or SMALLEST_RING
    is_ckks = point.scheme == "ckks"
    level, table = asked_security(experiment.security)
    reason = None
    plain_modulus = None
    try:
        if not is_ckks:
            plain_modulus = _plain_modulus(experiment, point.ring_dimension)
        elif bits == "default":
            chain = primes.default_ckks_chain(ring_dimension, experiment.scale_bits, table)
        elif depth is not None and (largest := _largest_result(experiment.kind, operations)) is not None:
            chain = chains.ckks_chain(experiment.scale_bits, depth, largest)
    except Unsupported as error:
        reason = str(error)
    spec = ParameterSpec(
        scheme=point.scheme,
        ring_dimension=ring_dimension,
        modulus_bits=chain,
        plain_modulus=plain_modulus,
        scale_bits=experiment.scale_bits if is_ckks else None,
        security=level,
        security_table=table,
        depth=depth,
        ring_dimension_is_minimum=point.ring_dimension is None,
        tuning=point.tuning,
        bootstrapping=experiment.bootstrapping.parameters() if experiment.bootstrapping and is_ckks else None,
        **{name: getattr(experiment, name) for name in offered()},
    )
    return spec, reason or _reason_against_chain(spec, experiment)


def _largest_result(kind: str, operations: Sequence[str]) -> float | None:
    """The largest magnitude of a CKKS result in an experiment with operands of at most 1; ``None`` if unbounded, since
    repetitions may add up.
    """
    calls = [read(text) for text in operations if text.partition("(")[0] in OPERATIONS]
    if any(call.keys.bootstrapping for call in calls):  # the library chooses their primes
        return None
    largest = max((call.largest_result for call in calls), default=1.0)
    is_repeated = any(varied.dimension in (REPETITIONS, MAX_REPETITIONS) for varied in KINDS[kind].varied)
    return None if is_repeated and largest > 1 else largest


def _plain_modulus(experiment: ExperimentText, ring_dimension: int | None) -> int:
    """t; if the smallest secure ring is searched for, a t with slots at as many ring dimensions as its size allows."""
    modulus = experiment.plain_modulus
    if modulus.value is None:
        assert modulus.bits is not None
        if ring_dimension is None:
            return primes.widest_batching_modulus(modulus.bits)
        return primes.batching_modulus(modulus.bits, ring_dimension)
    least = ring_dimension or SMALLEST_RING
    if not primes.batches(modulus.value, least):
        raise Unsupported(
            f"t = {modulus.value} gives no slots at N = {least}: it must be a prime that is 1 modulo {2 * least}"
        )
    return modulus.value


def _reason_against_chain(spec: ParameterSpec, experiment: ExperimentText) -> str | None:
    """The objection to a modulus chain, if any. Choices that belong to the library are not checked."""
    small = [bits for bits in _inner_bits(spec) if bits < _SMALL_PRIME_BITS]
    is_large = spec.ring_dimension_is_minimum or spec.ring_dimension >= _SMALL_PRIME_RING
    if spec.scheme == "ckks" and is_large and small and "small-primes" not in experiment.allow:
        where = "at N ≥ 8192" if spec.ring_dimension_is_minimum else f"at N = {spec.ring_dimension}"
        return (
            f"primes of {min(small)} bits are few {where}: values drift by tens "
            "of percent per level; write `allow: [small-primes]` to measure it all the same"
        )
    if spec.modulus_bits is None or spec.ring_dimension_is_minimum:
        return None
    try:
        log_qp = _log_qp(spec)
    except Unsupported as error:
        return str(error)
    return parameter_selection.reason_against(spec, spec.ring_dimension, log_qp, spec.secret_distribution)


def _inner_bits(spec: ParameterSpec) -> tuple[int, ...]:
    """Prime sizes that are known without a library; in a CKKS modulus chain for a depth, those of the scale."""
    return spec.modulus_bits or ((spec.scale_bits,) if spec.depth and spec.scale_bits else ())


def _log_qp(spec: ParameterSpec) -> float:
    """log2(QP) of the largest primes of the requested sizes; the worker checks the library's actual primes."""
    assert spec.modulus_bits is not None
    return sum(
        math.log2(prime)
        for bits in set(spec.modulus_bits)
        for prime in primes.ntt_primes(bits, spec.ring_dimension, spec.modulus_bits.count(bits))
    )
