"""Expansion of a ciphertext of a polynomial to one ciphertext per coefficient (Angel et al., "PIR with compressed
queries and amortized query processing", IEEE S&P 2018).

The automorphism X → X^k with k = 1 + N/2^j times an odd number negates those coefficients of a polynomial in X^(2^j)
that are at odd powers of it. The rotation by N/2^(j+2) is such an automorphism for every order of slots: both have the
order 2^(j+1) in the group of rotations, which is cyclic. Slots and rotations are therefore sufficient.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_contract.operations import Ring
from ciphermark_contract.operations.meaning import smallest_root
from ciphermark_core.model import Parameters

# The operation that shifts coefficients without a plaintext.
_SHIFTS = ("mul_monomial",)


def rounds(count: int) -> int:
    """⌈log2 count⌉. Expanded entries are too large by 2^rounds; the polynomial is divided by it in advance."""
    return (count - 1).bit_length()


def most(ring_dimension: int) -> int:
    """The maximum number of coefficients that can be expanded: the last rotation is by one step."""
    return ring_dimension // 2


def steps(ring_dimension: int, count: int) -> tuple[int, ...]:
    """The rotations of :func:`expanded`, in ascending order."""
    return tuple(ring_dimension >> (j + 2) for j in reversed(range(rounds(count))))


def monomials(parameters: Parameters, exponents: Sequence[int]) -> Vector:
    """The slots of X^k for each exponent k ≥ 0, of shape (exponents, N): for bfv and bgv, t < 2^31."""
    ring = Ring.of(parameters)
    assert ring.modulus is not None
    order, root = 2 * ring.dimension, smallest_root(ring.dimension, ring.modulus)
    powers = np.ones(order, dtype=np.int64)
    for place in range(1, order):
        powers[place] = powers[place - 1] * root % ring.modulus
    places = np.outer(np.asarray(exponents, dtype=np.int64), ring.exponents) % order
    slots: Vector = powers[places]
    return slots


def packed(parameters: Parameters, places: Sequence[int], count: int) -> Vector:
    """The slots of the plaintext that expands to ``count`` ciphertexts: 2^(−rounds)·ΣX^k over the ``places`` k.

    The expanded ciphertexts at these places hold 1, the others 0.
    """
    modulus = parameters.plain_modulus or 0
    chosen = monomials(parameters, places).sum(axis=0)
    slots: Vector = chosen % modulus * pow(2, -rounds(count), modulus) % modulus
    return slots


def expanded(evaluator: Evaluator, packed: Handle, count: int) -> list[Handle]:
    """Ciphertexts of the first ``count`` coefficients, each times 2^rounds in every slot; others must be 0.

    It takes ``count`` − 1 rotations, differences and products with a monomial, and 2^rounds − 1 sums. A sum doubles the
    encrypted value and adds two nearly independent noises: deviations grow by √2 per round.
    """
    entries = [packed]
    for j in range(rounds(count)):
        entries = _split(evaluator, entries, j, count)
    return entries


def _split(evaluator: Evaluator, entries: list[Handle], j: int, count: int) -> list[Handle]:
    """Twice as many entries, up to ``count``: coefficients at even powers of X^(2^j), and those at odd powers moved.

    For the odd ones, X^(N − 2^j) times the rest is −X^(−2^j) times it: the polynomial of one coefficient, 1.
    """
    size = evaluator.parameters.ring_dimension
    pairs = min(len(entries), count - len(entries))
    even, odd = [], []
    for place, entry in enumerate(entries):
        if place >= pairs:
            even.append(evaluator.apply("add", entry, entry))
            continue
        turned = evaluator.apply("rotate", entry, size >> (j + 2))
        even.append(evaluator.apply("add", entry, turned))
        odd.append(_shifted(evaluator, evaluator.apply("sub", turned, entry), size - (1 << j)))
    return even + odd


def _shifted(evaluator: Evaluator, entry: Handle, exponent: int) -> Handle:
    shift = next((name for name in _SHIFTS if name in evaluator.operations), None)
    if shift is not None:
        return evaluator.apply(shift, entry, exponent)
    return Factors.of(evaluator, [entry]).inner_product([*monomials(evaluator.parameters, [exponent])])
