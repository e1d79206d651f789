"""Retrieval by keyword: every record has a place, costs are the formulas', absent is told apart from zeros."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_costs import resolved

from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.errors import UserError
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.retrieval import columns, keyword_pir
from ciphermark_workloads.retrieval.database import NO_BYTE
from ciphermark_workloads.retrieval.keyword_pir import Table, generated, value_in
from ciphermark_workloads.retrieval.queries import ABSENT
from ciphermark_workloads.workload import Truth

KEYWORD_PIR = WORKLOADS["keyword-pir"]
SEEDS = range(400)


# --- The table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5, 100, 5000])
def test_every_record_is_at_one_of_its_places(count):
    table, names = Table(count, 3), generated(count, 7)
    places = table.arranged(names)
    assert sorted(places[places >= 0].tolist()) == [*range(count)]
    for place, number in enumerate(places.tolist()):
        if number >= 0:
            assert place in table.choices(names[number])
    assert all([place % 4 for place in table.choices(name)] == [0, 1, 2, 3] for name in names)


def test_places_and_tags_follow_from_the_keyword_and_the_seed():
    first, second = Table(1000, 1), Table(1000, 2)
    names = generated(200, 1)
    assert [first.choices(name) for name in names] == [Table(1000, 1).choices(name) for name in names]
    assert sum(first.choices(name) == second.choices(name) for name in names) < 10
    assert len({first.tag(name) for name in names} | {second.tag(name) for name in names}) == 400
    assert len(set(names)) == 200


def test_a_keyword_that_is_there_twice_is_refused():
    with pytest.raises(UserError, match="a keyword is there twice"):
        Table(3, 1).arranged([b"one", b"two", b"one"])


def test_more_records_than_the_table_was_made_for_find_no_place():
    with pytest.raises(
        Unsupported, match="finds no place among 12 after 500 evictions: take another hash_seed"
    ):
        Table(9, 1).arranged(generated(13, 1))


# --- Records ---------------------------------------------------------------------------------------------------------


@given(st.binary(min_size=1, max_size=40), st.binary(min_size=1, max_size=40))
def test_a_value_is_found_by_its_keyword_alone(keyword, value):
    table = Table(10, 1)
    record = np.frombuffer(table.record(keyword, value) + bytes(5), dtype=np.uint8).astype(np.int64)
    assert value_in(record, table.tag(keyword)).tolist() == [*value]
    assert value_in(record, table.tag(keyword + b"?")) is None


def test_a_place_without_a_record_holds_none():
    assert value_in(np.zeros(20, dtype=np.int64), bytes(8)) is None


@pytest.mark.parametrize(("place", "byte"), [(0, NO_BYTE), (15, NO_BYTE), (8, 1)])
def test_what_is_no_record_is_told(place, byte):
    """A byte that none was decrypted for, and a length that no record has."""
    record = np.frombuffer(Table(10, 1).record(b"k", bytes(10)), dtype=np.uint8).astype(np.int64)
    record[place] = byte
    with pytest.raises(ValueError, match="no record"):
        value_in(record, Table(10, 1).tag(b"k"))


# --- Costs -----------------------------------------------------------------------------------------------------------


# --- Parameters, and what cannot be ----------------------------------------------------------------------------------


def test_what_cannot_be_is_refused():
    too_long = KEYWORD_PIR.with_options({"value_bytes": 32768})
    assert resolved(too_long).ring_dimension == 32768  # longer than any ring has room for
    with pytest.raises(Unsupported, match="elements have at most 16384 bytes"):
        too_long.keys(resolved(too_long))
    for values in ({"records": 0}, {"records": (1 << 20) + 1}, {"value_bytes": 0}, {"hash_seed": -1}):
        with pytest.raises(UserError, match=next(iter(values))):
            KEYWORD_PIR.with_options(values)


# --- What is told to whom, and what comes back -----------------------------------------------------------------------


def test_keywords_that_there_are_and_are_not_are_asked_for():
    """A quarter of 400 is absent: fewer than 40 or more than 170 have a chance below 1e-11 (Chernoff)."""
    known = set(generated(4096, 1))
    absent = [seed for seed in SEEDS if KEYWORD_PIR.input(seed, None) not in known]
    assert 40 < len(absent) < 170
    assert KEYWORD_PIR.reference(KEYWORD_PIR.input(absent[0], None)).tolist() == [ABSENT]
    present = next(seed for seed in SEEDS if seed not in absent)
    assert KEYWORD_PIR.reference(KEYWORD_PIR.input(present, None)).size == 256


def test_absent_is_neither_a_value_nor_an_answer_that_went_wrong():
    workload = KEYWORD_PIR.with_options({"records": 20, "value_bytes": 1})
    parameters = resolved(workload)
    layout, names = workload.layout(parameters), generated(20, 1)
    empty = columns.block_vectors(np.zeros((1, 11), dtype=np.uint8), layout)[0]
    slots = np.full(parameters.slots, empty[0], dtype=np.int64)
    assert workload.output([slots], names[3], parameters).tolist() == [ABSENT]
    slots[:] = 0
    assert workload.output([slots], names[3], parameters).tolist() == [NO_BYTE]
    right = workload.reference(names[3])
    truth = Truth(names[3], right, right, parameters)
    assert workload.judge(right, truth).complaint is None
    assert workload.judge(np.array([ABSENT]), truth).complaint.startswith("1 of 1 values are incorrect: ")


def test_all_parts_of_a_record_are_counted():
    assert (keyword_pir.HEAD_BYTES, keyword_pir.PARTS, keyword_pir.KEYWORD_BYTES) == (10, 4, 16)
