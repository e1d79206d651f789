"""How OpenFHE switches keys in each division. Pure: OpenFHE is not asked.

In *best* it does what it does by default (docs/divisions.md cites where it says so): BV in bfv, otherwise HYBRID with
as many digits as :func:`default_digits` says, or the next number of them that leaves the modulus as secure as asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec


def method(spec: ParameterSpec) -> Literal["hybrid", "bv"]:
    """The method; bv has no special primes, so that security is that of the ciphertext modulus alone."""
    return "bv" if spec.division == "best" and spec.scheme == "bfv" else "hybrid"


def choices(spec: ParameterSpec, primes: int) -> list[KeySwitching]:
    """What to try for so many data primes: the first that is as secure as asked is taken, or else the last."""
    is_free = spec.division == "best" and method(spec) == "hybrid"
    least = default_digits(primes) if is_free else primes
    counts = (digits for digits in range(least, primes + 1) if _is_possible(primes, digits))
    return [KeySwitching(method(spec), digits) for digits in counts]


def default_digits(primes: int) -> int:
    """OpenFHE's number of digits where none is asked for: ComputeNumLargeDigits, of the depth ``primes`` − 1."""
    return 1 if primes == 1 else 2 if primes <= 4 else 3


def first_secure(several: Iterable[Parameters]) -> Parameters:
    """The first parameter set that is as secure as its request asks, or else the last."""
    for parameters in several:
        if parameters.security_2018 >= parameters.spec.security:
            break
    return parameters


def _is_possible(primes: int, digits: int) -> bool:
    """Whether no digit is left without a prime: OpenFHE refuses that."""
    return -(-primes // digits) * (digits - 1) < primes
