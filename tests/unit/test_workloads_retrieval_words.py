"""SealPIR: a nearly square grid, words of ciphertexts, costs that are the formulas', and room for noise."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.operations import words
from ciphermark_core import security
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.programs import all_traced
from ciphermark_workloads.retrieval import columns, grids, seal_pir
from ciphermark_workloads.retrieval.grids import SquareGrid

SEAL_PIR = WORKLOADS["seal-pir"]


def resolved(workload: AnyWorkload, ring: int | None = None) -> Parameters:
    spec = workload.parameters("bfv")
    asked = ParameterSpec(
        "bfv", ring or spec.ring_dimension, spec.modulus_bits, spec.plain_modulus, security=0
    )
    return registry.load("cleartext").resolve(asked)


# --- Words -----------------------------------------------------------------------------------------------------------


@given(st.data())
def test_what_is_cut_is_joined_again(data):
    level, polynomials = data.draw(st.integers(0, 1)), data.draw(st.integers(1, 3))
    parameters = resolved(SEAL_PIR, 64)
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
    parameters = resolved(SEAL_PIR, 64)
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


@given(st.integers(1, 900), st.integers(1, 2600))
def test_programs_have_as_many_operations_as_the_formulas_say(elements, size):
    """An inner product of k terms counts as k products and k − 1 additions."""
    workload = SEAL_PIR.with_options({"elements": elements, "element_bytes": size})
    small = resolved(workload, ring=512)
    grid = SquareGrid.of(elements, size, small)
    expected = seal_pir.counts(grid, 2, 35)
    program = all_traced(workload, 0, small, registry.declaration("seal"))["answer"].program
    found = Counter(node.operation for node in program.nodes)
    fused = [len(node.operands) for node in program.nodes if node.operation == "multiply_accumulate"]
    assert found.pop("multiply_accumulate", 0) == len(fused)
    found += Counter(mul_plain_prepared=sum(fused), add=sum(fused) - len(fused))
    assert found == +Counter(
        add=expected.additions,
        sub=expected.differences,
        rotate=expected.rotations,
        mul_monomial=expected.shifts,
        mul_plain_prepared=expected.plain_products,
        mul_word=expected.word_products,
        transform_ciphertext=expected.transforms,
        transform_back=expected.transforms_back,
        mod_switch=expected.switches,
    )
    assert program.keys == workload.keys(small)
    assert len(program.outputs) == grid.chunks * seal_pir.word_count(grid, 35)
    assert {program.shapes[output].level for output in program.outputs} == {0}


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
    counts = seal_pir.counts(grid, 2, 35)
    assert (counts.rotations, counts.plain_products, counts.word_products) == (rotations, *products)


def test_sizes_are_those_of_the_protocol():
    """2^16 elements of 288 bytes: two ciphertexts up, four of one prime down, keys of six rotations."""
    grid = SquareGrid(1 << 16, 288, 4096, 20)
    assert seal_pir.word_count(grid, 35) == 4
    assert grids.store_bytes(grid, 2) == 1892 * 4096 * 2 * 8
    assert grids.query_bytes(grid, 2) == 262144
    assert seal_pir.answer_bytes(grid, 35) == 262144
    assert grids.rotation_key_bytes(grid, 2) == 6 * 393216


# --- The query, and parameters ---------------------------------------------------------------------------------------


@given(st.integers(1, 1200), st.data())
def test_the_server_is_told_two_ciphertexts_whatever_the_index(elements, data):
    workload = SEAL_PIR.with_options({"elements": elements, "element_bytes": 40})
    parameters = resolved(workload, ring=512)
    index = data.draw(st.integers(0, elements - 1))
    vectors = workload.vectors("answer", index, parameters)
    assert [(vector.shape, vector.dtype) for vector in vectors] == [((512,), np.int64)] * 2
    assert workload.public("answer", index, parameters) == {}
    declared = registry.declaration("seal")
    digests = {
        all_traced(workload, item, parameters, declared)["answer"].program.digest
        for item in (index, elements - 1 - index)
    }
    assert len(digests) == 1


@pytest.mark.parametrize("database", [(4096, 64), (1 << 16, 288), (1 << 20, 256), (1 << 22, 10240)])
def test_parameters_are_secure_by_both_tables_and_have_room(database):
    spec = SEAL_PIR.with_options(dict(zip(("elements", "element_bytes"), database, strict=True))).parameters(
        "bfv"
    )
    bits = spec.modulus_bits
    assert all(security.level(table, spec.ring_dimension, sum(bits)) >= 128 for table in ("2018", "2024"))
    grid = SquareGrid(*database, spec.ring_dimension, 20)
    for deviation in (columns.secret_deviation, columns.switched_deviation):
        ratio = seal_pir.noise_ratio(grid, (35, 35), spec.plain_modulus, deviation(spec.ring_dimension))
        assert ratio > 2**7


@pytest.mark.parametrize("scheme", ["bgv", "ckks"])
def test_it_is_for_ciphertexts_in_coefficient_form(scheme):
    with pytest.raises(Unsupported, match=f"seal-pir is made for bfv, not {scheme}"):
        SEAL_PIR.parameters(scheme)


@pytest.mark.parametrize("index", [-1, 4096, 1 << 40])
def test_an_index_that_there_is_not_is_refused(index):
    with pytest.raises(UserError, match=f"there is no element {index}: the database has 4096"):
        SEAL_PIR.vectors("answer", index, resolved(SEAL_PIR))


@pytest.mark.parametrize("variant", ["pyfhel", "openfhe", "tenseal"])
def test_libraries_without_words_say_what_they_lack(variant):
    declared = registry.declaration(variant)
    assert not declared.has("mul_word", "bfv")
    assert "ciphertext" in declared.reason_against("mul_word", "bfv")
