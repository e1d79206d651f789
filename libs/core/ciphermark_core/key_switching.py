"""How libraries switch keys and keep scales: what of a parameter set its primes do not tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# matched: all libraries switch keys alike; recommended: each as its own documentation would set it.
Tuning = Literal["matched", "recommended"]
# Who keeps the scale of a ciphertext (ckks) or its factor (bgv): exact, the library as it is; fixed, it takes all
# primes for the scale itself; managed, it chooses levels by itself as well.
Scaling = Literal["exact", "fixed", "managed"]


@dataclass(frozen=True, slots=True)
class KeySwitching:
    """How a library switches keys: a ciphertext of the top level is decomposed into ``decomposition_digits`` digits.

    ``hybrid`` has special primes, which its noise is divided by; ``bv`` has none, and smaller digits keep noise down.
    """

    method: Literal["hybrid", "bv"]
    decomposition_digits: int


def one_digit_per_prime(moduli: Sequence[int], special_moduli: Sequence[int]) -> KeySwitching | None:
    """Hybrid key switching of a digit per ciphertext prime; ``None`` without special primes."""
    return KeySwitching("hybrid", len(moduli)) if special_moduli else None
