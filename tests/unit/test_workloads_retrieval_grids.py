"""MulPIR and SealPIR: elements come back from a grid of plaintexts, words of ciphertexts are cut and joined."""

from __future__ import annotations

import numpy as np
import pytest
import retrieval_costs
from hypothesis import given
from hypothesis import strategies as st
from retrieval_costs import resolved

from ciphermark_adapters import registry
from ciphermark_circuits import expansion
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.operations import Ring, words
from ciphermark_contract.operations.meaning import shifted
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.retrieval.database import NO_BYTE, Generated
from ciphermark_workloads.retrieval.grids import Grid, SquareGrid

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


SEAL_PIR = WORKLOADS["seal-pir"]


# --- Words -----------------------------------------------------------------------------------------------------------


@given(st.data())
def test_what_is_cut_is_joined_again(data):
    level, polynomials = data.draw(st.integers(0, 1)), data.draw(st.integers(1, 3))
    parameters = resolved(SEAL_PIR, ring_dimension=64)
    primes = words.primes_at(parameters, level)
    seed = data.draw(st.integers(0, 999))
    drawn = np.random.default_rng(seed).integers(
        0, np.array(primes)[:, np.newaxis], (polynomials, len(primes), 64)
    )
    parts = words.cut(parameters, level, drawn.astype(np.uint64))
    assert len(parts) == words.count(parameters, level, polynomials)
    assert all(0 <= part.min() <= part.max() < 1 << 20 for part in parts)
    assert words.joined(parameters, level, parts).tolist() == drawn.tolist()


def test_words_are_numbered_by_polynomial_then_prime_then_digit_lowest_first():
    parameters = resolved(SEAL_PIR, ring_dimension=64)
    residues = np.zeros((2, 2, 64), dtype=np.uint64)
    residues[1, 0, 5] = (3 << 20) + 7
    parts = words.cut(parameters, 1, residues)
    assert [(number, int(part[5])) for number, part in enumerate(parts) if part.any()] == [(4, 7), (5, 3)]


# --- The square grid ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plaintexts", "shape"),
    [
        (1, (1, 1)),
        (2, (2, 1)),
        (3, (2, 2)),
        (5, (3, 2)),
        (7, (3, 3)),
        (12, (4, 3)),
        (1873, (44, 43)),
        (7490, (87, 87)),
    ],
)
def test_a_grid_is_nearly_square(plaintexts, shape):
    grid = SquareGrid(plaintexts, 10240, 4096, 20)
    assert grid.plaintexts == plaintexts
    assert grid.shape == grid.selections == shape


@given(st.integers(1, 3000), st.integers(1, 400))
def test_every_element_has_one_place_that_the_query_selects(elements, size):
    grid = SquareGrid(elements, size, 512, 20)
    (height, width), found = grid.shape, []
    for column in range(width):
        for row in range(height):
            first, stop = grid.members(row, column)
            found += range(first, stop)
            if first < stop:
                assert grid.selected(first) == grid.selected(stop - 1) == [[row], [column]]
    assert found == [*range(elements)]


def test_a_query_selects_no_more_rows_than_a_ciphertext_expands_to():
    assert SquareGrid(1 << 22, 10240, 4096, 20).shape == (2048, 2048)
    with pytest.raises(
        Unsupported, match=r"make a grid of 65 × 64 plaintexts.* N = 128 selects 64 rows or columns$"
    ):
        SquareGrid(64 * 65, 320, 128, 20)


# --- Costs of words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("elements", "plaintexts", "shape", "rotations", "products"),
    [
        (1 << 16, 1873, (44, 43), 85, (1892, 172)),
        (1 << 18, 7490, (87, 87), 172, (7569, 348)),
        (1 << 20, 29960, (174, 173), 345, (30102, 692)),
    ],
)
def test_counts_of_words_are_those_of_the_protocol(elements, plaintexts, shape, rotations, products):
    """Of 288 bytes, 35 elements a plaintext."""
    grid = SquareGrid(elements, 288, 4096, 20)
    assert (grid.symbols, grid.per_plaintext, grid.plaintexts, grid.shape) == (116, 35, plaintexts, shape)
    counts = retrieval_costs.of_words(grid, 2, 35)
    assert (counts.rotations, counts.plain_products, counts.word_products) == (rotations, *products)


def test_sizes_of_words_are_those_of_the_protocol():
    """2^16 elements of 288 bytes: two ciphertexts up, four of one prime down, keys of six rotations."""
    grid = SquareGrid(1 << 16, 288, 4096, 20)
    assert retrieval_costs.word_count(grid, 35) == 4
    assert grid.store_bytes(2) == 1892 * 4096 * 2 * 8
    assert retrieval_costs.grid_sizes(grid, 2) == (262144, 262144 // 4, 6 * 393216)


# --- The query, and parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["pyfhel", "openfhe", "tenseal"])
def test_libraries_without_words_say_what_they_lack(variant):
    declared = registry.declaration(variant)
    assert not declared.has("mul_word", "bfv")
    assert "ciphertext" in declared.reason_against("mul_word", "bfv")
