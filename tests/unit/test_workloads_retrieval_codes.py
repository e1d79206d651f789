"""Retrieval by constant-weight codes: code words, shelves, costs by the formulas, what is told to whom and refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import retrieval_costs
from hypothesis import given
from hypothesis import strategies as st
from retrieval_costs import resolved

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.layers import split
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.programs import StageProgram, all_traced
from ciphermark_workloads.retrieval import keyword_table
from ciphermark_workloads.retrieval.database import NO_BYTE
from ciphermark_workloads.retrieval.keyword_table import KeywordTable
from ciphermark_workloads.retrieval.queries import ABSENT
from ciphermark_workloads.workload import Truth

GROUPED, PUBLISHED = WORKLOADS["constant-weight-pir"], WORKLOADS["constant-weight-pir-published"]
COUNTS = {GROUPED.name: retrieval_costs.of_codes, PUBLISHED.name: retrieval_costs.of_published_codes}
SEEDS = range(400)


# --- Code words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "places"),
    [(1, 2), (2, 3), (3, 3), (4, 4), (1 << 11, 65), (1 << 16, 363), (1 << 20, 1449), (1 << 22, 2897)],
)
def test_code_words_have_the_fewest_places(count, places):
    assert keyword_table.length(count) == places
    assert (places - 1) * (places - 2) // 2 < count <= places * (places - 1) // 2


def test_numbers_are_all_pairs_of_places_once():
    found = [keyword_table.code(number) for number in range(5050)]
    assert all(0 <= a < b < keyword_table.length(5050) == 101 for a, b in found)
    assert len(set(found)) == len(found)


@given(st.integers(0, 1 << 40))
def test_a_number_is_what_its_code_word_says(number):
    a, b = keyword_table.code(number)
    assert 0 <= a < b
    assert b * (b - 1) // 2 + a == number


# --- Shelves of the table ---------------------------------------------------------------------------------------------


@st.composite
def databases(draw):
    """KeywordTable, and records of all values and lengths that are on them, fewer than there are keywords."""
    bits, size, slots = draw(st.integers(2, 8)), draw(st.integers(1, 300)), 1 << draw(st.integers(6, 8))
    symbol, most = draw(st.sampled_from([4, 6, 8, 16, 20])), draw(st.sampled_from([0, 1, 32]))
    keywords = draw(st.sets(st.integers(0, (1 << bits) - 1), min_size=1, max_size=min(20, (1 << bits) - 1)))
    values = {
        keyword: draw(st.binary(min_size=1, max_size=size) | st.sampled_from([bytes(size), b"\xff" * size]))
        for keyword in keywords
    }
    return KeywordTable(bits, size, slots, symbol, most), values


@given(databases())
def test_every_value_comes_back_and_what_is_absent_is_told(database):
    table, records = database
    stored = table.stored(records)
    assert {*stored} == {table.code(keyword) for keyword in records}
    nothing = [np.zeros(table.slots, dtype=np.int64)] * table.chunks
    for keyword in range(1 << table.keyword_bits):
        chunks = stored.get(table.code(keyword), nothing)
        assert len(chunks) == table.chunks
        found = table.value(chunks, keyword)
        assert (None if found is None else bytes(found.tolist())) == records.get(keyword)


@given(databases())
def test_no_plaintext_of_a_shelf_is_zeros(database):
    """Of which libraries refuse products; and a symbol is below t, as itself plus 1."""
    table, records = database
    for chunks in table.stored(records).values():
        assert all(chunk.any() and chunk.min() >= 0 for chunk in chunks)
        assert all(chunk.max() <= 1 << table.symbol_bits for chunk in chunks)


def test_records_that_differ_in_their_lowest_bits_share_a_shelf():
    """256 bytes and two of a length are 129 symbols, of which N = 8192 has room for 63: 32 of them, five bits."""
    table = KeywordTable(16, 256, 8192, 16, 32)
    assert (table.symbols, table.shared_bits, table.shelves, table.length) == (129, 5, 2048, 65)
    assert table.code(0b1010_0000) == table.code(0b1011_1111) != table.code(0b1100_0000)
    alone = KeywordTable(16, 256, 8192, 16, 0)
    assert (alone.shared_bits, alone.length) == (0, 363)
    assert KeywordTable(16, 16383, 8192, 16, 32).chunks == 2
    assert KeywordTable(3, 1, 8192, 16, 32).length == 2


@pytest.mark.parametrize(("slot", "symbol"), [(5, 0), (3, 0), (3, 12 + 1)])
def test_what_is_no_record_is_told(slot, symbol):
    """A slot of 0 among others, a length of zeros that other slots belie, and a length that no value has."""
    table = KeywordTable(4, 5, 64, 8, 0)
    (chunks,) = table.stored({9: b"12345"}).values()
    chunks[0][slot - 2] = symbol
    with pytest.raises(ValueError, match="no record"):
        table.value(chunks, 9)


# --- Costs -----------------------------------------------------------------------------------------------------------


def traced(workload: AnyWorkload, parameters: Parameters, variant: str, seed: int = 0) -> StageProgram:
    keyword = workload.input(seed, None)
    return all_traced(workload, keyword, parameters, registry.declaration(variant))["answer"]


def test_parts_of_an_answer_are_told():
    """By grouping all products of ciphertexts come last, as published before all products with plaintexts. Shifts
    of the expansion are products with plaintexts in Pyfhel.
    """
    products = {"mul", "mul_plain", "relinearize"}
    for workload, names, found in (
        (GROUPED, ["lower places", "upper places"], [{"mul_plain"}, {"mul", "relinearize"}]),
        (PUBLISHED, ["code words", "records"], [{"mul", "relinearize"}, {"mul_plain"}]),
    ):
        small = workload.with_options({"records": 30, "keyword_bits": 8, "value_bytes": 30})
        stage = traced(small, resolved(small, ring_dimension=512), "pyfhel")
        layers = split(stage.program, stage.layers)
        assert [layer.name for layer in layers] == ["expansion", *names]
        of_layers = [Counter(node.operation for node in layer.program.nodes) for layer in layers]
        assert [products & {*operations} for operations in of_layers] == [{"mul_plain"}, *found]
        assert sum(of_layers, Counter()) == Counter(node.operation for node in stage.program.nodes)


def test_grouping_takes_a_product_for_each_upper_place():
    """2^12 records of 16 bits at N = 8192: 362 products as published were 4,096; with shelves 64."""
    options = {"records": 4096, "value_bytes": 256, "keyword_bits": 16}
    counted = {}
    for workload in (GROUPED, PUBLISHED):
        layout = workload.with_options(options).layout(resolved(workload))
        found = {layout.code(keyword) for keyword in workload.with_options(options).numbers()}
        counted[workload.name] = COUNTS[workload.name](layout, found, 2)
    grouped, published = counted[GROUPED.name], counted[PUBLISHED.name]
    assert (grouped.rotations, grouped.products, grouped.relinearizations) == (64, 64, 1)
    assert (published.rotations, published.products, published.relinearizations) == (362, 4096, 4096)
    assert grouped.plain_products < 2048 < published.plain_products == 4096


def test_memory_is_told_with_the_ciphertexts():
    """Of 2^10 records of 16 kB at N = 8192: a plaintext each, as a vector, as such, and of two primes in NTT
    form; 363 places of 262,144 bytes, twice; as published, two ciphertexts a record.
    """
    options = {"records": 1024, "value_bytes": 16382}
    database, store, ciphertext = 1024 * 16382, 1024 * 4 * 65536, 262144
    for workload, held in ((GROUPED, 2 * 363), (PUBLISHED, 363 + 2 * 1024)):
        expected = database + store + held * ciphertext
        assert workload.with_options(options).server_bytes(resolved(workload)) == expected


# --- Parameters, and what cannot be ----------------------------------------------------------------------------------


def test_what_cannot_be_is_refused():
    too_many = GROUPED.with_options({"keyword_bits": 30})
    with pytest.raises(
        Unsupported, match=r"keywords of 30 bits, 32 of them .* 8193 places, .*N = 8192 has 4096"
    ):
        too_many.keys(resolved(too_many))
    with pytest.raises(Unsupported, match="1024 records have a keyword each, and of 9 bits there are 512"):
        GROUPED.with_options({"keyword_bits": 9}).parameters("bfv")
    for values in ({"records": 0}, {"keyword_bits": 0}, {"keyword_bits": 33}, {"value_bytes": 0}):
        with pytest.raises(UserError, match=next(iter(values))):
            GROUPED.with_options(values)
    for scheme, workload, made_for in (("ckks", GROUPED, "bfv, bgv"), ("bgv", PUBLISHED, "bfv")):
        with pytest.raises(Unsupported, match=f"{workload.name} is made for {made_for}, not {scheme}"):
            workload.parameters(scheme)


@pytest.mark.parametrize("keyword", [-1, 1 << 16])
def test_a_keyword_that_no_database_has_is_refused(keyword):
    with pytest.raises(UserError, match=f"{keyword} is no keyword: those of 16 bits are 0 to 65535"):
        GROUPED.vectors("answer", keyword, resolved(GROUPED))


# --- What is told to whom, and what comes back -----------------------------------------------------------------------


def test_keywords_that_there_are_and_are_not_are_asked_for():
    """A quarter of 400 is absent: fewer than 40 or more than 170 have a chance below 1e-11 (Chernoff)."""
    known = {*GROUPED.numbers()}
    assert len(known) == 1024
    asked = [GROUPED.input(seed, None) for seed in SEEDS]
    absent = [keyword for keyword in asked if keyword not in known]
    assert 40 < len(absent) < 170
    assert all(0 <= keyword < 1 << 16 for keyword in asked)
    assert GROUPED.reference(absent[0]).tolist() == [ABSENT]
    assert GROUPED.reference(next(keyword for keyword in asked if keyword in known)).size == 256


@pytest.mark.parametrize("records", [1, 3, 7, 8])
def test_what_is_absent_is_each_of_the_others(records):
    """Of eight keywords; one of seven is left out by 600 draws with a chance below 7·(6/7)^600 < 1e-39."""
    workload = GROUPED.with_options({"records": records, "keyword_bits": 3})
    known, generator = {*workload.numbers()}, np.random.default_rng(1)
    drawn = {workload.another(generator) for _ in range(600)}
    assert drawn == (set(range(8)) - known or known)


def test_absent_is_neither_a_value_nor_an_answer_that_went_wrong():
    workload = GROUPED.with_options({"records": 20, "value_bytes": 3})
    parameters = resolved(workload)
    keyword = next(iter(workload.numbers()))
    slots = np.zeros(parameters.slots, dtype=np.int64)
    assert workload.output([slots], keyword, parameters).tolist() == [ABSENT]
    slots[:] = np.arange(parameters.slots) % 2
    assert workload.output([slots], keyword, parameters).tolist() == [NO_BYTE] * 3
    right = workload.reference(keyword)
    truth = Truth(keyword, right, right, parameters)
    assert workload.judge(right, truth).complaint is None
    assert workload.judge(np.array([ABSENT]), truth).complaint is not None


# --- A database of one's own -----------------------------------------------------------------------------------------


def test_keywords_of_a_file_are_numbers():
    data = b"7,seven\n0,none\n65535,last\n"
    called = user_workloads.file_name("records.csv", data)
    user_workloads.hold_file(called, data)
    workload = GROUPED.with_options(GROUPED.with_file("database", called, data, {}))
    assert (workload.options.records, workload.options.value_bytes) == (3, 5)
    assert workload.numbers() == {7: 0, 0: 1, 65535: 2}
    assert bytes(workload.reference(65535).tolist()) == b"last"
    assert workload.reference(8).tolist() == [ABSENT]


@pytest.mark.parametrize("keyword", ["x", "65536", "-1", "07", "٧", " 7", "1.0"])
def test_keywords_of_a_file_that_are_no_numbers_are_refused(keyword):
    with pytest.raises(UserError, match=r"a.csv, line 2: the keyword .* is no number from 0 to 65535"):
        GROUPED.with_file("database", "a.csv", f"1,a\n{keyword},b\n".encode(), {})
    with pytest.raises(UserError, match="is no number from 0 to 63 "):
        GROUPED.with_file("database", "a.csv", b"1,a\n64,b\n", {"keyword_bits": 6})
