"""Numbers as code words of two ones (constant weight: Mahdavi and Kerschbaum, "Constant-weight PIR: single-round
keyword PIR via constant-weight equality operators", USENIX Security 2022). Pure.

A code word of length m is the pair of places a < b that are 1. In the combinatorial number system number k is the pair
with k = b·(b − 1)/2 + a, so m places are enough for m·(m − 1)/2 numbers.
"""

from __future__ import annotations

from math import isqrt

from ciphermark_circuits.constant_weight import Code


def length(count: int) -> int:
    """The fewest places for as many numbers, count ≥ 1: the smallest m with m·(m − 1)/2 ≥ count."""
    return _upper(count - 1) + 1


def code(number: int) -> Code:
    """The places that are 1 for a number ≥ 0, the lower first."""
    upper = _upper(number)
    return number - upper * (upper - 1) // 2, upper


def _upper(number: int) -> int:
    """The largest b with b·(b − 1)/2 ≤ number."""
    return (1 + isqrt(8 * number + 1)) // 2
