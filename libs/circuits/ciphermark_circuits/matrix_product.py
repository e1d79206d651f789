"""Products of two encrypted square matrices of size d, a power of two (ckks).

Matrices are row by row in the first d² slots (:func:`row_major` and :func:`as_published`), or packed by the client for
a single product (:func:`packed_by_client`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.layout import Floats, powers
from ciphermark_circuits.products import raw_product, shrunk
from ciphermark_contract.interfaces import Evaluator, Handle


@dataclass(frozen=True, slots=True)
class Grid:
    """The layout of entries: block·d² + row·d + column, in ``blocks`` copies of a d × d matrix.

    ``near`` neighbors of a line are filled at the cost of one mask each, before rotations fill the rest.
    All are powers of two, near ≤ blocks ≤ size.
    """

    size: int
    blocks: int
    near: int

    @property
    def slots(self) -> int:
        """The number of used slots."""
        return self.blocks * self.size**2

    def mask(self, line: int, stride: int) -> Floats:
        """A mask with 1 in one column (``stride`` 1) or one row (``stride`` d) of every block."""
        lines = np.arange(self.slots) // stride % self.size
        mask: Floats = (lines == line).astype(np.float64)
        return mask


@dataclass(frozen=True, slots=True)
class _Side:
    """A factor, by the stride of its lines: columns of the left factor (1), rows of the right factor (d)."""

    grid: Grid
    stride: int

    def copies(self, evaluator: Evaluator, matrix: Handle) -> Handle:
        """The matrix in every block, the n-th moved by n lines towards the first."""
        whole = self.grid.size**2
        steps = [-count * (whole - self.stride) for count in powers(1, self.grid.blocks)]
        return sums.turned_sum(evaluator, matrix, steps)

    def neighbours(self, evaluator: Evaluator, copies: Handle) -> list[Handle]:
        """The copies rotated by 0, 1, … lines towards the last: each has a line at the place of a neighbor."""
        steps = [-number * self.stride for number in range(1, self.grid.near)]
        return [copies, *(evaluator.apply("rotate", copies, step) for step in steps)]

    def spread(self, evaluator: Evaluator, neighbours: Sequence[Handle], line: int) -> Handle:
        """Line ``line``, a multiple of ``near``, of every block in all lines of the block; one level lower."""
        terms = [
            _masked(evaluator, turned, self.grid.mask(line + number, self.stride))
            for number, turned in enumerate(neighbours)
        ]
        filled = evaluator.apply("rescale", sums.total(evaluator, terms))
        return sums.turned_sum(evaluator, filled, self._fill_steps(line))

    def first_line(self, evaluator: Evaluator, copies: Handle, shift: int) -> Handle:
        """Line ``shift``, rotated to the front of its blocks, in all lines of the block; not rescaled."""
        front = _turned(evaluator, copies, shift * self.stride)
        line = _masked(evaluator, front, self.grid.mask(0, self.stride))
        steps = [-distance * self.stride for distance in powers(1, self.grid.size)]
        return sums.turned_sum(evaluator, line, steps)

    def _fill_steps(self, line: int) -> Iterator[int]:
        """Rotations towards the last line where a bit of the number is 0, else the first: no line leaves its block."""
        for distance in powers(self.grid.near, self.grid.size):
            yield (distance if line & distance else -distance) * self.stride


def row_major(evaluator: Evaluator, left: Handle, right: Handle, grid: Grid) -> Handle:
    """left·right in the first d² slots, row by row; two levels. All other slots of the factors must be 0.

    Block n of the product for line k holds column k + n of the left factor times row k + n of the right one. With g
    blocks and h neighbors, it takes 3·log2 g + 2(h − 1) + 2(d/g)·log2(d/h) rotations, d/g products, 2·h·d/g masks
    and one relinearization.
    """
    columns, rows = _Side(grid, 1), _Side(grid, grid.size)
    a = columns.neighbours(evaluator, columns.copies(evaluator, left))
    b = rows.neighbours(evaluator, rows.copies(evaluator, right))
    terms = [
        raw_product(evaluator, columns.spread(evaluator, a, line), rows.spread(evaluator, b, line))
        for line in range(0, grid.size, grid.blocks)
    ]
    whole = grid.size**2
    steps = powers(whole, grid.blocks * whole)
    return sums.turned_sum(evaluator, shrunk(evaluator, sums.total(evaluator, terms)), steps)


def as_published(evaluator: Evaluator, left: Handle, right: Handle, size: int) -> Handle:
    """The circuit of fairmath's polycircuit library that CryptOracle measures: two blocks, d/2 products.

    It takes d + d·log2(d) + 1 rotations, d/2 products and d masks. As in their library's automatic mode, a product with
    a mask is rescaled only before the next product, each product is relinearized, and the result is not rescaled.
    """
    columns, rows = (_Side(Grid(size, 2, 1), stride) for stride in (1, size))
    a, b = columns.copies(evaluator, left), rows.copies(evaluator, right)
    terms = []
    for shift in range(0, size, 2):
        lines = [columns.first_line(evaluator, a, shift), rows.first_line(evaluator, b, shift)]
        factors = [evaluator.apply("rescale", line) for line in lines]
        terms.append(evaluator.apply("relinearize", evaluator.apply("mul", *factors)))
    return sums.turned_sum(evaluator, sums.total(evaluator, terms), [size**2])


def packed_by_client(evaluator: Evaluator, left: Handle, right: Handle, size: int) -> Handle:
    """left·right with row i at slots 2di, …, for factors packed by :func:`packed_left` and :func:`packed_right`.

    It takes 2(d − 1) rotations of the fresh factors, d products, one relinearization and one level. Other slots are not
    0.
    """
    terms = [
        raw_product(evaluator, _turned(evaluator, left, step), _turned(evaluator, right, 2 * size * step))
        for step in range(size)
    ]
    return shrunk(evaluator, sums.total(evaluator, terms))


def packed_left(matrix: Floats, slots: int) -> Floats:
    """A'[i, j] = A[i, i + j] for 2d columns j, repeated in all slots."""
    size = len(matrix)
    rows, columns = np.indices((size, 2 * size))
    return np.resize(matrix[rows, (rows + columns) % size].reshape(-1), slots)


def packed_right(matrix: Floats, slots: int) -> Floats:
    """B'[i, j] = B[i + j, j] for d columns j, then d zeros, repeated in all slots."""
    size = len(matrix)
    rows, columns = np.indices((size, size))
    packed = np.zeros((size, 2 * size))
    packed[:, :size] = matrix[(rows + columns) % size, columns]
    return np.resize(packed.reshape(-1), slots)


def unpacked(slots: Floats, size: int) -> Floats:
    """The product matrix in the result of :func:`packed_by_client`."""
    return slots[: 2 * size * size].reshape(size, 2 * size)[:, :size]


def _turned(evaluator: Evaluator, a: Handle, steps: int) -> Handle:
    return evaluator.apply("rotate", a, steps) if steps else a


def _masked(evaluator: Evaluator, a: Handle, mask: Floats) -> Handle:
    return evaluator.apply("mul_plain", a, evaluator.encode(mask, like=a))
