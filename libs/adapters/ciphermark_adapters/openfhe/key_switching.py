"""How OpenFHE switches keys in each division. Pure: OpenFHE is not asked.

In *best* (docs/divisions.md cites OpenFHE) it is BV in bfv, otherwise HYBRID with the fewest digits that
leave the modulus as secure as asked; where no security is asked for, nothing bounds the special primes, and as many
digits as :func:`default_digits` says are taken.
"""

from __future__ import annotations

from typing import Literal

from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import ParameterSpec


def method(spec: ParameterSpec) -> Literal["hybrid", "bv"]:
    """The method; bv has no special primes, so that security is that of the ciphertext modulus alone."""
    return "bv" if spec.division == "best" and spec.scheme == "bfv" else "hybrid"


def choices(spec: ParameterSpec, primes: int) -> list[KeySwitching]:
    """What to try for so many data primes: the first that is as secure as asked is taken, or else the last."""
    is_free = spec.division == "best" and method(spec) == "hybrid"
    fewest = 1 if spec.security else default_digits(primes)
    least = fewest if is_free else primes
    counts = (digits for digits in range(least, primes + 1) if _is_possible(primes, digits))
    return [KeySwitching(method(spec), digits) for digits in counts]


def default_digits(primes: int) -> int:
    """OpenFHE's number of digits where none is asked for: ComputeNumLargeDigits, of the depth ``primes`` − 1."""
    return 1 if primes == 1 else 2 if primes <= 4 else 3


def _is_possible(primes: int, digits: int) -> bool:
    """Whether no digit is left without a prime: OpenFHE refuses that."""
    return -(-primes // digits) * (digits - 1) < primes
