"""The meaning of operations on vectors of slots, in numpy: no ciphertext is involved.

A meaning takes the :class:`Ring`, full slot vectors for the operands (lists of them where an operand is several) and
then the arguments. Vectors are ``int64`` in [0, t) where there is a t, else ``float64``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np

from ciphermark_contract.bound import Vector
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters

_SLACK = 1e-9  # rounding of doubles


@dataclass(frozen=True, slots=True)
class Ring:
    """The ring of slots: two rows of N/2 slots of Z_t[X]/(X^N + 1), or, without a t, one row of N/2 reals.

    ``generator`` (g) orders them: slot c of the first row is the value at ζ^(g^c), of the second at ζ^(−g^c), ζ a
    primitive 2N-th root of unity. Rotations mean the same for every g; the effect of a Galois element on slots
    depends on it.
    """

    dimension: int
    modulus: int | None
    generator: int = 3

    @classmethod
    def of(cls, parameters: Parameters, generator: int | None = None) -> Ring:
        """The ring of a resolved parameter set, with its order of slots or another. Fewer reals than N/2 are those of a
        smaller ring, in which all plaintexts lie.
        """
        is_real = parameters.plain_modulus is None
        dimension = 2 * parameters.slots if is_real else parameters.ring_dimension
        return cls(dimension, parameters.plain_modulus, generator or parameters.slot_generator)

    @property
    def slots(self) -> int:
        """The number of values of a vector."""
        return self.dimension // 2 if self.modulus is None else self.dimension

    @property
    def rows(self) -> int:
        """The number of rows: two with a t, else one."""
        return 1 if self.modulus is None else 2

    @property
    def exponents(self) -> list[int]:
        """The e of each slot's ζ^e, modulo 2N."""
        order = 2 * self.dimension
        row = [1]
        while len(row) < self.dimension // 2:
            row.append(row[-1] * self.generator % order)
        return row if self.modulus is None else [*row, *(order - e for e in row)]


def padded(values: Vector, slots: int) -> Vector:
    """The vector with zeros up to ``slots``; raises ``ValueError`` for one that is too long."""
    if len(values) > slots:
        raise ValueError(f"{len(values)} values do not fit {slots} slots")
    full = np.zeros(slots, dtype=values.dtype)
    full[: len(values)] = values
    return full


def same(_: Ring, a: Vector, *__: object) -> Vector:
    """The first operand, unchanged."""
    return a


def bootstrapped(_: Ring, a: Vector) -> Vector:
    """The operand, unchanged; raises ``Unsupported`` for values that bootstrapping does not keep."""
    largest = float(np.max(np.abs(a), initial=0.0))
    if not largest <= 1 + _SLACK:  # also where it is no number
        raise Unsupported(
            f"bootstrapping takes values in [−1, 1], and one of these is {largest:.4g}: scale them down first"
        )
    return a


def negated(ring: Ring, a: Vector) -> Vector:
    """−a."""
    return _reduced(ring, -a)


def total(ring: Ring, a: Vector, b: Vector | float) -> Vector:
    """a + b."""
    return _reduced(ring, a + np.asarray(b, dtype=a.dtype))


def difference(ring: Ring, a: Vector, b: Vector) -> Vector:
    """a − b."""
    return _reduced(ring, a - b)


def product(ring: Ring, a: Vector, b: Vector | float) -> Vector:
    """a·b slot by slot: exact for t < 2^62."""
    modulus = ring.modulus
    if modulus is None:
        return a * b
    if modulus < 1 << 31:
        return a * np.asarray(b, dtype=np.int64) % modulus
    others = np.broadcast_to(np.asarray(b), a.shape)
    return np.array([int(x) * int(y) % modulus for x, y in zip(a, others, strict=True)], dtype=np.int64)


def square(ring: Ring, a: Vector) -> Vector:
    """a·a slot by slot."""
    return product(ring, a, a)


def total_of_many(ring: Ring, several: Sequence[Vector]) -> Vector:
    """The sum of all."""
    return reduce(lambda a, b: total(ring, a, b), several)


def inner_product(ring: Ring, several: Sequence[Vector], others: Sequence[Vector]) -> Vector:
    """The sum of the products, pair by pair."""
    return total_of_many(ring, [product(ring, a, b) for a, b in zip(several, others, strict=True)])


def weighted_sum(ring: Ring, several: Sequence[Vector], numbers: Sequence[float]) -> Vector:
    """The sum of the products, each vector with its number."""
    return total_of_many(ring, [product(ring, a, b) for a, b in zip(several, numbers, strict=True)])


def rotated(ring: Ring, a: Vector, steps: int) -> Vector:
    """Each row rotated left by ``steps``."""
    return np.roll(a.reshape(ring.rows, -1), -steps, axis=1).reshape(-1)


def rotated_to_many(ring: Ring, a: Vector, steps: Sequence[int]) -> list[Vector]:
    """The rotation by each of the steps."""
    return [rotated(ring, a, item) for item in steps]


def columns_rotated(_: Ring, a: Vector) -> Vector:
    """The two rows swapped."""
    return a.reshape(2, -1)[::-1].reshape(-1)


def substituted(ring: Ring, a: Vector, element: int) -> Vector:
    """X → X^k: slot e receives the value of slot k·e. In ckks, slots e and −e are one: real values are equal there."""
    order = 2 * ring.dimension
    exponents = ring.exponents
    places = {e: i for i, e in enumerate(exponents)}
    wanted = (element * e % order for e in exponents)
    return a[[places[e] if e in places else places[order - e] for e in wanted]]


def _reduced(ring: Ring, values: Vector) -> Vector:
    return values if ring.modulus is None else values % ring.modulus


def shifted(ring: Ring, a: Vector, exponent: int) -> Vector:
    """The product with X^k in Z_t[X]/(X^N + 1): slot e times ζ^(k·e), for the smallest root ζ."""
    assert ring.modulus is not None
    order, root = 2 * ring.dimension, smallest_root(ring.dimension, ring.modulus)
    powers = [pow(root, exponent * e % order, ring.modulus) for e in ring.exponents]
    return product(ring, a, np.array(powers, dtype=np.int64))


@cache
def smallest_root(dimension: int, modulus: int) -> int:
    """The smallest primitive 2N-th root of unity modulo a prime that is 1 modulo 2N."""
    candidates = (pow(base, (modulus - 1) // (2 * dimension), modulus) for base in range(2, modulus))
    root = next(root for root in candidates if pow(root, dimension, modulus) == modulus - 1)
    roots = [root]
    while len(roots) < dimension:
        roots.append(roots[-1] * root * root % modulus)
    return min(roots)
