"""Encrypted matrix products: right for every size and packing, by as many operations as their documents say."""

from __future__ import annotations

from math import log2

import circuit_execution as circuits
import numpy as np
import pytest

from ciphermark_circuits import matrix_product
from ciphermark_circuits.matrix_product import Grid
from ciphermark_contract.interfaces import Vector

# Sums of up to 32 products of doubles.
ROUNDING = 1e-13


def _matrices(size: int) -> tuple[Vector, Vector]:
    generator = np.random.default_rng(size)
    left, right = generator.uniform(-1, 1, (2, size, size))
    return left, right


# Size, blocks, and neighbours: a grid has no more blocks than lines, and no more neighbours than blocks.
GRIDS = [
    (size, blocks, near)
    for size in (2, 4, 8, 16)
    for blocks in (1, 2, 4, 8)
    for near in (1, 2, 4)
    if near <= blocks <= size
]


@pytest.mark.parametrize(("size", "blocks", "near"), GRIDS)
def test_row_major(size: int, blocks: int, near: int) -> None:
    left, right = _matrices(size)
    grid = Grid(size, blocks, near)
    chosen = circuits.parameters(max(2 * grid.slots, 32), 2)
    found = circuits.executed(
        lambda evaluator, inputs: [matrix_product.row_major(evaluator, *inputs, grid)],
        [left.ravel(), right.ravel()],
        chosen,
    )
    product = found.outputs[0][: size * size].reshape(size, size)
    np.testing.assert_allclose(product, left @ right, rtol=0, atol=ROUNDING)
    lines = size // blocks
    rotations = 3 * log2(blocks) + 2 * (near - 1) + 2 * lines * log2(size / near)
    assert found.counts.get("rotate", 0) == rotations
    assert found.counts["mul"] == lines
    assert found.counts["mul_plain"] == 2 * near * lines
    assert found.counts["relinearize"] == 1
    assert found.program.depth == 2


@pytest.mark.parametrize("ring", [128, 256, 512])
def test_row_major_leaves_slots_beyond_the_grid_alone(ring: int) -> None:
    left, right = _matrices(4)
    found = circuits.executed(
        lambda evaluator, inputs: [matrix_product.row_major(evaluator, *inputs, Grid(4, 4, 2))],
        [left.ravel(), right.ravel()],
        circuits.parameters(ring, 2),
    )
    np.testing.assert_allclose(found.outputs[0][:16].reshape(4, 4), left @ right, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(
    ("size", "rotations", "additions"),
    [(8, 33, 30), (16, 81, 74), (32, 193, 178)],
)
def test_as_published(size: int, rotations: int, additions: int) -> None:
    """At d = 32 the counts that CryptOracle's program executes: 193, 178, 16 products, 32 masks; 43 rotation keys."""
    left, right = _matrices(size)
    found = circuits.executed(
        lambda evaluator, inputs: [matrix_product.as_published(evaluator, *inputs, size)],
        [left.ravel(), right.ravel()],
        circuits.parameters(4 * size * size, 2),
    )
    product = found.outputs[0][: size * size].reshape(size, size)
    np.testing.assert_allclose(product, left @ right, rtol=0, atol=ROUNDING)
    assert (found.counts["rotate"], found.counts["add"]) == (rotations, additions)
    assert (found.counts["mul"], found.counts["mul_plain"]) == (size // 2, size)
    if size == 32:
        assert len(found.program.keys.steps) == 43


@pytest.mark.parametrize("size", [2, 8, 32])
@pytest.mark.parametrize("copies", [1, 2])
def test_packed_by_the_client(size: int, copies: int) -> None:
    left, right = _matrices(size)
    chosen = circuits.parameters(4 * size * size * copies, 1)
    found = circuits.executed(
        lambda evaluator, inputs: [matrix_product.packed_by_client(evaluator, *inputs, size)],
        [
            matrix_product.packed_left(left, chosen.slots),
            matrix_product.packed_right(right, chosen.slots),
        ],
        chosen,
    )
    product = matrix_product.unpacked(found.outputs[0], size)
    np.testing.assert_allclose(product, left @ right, rtol=0, atol=ROUNDING)
    assert (found.counts["rotate"], found.counts["mul"]) == (2 * (size - 1), size)
    assert (found.counts["relinearize"], found.counts.get("mul_plain", 0)) == (1, 0)
    assert found.program.depth == 1
