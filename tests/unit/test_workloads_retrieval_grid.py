"""MulPIR: elements come back from a grid of plaintexts, costs are the formulas', what cannot be is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_circuits import expansion
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import Ring
from ciphermark_contract.operations.meaning import shifted
from ciphermark_core import security
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.programs import StageProgram, all_traced
from ciphermark_workloads.retrieval import columns, grids
from ciphermark_workloads.retrieval.database import NO_BYTE, Generated
from ciphermark_workloads.retrieval.grids import Grid

MUL_PIR = WORKLOADS["mul-pir"]
ANCHOR = Grid(1 << 16, 288, 8192, 16)


def resolved(workload: AnyWorkload, scheme="bfv", ring=None) -> Parameters:
    spec = workload.parameters(scheme)
    asked = ParameterSpec(
        scheme, ring or spec.ring_dimension, spec.modulus_bits, spec.plain_modulus, security=0
    )
    return registry.load("cleartext").resolve(asked)


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
    parameters = resolved(MUL_PIR, ring=64)
    ring = Ring.of(parameters, generator)
    other = type(parameters)(**{**vars_of(parameters), "slot_generator": generator})
    found = expansion.monomials(other, [0, 1, 37, 63])
    ones = np.ones(64, dtype=np.int64)
    for vector, exponent in zip(found, [0, 1, 37, 63], strict=True):
        assert vector.tolist() == shifted(ring, ones, exponent).tolist()


def vars_of(parameters):
    return {name: getattr(parameters, name) for name in parameters.__dataclass_fields__}


@given(st.integers(1, 1200), st.data())
def test_the_server_is_told_one_ciphertext_whatever_the_index(elements, data):
    workload = MUL_PIR.with_options({"elements": elements, "element_bytes": 40})
    parameters = resolved(workload, ring=512)
    index = data.draw(st.integers(0, elements - 1))
    (vector,) = workload.vectors("answer", index, parameters)
    assert (vector.shape, vector.dtype) == ((512,), np.int64)
    assert workload.public("answer", index, parameters) == {}
    digests = {
        traced(workload, parameters, "seal", item).program.digest for item in (index, elements - 1 - index)
    }
    assert len(digests) == 1


# --- Costs -----------------------------------------------------------------------------------------------------------


def traced(workload: AnyWorkload, parameters: Parameters, variant: str, index: int = 0) -> StageProgram:
    return all_traced(workload, index, parameters, registry.declaration(variant))["answer"]


@given(st.integers(1, 900), st.integers(1, 900), st.sampled_from(["bfv", "bgv"]))
def test_programs_have_as_many_operations_as_the_formulas_say(elements, size, scheme):
    """Of products with plaintexts, shifts are a part where a library has no call for them. An inner product of k terms
    counts as k products and k − 1 additions.
    """
    workload = MUL_PIR.with_options({"elements": elements, "element_bytes": size})
    small = resolved(workload, scheme, ring=512)
    try:
        expected = grids.counts(Grid.of(elements, size, small))
    except Unsupported:
        return
    common = Counter(
        add=expected.additions, sub=expected.differences, rotate=expected.rotations, mul=expected.products
    )
    whole = expected.plain_products + expected.shifts
    own = {
        ("seal", "bfv"): {
            "mul_plain_prepared": expected.plain_products,
            "mul_monomial": expected.shifts,
            "transform_ciphertext": expected.transforms,
            "transform_back": expected.transforms_back,
        },
        ("seal", "bgv"): {"mul_plain_prepared": whole},
        ("openfhe", scheme): {"mul_plain_prepared": whole},
        ("pyfhel", scheme): {"mul_plain": whole},
    }
    levels = len(small.moduli) - 1
    for (variant, its_scheme), products in own.items():
        if its_scheme != scheme:
            continue
        program = traced(workload, small, variant).program
        switches = {} if program.is_managed else {"relinearize": expected.relinearizations}
        if not program.is_managed and "mod_switch" in registry.declaration(variant).operations[scheme]:
            switches["mod_switch"] = levels * expected.relinearizations
        found = Counter(node.operation for node in program.nodes)
        fused = [len(node.operands) for node in program.nodes if node.operation == "multiply_accumulate"]
        assert found.pop("multiply_accumulate", 0) == len(fused)
        found += Counter(mul_plain_prepared=sum(fused), add=sum(fused) - len(fused))
        assert found == +(common + Counter(products) + Counter(switches)), variant
        assert program.keys | KeyRequest.of(relinearization=True) == workload.keys(small)


def test_sizes_are_those_of_the_protocol():
    """2^16 elements of 288 bytes: 56 a plaintext, so 1,171 plaintexts in a grid of 118 × 10."""
    assert (ANCHOR.symbols, ANCHOR.per_plaintext, ANCHOR.plaintexts) == (144, 56, 1171)
    counts = grids.counts(ANCHOR)
    assert (counts.rotations, counts.plain_products, counts.products) == (127, 1180, 10)
    assert grids.store_bytes(ANCHOR, 2) == 1180 * 8192 * 2 * 8
    assert grids.query_bytes(ANCHOR, 2) == 262144
    assert grids.answer_bytes(ANCHOR) == 131072
    assert grids.key_bytes(ANCHOR, 2) == 8 * 786432


# --- Parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("database", [(4096, 64), (1 << 16, 288), (1 << 20, 256), (1 << 22, 65536)])
def test_parameters_are_secure_by_both_tables_and_have_room(database):
    workload = MUL_PIR.with_options(dict(zip(("elements", "element_bytes"), database, strict=True)))
    for spec, deviation in (
        (workload.parameters("bfv"), columns.switched_deviation),
        (workload.roomy_parameters("bfv"), columns.public_deviation),
    ):
        n, bits = spec.ring_dimension, spec.modulus_bits
        assert all(security.level(table, n, sum(bits)) >= 128 for table in ("2018", "2024"))
        grid = Grid(*database, n, 16)
        ratio = grids.noise_ratio(grid, len(bits) - 1, bits[0], 65537, deviation(n))
        assert ratio > 2**9


def test_it_is_for_exact_schemes():
    with pytest.raises(Unsupported, match="mul-pir is made for bfv, bgv, not ckks"):
        MUL_PIR.parameters("ckks")
    with pytest.raises(Unsupported, match="mul-pir is made for bfv, bgv, not ckks"):
        MUL_PIR.roomy_parameters("ckks")


@pytest.mark.parametrize("index", [-1, 4096, 1 << 40])
def test_an_index_that_there_is_not_is_refused(index):
    with pytest.raises(UserError, match=f"there is no element {index}: the database has 4096"):
        MUL_PIR.vectors("answer", index, resolved(MUL_PIR))
