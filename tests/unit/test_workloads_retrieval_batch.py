"""Batches by a probabilistic batch code: every element has three buckets, costs are the formulas'."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_circuits import selection
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.keys import KeyRequest
from ciphermark_core import security
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.programs import StageProgram, all_traced
from ciphermark_workloads.retrieval import batch_pir, columns
from ciphermark_workloads.retrieval.columns import Layout

BATCH_PIR = WORKLOADS["batch-pir"]


def resolved(workload: AnyWorkload, scheme="bfv", ring=None) -> Parameters:
    spec = workload.parameters(scheme)
    asked = ParameterSpec(
        scheme, ring or spec.ring_dimension, spec.modulus_bits, spec.plain_modulus, security=0
    )
    return registry.load("cleartext").resolve(asked)


def layout_of(workload: AnyWorkload, row: int) -> Layout:
    """What the description says: as many buckets side by side as a row has room for, the blocks of the fullest."""
    options = workload.options
    code = batch_pir.batch_code(options.elements, options.wanted)
    columns = Layout(1, options.element_bytes, row, 16).columns
    stride = 1
    while 2 * stride * columns <= row and stride < code.count:
        stride *= 2
    return Layout(code.largest * stride, options.element_bytes, row, 16, stride)


# --- Buckets ---------------------------------------------------------------------------------------------------------


@given(st.integers(1, 3000), st.integers(1, 70))
def test_every_element_has_a_place_in_three_buckets(elements, wanted):
    code = batch_pir.batch_code(elements, wanted)
    assert code.count == 3 * -(-wanted // 2)
    thirds = code.buckets // (code.count // 3)
    assert (thirds == [0, 1, 2]).all()
    whole = code.element_at(0, code.count, 0, code.largest)
    assert whole.shape == (code.largest, code.count)
    assert Counter(whole[whole >= 0].tolist()) == dict.fromkeys(range(elements), 3)
    assert (whole[-1] >= 0).any()
    for number in range(3):
        assert (whole[code.positions[:, number], code.buckets[:, number]] == np.arange(elements)).all()


def test_buckets_are_filled_alike():
    """2^16 elements: a bucket has 2,048 on average, of a random hash with a deviation of 45; ours never changes."""
    assert batch_pir.batch_code(1 << 16, 64).largest < 2048 + 7 * 46


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_choice_is_found_wherever_there_is_one(choices):
    found = batch_pir.matched(choices)
    if found is None:  # by Hall's theorem, some of them have fewer buckets together than they are
        assert any(
            len({bucket for item in some for bucket in item}) < len(some)
            for size in range(1, len(choices) + 1)
            for some in combinations(choices, size)
        )
        return
    assert len(set(found)) == len(choices)
    assert all(bucket in choice for bucket, choice in zip(found, choices, strict=True))


# --- Costs -----------------------------------------------------------------------------------------------------------


def traced(workload: AnyWorkload, parameters: Parameters, variant: str, seed: int = 0) -> StageProgram:
    given_indices = workload.input(seed, None)
    return all_traced(workload, given_indices, parameters, registry.declaration(variant))["answer"]


# Of these, the batch that seed 0 makes finds its buckets; in a hundred thousand of 16 there are a few that do not.
DATABASES = [(16, 16), (100, 17), (400, 40), (900, 24), (900, 40)]


@given(st.sampled_from(DATABASES), st.integers(1, 300), st.sampled_from(["bfv", "bgv"]))
def test_programs_have_as_many_operations_as_the_formulas_say(database, size, scheme):
    """For each group of buckets those of FastPIR. An inner product of k terms counts as k products and k − 1
    additions.
    """
    elements, wanted = database
    workload = BATCH_PIR.with_options({"elements": elements, "element_bytes": size, "wanted": wanted})
    small = resolved(workload, scheme, ring=512)
    layout = layout_of(workload, 256)
    groups = -(-batch_pir.bucket_count(workload.options.wanted) // layout.stride)
    one = columns.counts(layout)
    transforms = {"transform_ciphertext": one.transforms, "transform_back": one.transforms_back}
    by_library = {
        "seal": {"mul_plain_prepared": one.products} | (transforms if scheme == "bfv" else {}),
        "openfhe": {"mul_plain_prepared": one.products},
        "pyfhel": {"mul_plain": one.products},
    }
    for variant, own in by_library.items():
        program = traced(workload, small, variant).program
        found = Counter(node.operation for node in program.nodes)
        fused = [len(node.operands) for node in program.nodes if node.operation == "multiply_accumulate"]
        assert found.pop("multiply_accumulate", 0) == len(fused)
        found += Counter(mul_plain_prepared=sum(fused), add=sum(fused) - len(fused))
        expected = Counter({"add": one.additions, "rotate": one.rotations} | own)
        assert found == +Counter({name: groups * count for name, count in expected.items()}), variant
        assert program.keys == workload.keys(small)
        assert len(program.inputs) == groups * layout.blocks
        assert len(program.outputs) == groups


def test_a_batch_of_64_takes_a_twentieth_of_as_many_single_queries():
    """2^16 × 256 bytes at N = 4096: three groups of 32 buckets, with 64 columns each."""
    workload = BATCH_PIR.with_options({"elements": 1 << 16, "element_bytes": 256})
    layout = layout_of(workload, 2048)
    assert (layout.stride, layout.columns, layout.blocks) == (32, 64, 34)
    batch, single = columns.counts(layout), columns.counts(Layout(1 << 16, 256, 2048, 16))
    assert 3 * batch.products * 19 < 64 * single.products
    assert 3 * batch.rotations * 21 < 64 * single.rotations
    assert workload.keys(resolved(workload)) == KeyRequest.of(rotations=selection.steps(64, 32))


# --- Parameters, and what cannot be ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [16, 64, 1024])
@pytest.mark.parametrize("database", [(4096, 64), (1 << 16, 256)])
def test_parameters_are_secure_by_both_tables_and_have_room(database, wanted):
    elements, size = database
    workload = BATCH_PIR.with_options({"elements": elements, "element_bytes": size, "wanted": wanted})
    for found, deviation in (
        (workload.parameters("bfv"), columns.switched_deviation),
        (workload.parameters("bgv"), columns.uncentred_deviation),
        (workload.seeded_parameters("bfv"), columns.secret_deviation),
        (workload.roomy_parameters("bfv"), columns.public_deviation),
    ):
        n, bits = found.ring_dimension, found.modulus_bits
        assert all(security.level(table, n, sum(bits)) >= 128 for table in ("2018", "2024"))
        layout = layout_of(workload, n // 2)
        assert columns.noise_ratio(layout, sum(bits[:-1]), 65537, deviation(n)) >= 8


def test_more_than_there_are_cannot_be_wanted():
    with pytest.raises(Unsupported, match="64 elements are wanted, and the database has 63"):
        BATCH_PIR.with_options({"elements": 63}).parameters("bfv")
    with pytest.raises(UserError, match="wanted"):
        BATCH_PIR.with_options({"wanted": 15})
    with pytest.raises(Unsupported, match="batch-pir is made for bfv, bgv, not ckks"):
        BATCH_PIR.parameters("ckks")


def test_indices_that_cannot_be_asked_for_are_refused():
    """An index that there is not, one that is told twice too often, and four with the same three buckets."""
    workload = BATCH_PIR.with_options({"wanted": 16})
    parameters = resolved(workload)
    with pytest.raises(UserError, match="there is no element 4096: the database has 4096"):
        workload.vectors("answer", [*range(15), 4096], parameters)
    with pytest.raises(Unsupported, match="16 indices do not find a bucket each among 24"):
        workload.vectors("answer", [7] * 16, parameters)
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, choice in enumerate(batch_pir.batch_code(4096, 16).buckets.tolist()):
        groups.setdefault(tuple(choice), []).append(index)
    alike = next(indices for indices in groups.values() if len(indices) >= 4)[:4]
    others = [index for index in range(4096) if index not in alike][:12]
    with pytest.raises(Unsupported, match="do not find a bucket each"):
        workload.vectors("answer", alike + others, parameters)
    with pytest.raises(Unsupported, match="do not find a bucket each"):  # before anything is packed
        workload.require_room(alike + others, parameters)


def test_the_server_is_told_nothing_of_the_indices():
    parameters = resolved(BATCH_PIR)
    given_indices = [BATCH_PIR.input(seed, None) for seed in (0, 1)]
    assert given_indices[0] != given_indices[1]
    assert [BATCH_PIR.public("answer", each, parameters) for each in given_indices] == [{}, {}]
    vectors = [BATCH_PIR.vectors("answer", each, parameters) for each in given_indices]
    shapes = [[(item.shape, item.dtype) for item in each] for each in vectors]
    assert shapes[0] == shapes[1]
    assert len({traced(BATCH_PIR, parameters, "seal", seed).program.digest for seed in (0, 1)}) == 1


def test_a_batch_has_as_many_different_indices_as_are_wanted():
    found = [BATCH_PIR.input(seed, None) for seed in range(20)]
    assert all(len(set(item)) == 64 and min(item) >= 0 and max(item) < 4096 for item in found)
    assert found[3] == BATCH_PIR.input(3, None)
