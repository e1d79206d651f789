"""Key switching and scale management of libraries: the part of a parameter set that its primes do not determine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# matched: all libraries switch keys alike; recommended: each as its own documentation would set it.
Tuning = Literal["matched", "recommended"]
# Tracking of a ciphertext's scale (ckks) or factor (bgv). exact: the library tracks the exact value. fixed: it takes
# every prime for the scale itself. managed: it also chooses levels.
Scaling = Literal["exact", "fixed", "managed"]


@dataclass(frozen=True, slots=True)
class KeySwitching:
    """A library's key switching: a top-level ciphertext is decomposed into ``decomposition_digits`` digits.

    ``hybrid`` divides its noise by special primes; ``bv`` has none, and its smaller digits limit the noise.
    """

    method: Literal["hybrid", "bv"]
    decomposition_digits: int


def one_digit_per_prime(moduli: Sequence[int], special_moduli: Sequence[int]) -> KeySwitching | None:
    """Hybrid key switching of a digit per ciphertext prime; ``None`` without special primes."""
    return KeySwitching("hybrid", len(moduli)) if special_moduli else None
