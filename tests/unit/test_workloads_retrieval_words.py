"""SealPIR: a nearly square grid, words of ciphertexts, costs that are the formulas', and room for noise."""

from __future__ import annotations

import numpy as np
import pytest
import retrieval_costs
from hypothesis import given
from hypothesis import strategies as st
from retrieval_costs import resolved

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.operations import words
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.retrieval.grids import SquareGrid

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


# --- The grid --------------------------------------------------------------------------------------------------------


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


# --- Costs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("elements", "plaintexts", "shape", "rotations", "products"),
    [
        (1 << 16, 1873, (44, 43), 85, (1892, 172)),
        (1 << 18, 7490, (87, 87), 172, (7569, 348)),
        (1 << 20, 29960, (174, 173), 345, (30102, 692)),
    ],
)
def test_counts_are_those_of_the_protocol(elements, plaintexts, shape, rotations, products):
    """Of 288 bytes, 35 elements a plaintext."""
    grid = SquareGrid(elements, 288, 4096, 20)
    assert (grid.symbols, grid.per_plaintext, grid.plaintexts, grid.shape) == (116, 35, plaintexts, shape)
    counts = retrieval_costs.of_words(grid, 2, 35)
    assert (counts.rotations, counts.plain_products, counts.word_products) == (rotations, *products)


def test_sizes_are_those_of_the_protocol():
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
