"""MulPIR: elements come back from a grid of plaintexts, costs are the formulas', what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest
import retrieval_costs
from hypothesis import given
from hypothesis import strategies as st
from retrieval_costs import resolved

from ciphermark_circuits import expansion
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.operations import Ring
from ciphermark_contract.operations.meaning import shifted
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.retrieval.database import NO_BYTE, Generated
from ciphermark_workloads.retrieval.grids import Grid

MUL_PIR = WORKLOADS["mul-pir"]
ANCHOR = Grid(1 << 16, 288, 8192, 16)


# --- The grid --------------------------------------------------------------------------------------------------------


@st.composite
def databases(draw):
    """A grid, elements of random bytes, and the index of one of them."""
    slots, bits = 1 << draw(st.integers(4, 7)), draw(st.sampled_from([4, 6, 8, 16, 18, 20]))
    size, count = draw(st.integers(1, slots * bits // 3)), draw(st.integers(1, 3 * slots))
    rows = Generated(count, size, draw(st.integers(0, 99))).rows(0, count)
    for value in (0, 255):
        rows[draw(st.integers(0, count - 1))] = value
    try:
        return Grid(count, size, slots, bits), rows, draw(st.integers(0, count - 1))
    except Unsupported:
        return Grid(1, size, slots, bits), rows[:1], 0


@given(databases())
def test_every_element_comes_back_byte_for_byte(database):
    grid, rows, index = database
    row, column, _ = grid.place(index)
    assert 0 <= row < grid.shape[0]
    assert 0 <= column < grid.shape[1]
    first, stop = grid.members(row, column)
    assert first <= index < stop
    chunks = [grid.plaintext(rows[first:stop], chunk) for chunk in range(grid.chunks)]
    assert all(((chunk > 0) & (chunk <= 1 << grid.symbol_bits)).all() for chunk in chunks)
    assert grid.element(chunks, index).tolist() == rows[index].tolist()


@given(databases())
def test_every_element_has_one_place(database):
    grid, rows, _ = database
    (height, width), found = grid.shape, []
    for column in range(width):
        for row in range(height):
            found += range(*grid.members(row, column))
    assert found == [*range(len(rows))]


def test_a_slot_that_holds_no_symbol_is_no_byte():
    grid = Grid(3, 5, 16, 16)
    slots = grid.plaintext(Generated(3, 5, 1).rows(0, 3), 0)
    slots[3] = 0
    found = grid.element([slots], 1)
    assert [place for place, byte in enumerate(found) if byte == NO_BYTE] == [0, 1]


@pytest.mark.parametrize(
    ("plaintexts", "shape"),
    [(1, (1, 1)), (2, (2, 1)), (3, (3, 1)), (4, (2, 2)), (12, (6, 2)), (1171, (118, 10))],
)
def test_a_grid_has_as_few_columns_as_a_square_has_rounds_for(plaintexts, shape):
    grid = Grid(plaintexts, 32, 16384, 16)  # of 1024 elements a plaintext
    grid = Grid(plaintexts * grid.per_plaintext, 32, 16384, 16)
    assert grid.plaintexts == plaintexts
    assert grid.shape == shape
    assert expansion.rounds(sum(shape)) == expansion.rounds(int(np.ceil(2 * np.sqrt(plaintexts))))


def test_a_query_of_one_ciphertext_selects_no_more_than_it_expands_to():
    assert sum(Grid(1 << 22, 65536, 8192, 16).shape) == 4096
    with pytest.raises(
        Unsupported, match=r"1025 .* make a grid of .*one ciphertext of N = 128 selects 64 rows"
    ):
        Grid(1025, 256, 128, 16)


# --- The query -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("generator", [3, 5])
def test_monomials_are_what_a_shift_makes_of_1(generator):
    parameters = resolved(MUL_PIR, ring_dimension=64)
    ring = Ring.of(parameters, generator)
    other = type(parameters)(**{**vars_of(parameters), "slot_generator": generator})
    found = expansion.monomials(other, [0, 1, 37, 63])
    ones = np.ones(64, dtype=np.int64)
    for vector, exponent in zip(found, [0, 1, 37, 63], strict=True):
        assert vector.tolist() == shifted(ring, ones, exponent).tolist()


def vars_of(parameters):
    return {name: getattr(parameters, name) for name in parameters.__dataclass_fields__}


# --- Costs -----------------------------------------------------------------------------------------------------------


def test_sizes_are_those_of_the_protocol():
    """2^16 elements of 288 bytes: 56 a plaintext, so 1,171 plaintexts in a grid of 118 × 10."""
    assert (ANCHOR.symbols, ANCHOR.per_plaintext, ANCHOR.plaintexts) == (144, 56, 1171)
    counts = retrieval_costs.of_grid(ANCHOR, 2)
    assert (counts.rotations, counts.plain_products, counts.products) == (127, 1180, 10)
    assert ANCHOR.store_bytes(2) == 1180 * 8192 * 2 * 8
    assert retrieval_costs.grid_sizes(ANCHOR, 2) == (262144, 131072, 7 * retrieval_costs.key_bytes(8192, 2))
    assert retrieval_costs.key_bytes(8192, 2) == 786432


# --- Parameters ------------------------------------------------------------------------------------------------------
