"""Resolve a request to a library's parameter set: modulus chains for a depth, and the smallest secure ring."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import Protocol

from ciphermark_contract.operations import read
from ciphermark_core import security
from ciphermark_core.chains import chains_for_depth, min_log_q
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters, ParameterSpec

_LARGEST_RING = 131_072


class Resolver(Protocol):
    """Resolves concrete requests: a library's adapter, or its known results."""

    def resolve(self, spec: ParameterSpec) -> Parameters:
        """The parameter set, prime by prime; raises ``Unsupported`` with the reason."""
        ...


def reason_against_operation(operation: str, parameters: Parameters) -> str | None:
    """Why an operation is not measured with these parameters, in a sentence for the user; ``None`` where it is."""
    reason = read(operation).reason_at(parameters.ring_dimension)
    if reason is not None:
        return reason
    if parameters.key_switching is not None or not read(operation).keys:
        return None
    return f"{operation} needs key switching, and a modulus chain of one prime leaves none for it"


def resolved(library: Resolver, request: ParameterSpec) -> Parameters:
    """The parameter set that a library makes of a request, with the requested security for the primes that it really
    takes.

    The library receives concrete parameter sets only: a ring dimension and prime sizes, or its default modulus chain.
    Raises ``Unsupported`` where there is none, with the reason at the largest ring that was tried.
    """
    *smaller, largest = rings(request)
    for ring_dimension in smaller:
        with suppress(Unsupported):
            return _at_ring(
                library, replace(request, ring_dimension=ring_dimension, ring_dimension_is_minimum=False)
            )
    try:
        return _at_ring(library, replace(request, ring_dimension=largest, ring_dimension_is_minimum=False))
    except Unsupported as error:
        if not smaller:
            raise
        raise Unsupported(f"no N from {smaller[0]} to {largest} will do; at N = {largest}: {error}") from None


def rings(request: ParameterSpec) -> list[int]:
    """The ring dimensions to try, in order. Skips rings for which the table allows no larger modulus."""
    least = request.ring_dimension
    if not request.ring_dimension_is_minimum:
        return [least]
    doubled = takewhile(lambda n: n <= _LARGEST_RING, (least << power for power in range(20)))
    return [n for n in doubled if n == least or _limit(n, request) != _limit(n // 2, request)]


def _at_ring(library: Resolver, request: ParameterSpec) -> Parameters:
    reason: Unsupported | None = None
    for chain in _chains(request):
        _require_room(request, chain)
        try:
            parameters = library.resolve(replace(request, modulus_bits=chain, depth=None))
        except Unsupported as error:
            reason = reason or error
            continue
        if request.depth is None or _is_large_enough(parameters, request):
            _require_security(parameters)
            return parameters
    assert reason is not None
    raise reason


def _chains(request: ParameterSpec) -> Iterator[tuple[int, ...] | None]:
    is_to_make = request.modulus_bits is None and request.depth is not None
    return chains_for_depth(request) if is_to_make else iter([request.modulus_bits])


def _is_large_enough(parameters: Parameters, request: ParameterSpec) -> bool:
    """Whether a library that chooses its primes took a modulus as large as the noise requires (bfv, bgv).

    In ckks the scale decides the size of primes, and libraries choose them on both sides of it.
    """
    if request.scheme == "ckks":
        return True
    return parameters.log_q >= min_log_q(request)


def _require_room(request: ParameterSpec, chain: tuple[int, ...] | None) -> None:
    """Refuse a chain whose data primes alone are too large, before the library spends time and memory on it."""
    if chain is None or not request.security:
        return
    min_log_q = float(sum(chain[:-1]) - len(chain))  # primes of b bits are above 2^(b-1)
    bound = _limit(request.ring_dimension, request)
    if bound is None or min_log_q > bound:
        log_qp = math.fsum(chain)
        raise Unsupported(reason_against(request, request.ring_dimension, log_qp) or "the chain is too long")


def _require_security(parameters: Parameters) -> None:
    reason = reason_against(
        parameters.spec, parameters.ring_dimension, parameters.log_qp, parameters.secret_distribution
    )
    if reason is not None:
        raise Unsupported(reason)


def _limit(ring_dimension: int, request: ParameterSpec) -> int | None:
    if not request.security:
        return None
    return security.limit(request.security_table, ring_dimension, request.security)


def reason_against(
    spec: ParameterSpec, ring_dimension: int, log_qp: float, secret_distribution: str = "uniform ternary"
) -> str | None:
    """Why a modulus of ``log_qp`` bits misses the level that a request asks for by its table; ``None`` when it does
    not.
    """
    table, asked_bits = spec.security_table, spec.security
    if asked_bits and security.is_unrated(secret_distribution):
        return f"the security of a {secret_distribution} secret is unknown: no table rates it; write `security: none`"
    if security.level(table, ring_dimension, log_qp) >= asked_bits:
        return None
    bound = security.limit(table, ring_dimension, asked_bits)
    if bound is None:
        what = f"N = {ring_dimension} is below the smallest ring of the {table} table"
    else:
        what = (
            f"a chain of {log_qp:.1f} bits at N = {ring_dimension} is above {bound}, the {table} table's limit for "
            f"{asked_bits} bits"
        )
    return f"{what}; write `security: none` to allow it"
