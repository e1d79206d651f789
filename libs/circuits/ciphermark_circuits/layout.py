"""Layout of tables in slots: rows of data in consecutive blocks of equal size.

All schemes have a row of N/2 slots that rotations act on: the slots of ckks, the first of the two rows of bfv and
bgv. The second row stays empty, so that no circuit needs ``rotate_columns``. Further rows of data are in additional
ciphertexts, since an addition costs a hundredth of a rotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_core.model import Parameters

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Blocks:
    """``width`` slots in blocks of ``block`` slots, both powers of two; a block holds one row of data."""

    width: int
    block: int

    @classmethod
    def of(cls, parameters: Parameters, values: int, parts: int = 1) -> Blocks:
        """Blocks of ``parts`` parts, each the smallest power of two that holds ``values`` values.

        Raises ``Unsupported`` where fewer than two of them fit.
        """
        width, block = parameters.ring_dimension // 2, parts * power_of_two(values)
        if 2 * block > width:
            raise Unsupported(
                f"{values} columns need blocks of {block} slots, and a ciphertext of N = "
                f"{parameters.ring_dimension} has {width} slots that turn: take a larger N or fewer columns"
            )
        return cls(width, block)

    @property
    def rows(self) -> int:
        """Rows of data that fit one ciphertext."""
        return self.width // self.block

    def packed(self, rows: Vector) -> list[Vector]:
        """Vectors of ``width`` slots that hold rows of shape (count, at most ``block``), in order."""
        count, columns = rows.shape
        vectors = -(-count // self.rows)
        blocks = np.zeros((vectors * self.rows, self.block), dtype=rows.dtype)
        blocks[:count, :columns] = rows
        return list(blocks.reshape(vectors, self.width))

    def heads(self, vectors: Sequence[Vector], count: int) -> Vector:
        """The first slot of each of the first ``count`` blocks."""
        slots = np.concatenate([vector[: self.width] for vector in vectors])
        heads: Vector = slots[:: self.block][:count]
        return heads


def power_of_two(least: int) -> int:
    """The smallest power of two that is not below ``least``."""
    return 1 << (least - 1).bit_length()


def powers(first: int, end: int) -> tuple[int, ...]:
    """``first``, 2·``first``, … below ``end``."""
    return tuple(first << i for i in range((end // first).bit_length() - 1))


def with_ones(features: Floats) -> Floats:
    """Rows with a leading 1, for the bias."""
    return np.column_stack([np.ones(len(features)), features])


def residues(values: Floats, parameters: Parameters) -> Vector:
    """Whole numbers modulo t, as bfv and bgv take them; raises ``Unsupported`` for magnitudes of t/2 or more."""
    whole = np.rint(values)
    require_room(whole, parameters)
    residues: Vector = whole.astype(np.int64) % (parameters.plain_modulus or 0)
    return residues


def centred(vector: Vector, parameters: Parameters) -> Vector:
    """The inverse of :func:`residues`."""
    modulus = parameters.plain_modulus or 0
    return np.where(vector > modulus // 2, vector - modulus, vector)


def require_real_room(values: Floats, room: float, what: str) -> None:
    """Raise ``Unsupported`` where a real number is not below ``room``, the limit of the ckks parameters."""
    largest = float(np.abs(values).max(initial=0.0))
    if not largest < room:
        raise Unsupported(
            f"{what} of {largest:.6g} does not fit: the parameters support numbers below {room:.0f}; look for "
            "outliers in the data"
        )


def require_room(whole: Floats, parameters: Parameters) -> None:
    """Raise ``Unsupported`` where a whole number, as a float of any size, does not fit between −t/2 and t/2."""
    modulus = parameters.plain_modulus or 0
    largest = float(np.abs(whole).max(initial=0.0))
    if not 2 * largest < modulus:
        raise Unsupported(
            f"these data lead to numbers up to {largest:.6g}, but they must be below half of t = {modulus}: use a "
            "larger plaintext modulus, or data with smaller outliers"
        )
