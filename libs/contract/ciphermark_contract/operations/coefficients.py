"""Polynomials of Z_t[X]/(X^N + 1) by their coefficients and by their slots, in numpy: no ciphertext is involved.

Slot e holds the value at ζ^e, ζ the smallest primitive 2N-th root of unity modulo t. With it, encoding coefficients
equals encoding these slots in every library with slots. If a library takes another root, all its polynomials are images
of ours under one automorphism, which preserves sums and products.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ciphermark_contract.bound import Vector
from ciphermark_contract.operations.meaning import Ring, smallest_root

_EXACT_BELOW = 1 << 31  # products of two residues fit 64 bits


def slots_of(ring: Ring, coefficients: Vector) -> Vector:
    """The slots of polynomials whose coefficients in [0, t) are along the last axis, N of them."""
    modulus = _modulus(ring)
    root = smallest_root(ring.dimension, modulus)
    factors = _powers(root, ring.dimension, modulus)
    values = _cyclic(_wide(coefficients, modulus) * factors % modulus, root * root % modulus, modulus)
    return values[..., _places(ring)].astype(np.int64)


def coefficients_of(ring: Ring, slots: Vector) -> Vector:
    """The inverse of :func:`slots_of`."""
    modulus = _modulus(ring)
    inverse = pow(smallest_root(ring.dimension, modulus), -1, modulus)
    wide = _wide(slots, modulus)
    values = np.zeros_like(wide)
    values[..., _places(ring)] = wide
    scaled = (
        _cyclic(values, inverse * inverse % modulus, modulus) * pow(ring.dimension, -1, modulus) % modulus
    )
    coefficients: Vector = scaled * _powers(inverse, ring.dimension, modulus) % modulus
    return coefficients.astype(np.int64)


def _modulus(ring: Ring) -> int:
    if ring.modulus is None:
        raise ValueError("slots of ckks are no residues: they have no coefficients modulo t")
    return ring.modulus


def _wide(values: Vector, modulus: int) -> Vector:
    """The values in a type that holds their products: Python's integers for a large t."""
    return values.astype(np.int64 if modulus < _EXACT_BELOW else object)


def _places(ring: Ring) -> npt.NDArray[np.int64]:
    """Indices of the slots' values among those at ζ, ζ^3, ζ^5, …"""
    return np.array(ring.exponents) // 2


@cache
def _powers(root: int, count: int, modulus: int) -> Vector:
    powers = [1]
    while len(powers) < count:
        powers.append(powers[-1] * root % modulus)
    return _wide(np.array(powers, dtype=object), modulus)


def _cyclic(values: Vector, root: int, modulus: int) -> Vector:
    """The transform Σ v_j·ω^(ij) along the last axis. Its length is a power of two, and the order of the root ω."""
    count = values.shape[-1]
    if count == 1:
        return values
    halves = np.stack([values[..., 0::2], values[..., 1::2]], axis=-2)
    both = _cyclic(halves, root * root % modulus, modulus)
    even, turned = both[..., 0, :], both[..., 1, :] * _powers(root, count // 2, modulus) % modulus
    return np.concatenate([(even + turned) % modulus, (even - turned) % modulus], axis=-1)
