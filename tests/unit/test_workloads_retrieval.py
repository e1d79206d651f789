"""The family ``retrieval``: elements come back from slots, costs are the formulas', what cannot be is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import retrieval_costs
from hypothesis import given
from hypothesis import strategies as st
from retrieval_costs import operations, resolved

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import plan
from ciphermark_benchmark.suite.form import Suite
from ciphermark_circuits import selection
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import security
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.parameters import Override, recommended
from ciphermark_workloads.programs import StageProgram, all_traced
from ciphermark_workloads.retrieval import columns
from ciphermark_workloads.retrieval.columns import Layout, max_bytes, symbol_bits
from ciphermark_workloads.retrieval.database import NO_BYTE, Generated
from ciphermark_workloads.workload import Truth

FAST_PIR = WORKLOADS["fast-pir"]
MODULI = (17, 97, 257, 65537, 270337, 1073153)  # symbols of 4, 6, 8, 16, 18 and 20 bits


# --- Slots -----------------------------------------------------------------------------------------------------------


@st.composite
def databases(draw):
    """A layout, elements of random bytes, and the index of one of them."""
    row, modulus = 1 << draw(st.integers(3, 6)), draw(st.sampled_from(MODULI))
    bits = symbol_bits(modulus)
    size, count = draw(st.integers(1, max_bytes(row, bits))), draw(st.integers(1, 3 * row + 1))
    rows = Generated(count, size, draw(st.integers(0, 99))).rows(0, count)
    for value in (0, 255):
        rows[draw(st.integers(0, count - 1))] = value
    return Layout(count, size, row, bits), modulus, rows, draw(st.integers(0, count - 1))


def answered(layout, modulus, rows, index):
    """What the server would compute, in the clear: Σ_b Q_b·P[j][b], column j turned j steps to the right."""
    blocks = [
        columns.block_vectors(rows[slice(*layout.members(block))], layout) for block in range(layout.blocks)
    ]
    assert all(((block >= 0) & (block < modulus)).all() and block.any(axis=1).all() for block in blocks)
    query = columns.query_vectors([index], layout)
    sums = sum(vector * block for vector, block in zip(query, blocks, strict=True)) % modulus
    turned = [np.roll(column.reshape(2, -1), j, axis=1) for j, column in enumerate(sums)]
    return sum(turned).reshape(-1) % modulus


@given(databases())
def test_every_element_comes_back_byte_for_byte(database):
    layout, modulus, rows, index = database
    found = columns.element(answered(layout, modulus, rows, index), index, layout)
    assert found.tolist() == rows[index].tolist()


@given(databases())
def test_a_query_is_zeros_but_for_two_slots_of_one_block(database):
    layout, _, rows, index = database
    vectors = columns.query_vectors([index], layout)
    assert [vector.size for vector in vectors] == [2 * layout.row] * -(-len(rows) // layout.row)
    assert [vector.sum() for vector in vectors] == [
        2 * (index // layout.row == b) for b in range(len(vectors))
    ]


@given(databases(), st.data())
def test_a_slot_that_holds_no_symbol_is_no_byte(parts, data):
    layout, modulus, rows, index = parts
    slots = answered(layout, modulus, rows, index)
    column = data.draw(st.integers(0, layout.columns - 1))
    too_large = data.draw(st.integers(1 << layout.symbol_bits, modulus - 1))
    slots[(index + column) % layout.row] = (too_large + 1) % modulus  # as symbols are kept
    found = columns.element(slots, index, layout)
    first, last = (column * layout.symbol_bits // 8, ((column + 1) * layout.symbol_bits - 1) // 8)
    lost = range(first, min(last + 1, layout.half_bytes, layout.element_bytes))
    assert [place for place, byte in enumerate(found) if byte == NO_BYTE] == [*lost]
    assert all(byte == rows[index][place] for place, byte in enumerate(found) if place not in lost)


def test_a_block_of_many_elements_has_each_in_its_slots():
    """More than are laid out at a time, and the last of them are fewer."""
    layout = Layout(700, 11, 1024, 20)
    rows = Generated(700, 11, 3).rows(0, 700)
    block = columns.block_vectors(rows, layout).reshape(layout.columns, 2, 1024)
    for place, row in enumerate(rows):
        alone = columns.block_vectors(row[np.newaxis], layout).reshape(layout.columns, 2, 1024)
        assert np.array_equal(block[:, :, place], alone[:, :, 0])
    assert not block[:, :, 700:].any()


def test_a_database_is_the_same_whichever_part_is_asked_for():
    whole = Generated(3000, 5, 7).rows(0, 3000)
    assert whole.shape == (3000, 5)
    assert np.array_equal(Generated(3000, 5, 7).rows(1000, 2100), whole[1000:2100])
    assert np.array_equal(Generated(3000, 5, 7).rows(2999, 3000), whole[2999:])
    parts = [Generated(3000, 5, 7).rows(start, min(start + 35, 3000)) for start in range(0, 3000, 35)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(Generated(3000, 6, 7).rows(0, 9), Generated(9, 6, 7).rows(0, 9))
    assert not np.array_equal(Generated(3000, 5, 8).rows(0, 3000), whole)
    assert set(np.unique(Generated(4096, 256, 1).rows(0, 4096))) == set(range(256))


def test_elements_fit_as_long_as_they_have_no_more_columns_than_slots():
    assert max_bytes(2048, 20) == 10240
    assert Layout(1, 10240, 2048, 20).columns == 2048
    with pytest.raises(
        Unsupported, match="at N = 4096 with 20 bits per slot, elements have at most 10240 bytes"
    ):
        Layout(1, 10241, 2048, 20)


# --- Costs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("database", "bits", "counts", "megabytes"),
    [
        ((1 << 14, 256), 20, (8, 52), (13.6, 0.52)),
        ((1 << 16, 256), 20, (32, 52), (54.5, 2.1)),
        ((1 << 16, 1024), 20, (32, 205), (215, 2.1)),
        ((1 << 20, 256), 20, (512, 52), (872, 33.6)),
        ((1 << 14, 256), 16, (8, 64), (16.8, 0.52)),
        ((1 << 16, 256), 16, (32, 64), (67.1, 2.1)),
        ((1 << 16, 1024), 16, (32, 256), (268, 2.1)),
        ((1 << 20, 256), 16, (512, 64), (1074, 33.6)),
    ],
)
def test_sizes_are_those_of_the_protocol(database, bits, counts, megabytes):
    """Of store and query, at N = 4096 with one prime for data. Results have three digits, or two."""
    layout, width = Layout(*database, 2048, bits), counts[1]
    assert (layout.blocks, layout.columns) == counts
    assert layout.store_bytes(1) / 1e6 == pytest.approx(megabytes[0], rel=5e-3)
    query, answer, keys = retrieval_costs.column_sizes(layout, 1)
    assert query / 1e6 == pytest.approx(megabytes[1], rel=2e-2)
    assert (answer, keys) == (65536, (width - 1).bit_length() * 128 * 1024)


@pytest.mark.parametrize(
    ("chain", "modulus", "ratios"),
    [
        ((60, 49), 1073153, (208, 44, 52, 11)),
        ((54, 55), 270337, (49, 10, 12, 2.6)),
        ((50, 56), 65537, (49, 10, 12, 2.6)),
    ],
)
def test_noise_is_as_far_from_wrong_answers_as_was_published(chain, modulus, ratios):
    """2^16 and 2^20 elements of 256 bytes at N = 4096, each encrypted with the secret and with the public key."""
    deviations = (columns.SIGMA, columns.switched_deviation(4096))
    found = [
        columns.noise_ratio(Layout(n, 256, 2048, symbol_bits(modulus)), chain[0], modulus, deviation)
        for n in (1 << 16, 1 << 20)
        for deviation in deviations
    ]
    assert found == pytest.approx(ratios, rel=0.06)


def traced(workload: AnyWorkload, parameters: Parameters, variant: str, index: int = 0) -> StageProgram:
    return all_traced(workload, index, parameters, registry.declaration(variant))["answer"]


def test_a_column_is_one_operation_where_there_is_one():
    """Of SEAL; a single block needs no sum."""
    small = resolved(FAST_PIR, ring_dimension=512)
    for elements, fused, single in ((512, 5, 0), (256, 0, 5)):
        workload = FAST_PIR.with_options({"elements": elements, "element_bytes": 20})
        found = Counter(node.operation for node in traced(workload, small, "seal").program.nodes)
        assert (found["multiply_accumulate"], found["mul_plain_ntt"]) == (fused, single)


def test_equal_plaintexts_are_multiplied_all_the_same():
    """Nothing is spared, whatever the database holds: its contents do not show in the time."""
    blocks, columns = 2, 5
    small = resolved(FAST_PIR, ring_dimension=512)
    store = [[np.ones(512, dtype=np.int64)] * blocks] * columns

    class Alike(type(FAST_PIR)):
        def layers(self, stage, evaluator, inputs, state, public):
            return {"answer": [selection.answer(evaluator, inputs, store)]}

    workload = Alike().with_options({"elements": 512, "element_bytes": 20})
    assert operations(traced(workload, small, "seal").program)["mul_plain_ntt"] == blocks * columns


@pytest.mark.parametrize(
    ("columns", "steps"),
    [
        (1, ()),
        (2, (-1,)),
        (3, (-2, -1)),
        (52, (-32, -16, -8, -4, -2, -1)),
        (65, (-64, -32, -16, -8, -4, -2, -1)),
    ],
)
def test_rotations_are_by_powers_of_two_to_the_right(columns, steps):
    assert selection.steps(columns) == steps


def test_few_ciphertexts_are_alive_at_once():
    """Those of the query, in both forms, and a sum for each halving of the columns."""
    parameters = resolved(FAST_PIR)
    program = traced(FAST_PIR, parameters, "seal").program
    assert program.live_ciphertexts <= 2 * 2 + 6 + 3


# --- Parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("database", "ring", "chain", "roomy_ring"),
    [
        ((4096, 64), 4096, (50, 56), 8192),
        ((1 << 16, 256), 4096, (50, 56), 8192),
        ((1 << 20, 256), 8192, (60, 60), 8192),
        ((1, 8192), 4096, (50, 56), 8192),
        ((1, 8193), 8192, (60, 60), 8192),
        ((1, 65536), 32768, (60, 60), 32768),
        ((1 << 20, 65536), 32768, (60, 60), 32768),
    ],
)
def test_parameters_are_secure_by_both_tables_and_have_room(database, ring, chain, roomy_ring):
    elements, size = database
    workload = FAST_PIR.with_options({"elements": elements, "element_bytes": size})
    spec, roomy = workload.parameters("bfv"), workload.roomy_parameters("bfv")
    assert (spec.ring_dimension, spec.modulus_bits, roomy.ring_dimension) == (ring, chain, roomy_ring)
    bgv = workload.parameters("bgv")
    for found, deviation in (
        (spec, columns.switched_deviation),
        (bgv, columns.uncentred_deviation),
        (roomy, columns.public_deviation),
    ):
        n, bits = found.ring_dimension, found.modulus_bits
        assert all(security.level(table, n, sum(bits)) >= 128 for table in ("2018", "2024"))
        layout = Layout(elements, size, n // 2, symbol_bits(65537))
        assert columns.noise_ratio(layout, sum(bits[:-1]), 65537, deviation(n)) >= 8


def test_bgv_goes_to_the_next_ring_earlier():
    """2^14 × 256 bytes: 21 deviations of bfv are 5 where SEAL's bgv has four times the noise."""
    workload = FAST_PIR.with_options({"elements": 1 << 14})
    assert [workload.parameters(scheme).ring_dimension for scheme in ("bfv", "bgv")] == [4096, 8192]
    assert FAST_PIR.parameters("bgv").ring_dimension == 4096


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_seeded_queries_have_room_in_the_small_ring(scheme):
    """SEAL writes them, and has less noise than with the public key; OpenFHE and Pyfhel do not."""
    workload = FAST_PIR.with_options({"elements": 1 << 20})
    found = {
        name: recommended(workload, scheme, registry.declaration(name))
        for name in ("seal", "pyfhel", "openfhe")
    }
    assert {name: spec.ring_dimension for name, spec in found.items()} == {
        "seal": 4096,
        "pyfhel": 8192,
        "openfhe": 8192,
    }
    assert found["seal"].modulus_bits == (50, 56)
    layout = Layout(1 << 20, 256, 2048, 16)
    assert columns.noise_ratio(layout, 50, 65537, columns.secret_deviation(4096)) >= 8


def test_a_library_that_chooses_primes_and_levels_gets_its_default_chain() -> None:
    """HElib in bgv goes by bounds on the noise, which leave nothing of shorter chains. Chosen primes stay."""
    helib, seal = registry.declaration("helib"), registry.declaration("seal")
    assert recommended(FAST_PIR, "bgv", helib).modulus_bits is None
    assert recommended(FAST_PIR, "bgv", seal).modulus_bits is not None
    own = Override(modulus_bits=(54, 54, 60))
    assert recommended(FAST_PIR, "bgv", helib, own).modulus_bits == own.modulus_bits
    assert recommended(FAST_PIR, "bgv", helib, Override(security=0)).modulus_bits is not None


# --- What cannot be --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        {"elements": 0},
        {"element_bytes": 0},
        {"element_bytes": 65537},
        {"elements": (1 << 22) + 1},
        {"elements": "many"},
        {"database_seed": -1},
    ],
)
def test_a_database_that_cannot_be_is_refused(values):
    with pytest.raises(UserError, match=next(iter(values))):
        FAST_PIR.with_options(values)


def planned(**changes):
    experiment = {"kind": "retrieval", "variants": ["seal"], "workloads": ["fast-pir"], "schemes": ["bfv"]}
    budget = changes.pop("budget", {})
    suite = Suite(name="test", budget=budget, experiments=[experiment | changes])
    every = {name: Availability(registry.declaration(name)) for name in suite.experiments[0].variants}
    return plan.cases(suite, every)


def reasons(**changes):
    return [item.reason for item in planned(**changes)]


def test_a_plan_refuses_what_a_party_has_no_memory_for():
    """4,194,304 elements of 64 KiB are 256 GiB. A word of plaintext for every two bytes of them is 1 TiB, each as
    vectors, as plaintexts and in NTT form: nothing of it can have been made.
    """
    (found,) = planned(options={"elements": [1 << 22], "element_bytes": [1 << 16]})
    assert found.status == "out_of_memory"
    assert found.reason == (
        f"the server needs about {(256 << 10) + 3 * (1 << 20):,} MB in addition to keys and ciphertexts; the budget "
        "allows 8,192 MB per party (memory_mb)"
    )
    assert reasons(options={"elements": [4096]}, budget={"memory_mb": 128}) == [None]
    (small,) = reasons(options={"elements": [1 << 16]}, budget={"memory_mb": 128})
    assert "128 MB" in small


def test_a_plan_refuses_elements_that_are_too_long_for_the_ring():
    options = {"elements": [1], "element_bytes": [8192, 8194]}
    fits, too_long = reasons(options=options, ring_dimension=[4096], modulus_bits=[50, 56])
    assert fits is None
    assert "elements have at most 8192 bytes" in too_long


def test_a_plan_tells_what_a_library_lacks():
    none, lacking = reasons(variants=["seal", "tenseal"])
    assert none is None
    assert lacking.startswith("fast-pir needs rotate: ")


# --- What is told to whom --------------------------------------------------------------------------------------------


def test_indices_are_made_of_the_seed():
    found = [FAST_PIR.input(seed, None) for seed in range(200)]
    assert found == [FAST_PIR.input(seed, None) for seed in range(200)]
    assert min(found) >= 0
    assert max(found) < 4096
    assert len(set(found)) > 150


def test_one_wrong_byte_is_noticed():
    parameters = resolved(FAST_PIR)
    right = FAST_PIR.reference(77)
    truth = Truth(77, right, FAST_PIR.expected(77, parameters), parameters)
    assert FAST_PIR.judge(right, truth).complaint is None
    wrong = right.copy()
    wrong[3] ^= 1
    assert FAST_PIR.judge(wrong, truth).complaint.startswith("1 of 256 values are incorrect: ")
