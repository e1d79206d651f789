"""The meaning of every operation on vectors of slots, in numpy. No ciphertext is involved."""

from __future__ import annotations

import numpy as np

from ciphermark_contract.interfaces import Vector


def padded(values: Vector, slots: int) -> Vector:
    """The vector with zeros up to ``slots``; raises ``ValueError`` for one that is too long."""
    if len(values) > slots:
        raise ValueError(f"{len(values)} values do not fit {slots} slots")
    full = np.zeros(slots, dtype=values.dtype)
    full[: len(values)] = values
    return full


def product(a: Vector, b: Vector, modulus: int | None) -> Vector:
    """a·b slot by slot, modulo t where there is one: exact for t < 2^62."""
    if modulus is None:
        return a * b
    if modulus < 1 << 31:
        return a * b % modulus
    return np.array([int(x) * int(y) % modulus for x, y in zip(a, b, strict=True)], dtype=np.int64)


def reduced(values: Vector, modulus: int | None) -> Vector:
    """Values modulo t, where there is one."""
    return values if modulus is None else values % modulus


def rotated(values: Vector, steps: int, modulus: int | None) -> Vector:
    """Slots turned left by ``steps``: each of the two rows where there is a t, the one row of ckks else."""
    rows = 1 if modulus is None else 2
    return np.roll(values.reshape(rows, -1), -steps, axis=1).reshape(-1)


def columns_rotated(values: Vector) -> Vector:
    """The two rows swapped."""
    return values.reshape(2, -1)[::-1].reshape(-1)


def apply(operation: str, modulus: int | None, a: Vector, *others: Vector | int) -> Vector:
    """The expected slots of ``operation`` on full slot vectors; ``others`` is a vector or rotation steps."""
    if operation in ("relinearize", "rescale", "mod_switch"):
        return a
    if operation == "rotate_columns":
        return columns_rotated(a)
    if operation == "negate":
        return reduced(-a, modulus)
    if operation == "square":
        return product(a, a, modulus)
    (other,) = others
    if operation == "rotate":
        return rotated(a, int(other), modulus)
    vector = np.asarray(other)
    if operation in ("mul", "mul_plain"):
        return product(a, vector, modulus)
    sign = 1 if operation in ("add", "add_plain") else -1
    return reduced(a + sign * vector, modulus)
