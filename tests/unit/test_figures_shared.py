from __future__ import annotations

import pytest

from ciphermark_present.catalogue.comparing import ALL, said_once, with_rows_once
from ciphermark_present.query import Answer

ROW = {
    "variant": "seal",
    "operation": "add",
    "experiment": "arithmetic",
    "comparison_group": "a",
    "repetitions": None,
    "ring_dimension": 8192,
    "modulus_bits": [43, 43, 44],
    "dimensions": {},
    "phase": "encrypt",
    "metric": "peak_memory",
    "a_median": 5e7,
    "reference_kernel_spread": 0.1,
}
OTHER = {
    "operation": "rotate",
    "experiment": "rotation",
    "comparison_group": "b",
    "reference_kernel_spread": 0.2,
}


def test_what_belongs_to_the_parameters_is_told_once():
    keys = {"phase": "keygen", "a_median": 9e7}
    found = said_once([ROW, ROW | keys, ROW | OTHER, ROW | OTHER | keys])
    assert found == [ROW | {"operation": ALL}, ROW | keys | {"operation": ALL}]


@pytest.mark.parametrize(
    "change",
    [
        {"a_median": 6e7},
        {"variant": "openfhe"},
        {"modulus_bits": [43, 44, 44]},
        {"dimensions": {"side": 2}},
    ],
)
def test_what_differs_in_anything_else_stays_apart(change):
    rows = [ROW, ROW | OTHER | change]
    assert said_once(rows) == rows


@pytest.mark.parametrize(
    "change", [{"phase": "evaluate"}, {"phase": "decrypt"}, {"phase": None}, {"metric": "time"}]
)
def test_what_belongs_to_an_operation_stays(change):
    rows = [ROW | change, ROW | OTHER | change]
    assert said_once(rows) == rows


def test_one_of_its_kind_keeps_its_operation():
    assert said_once([ROW]) == [ROW]


def test_an_answer_keeps_its_columns():
    columns = tuple(ROW)
    answer = Answer(columns, [tuple(ROW.values()), tuple((ROW | OTHER).values())])
    assert with_rows_once(answer, {}) == Answer(columns, [tuple((ROW | {"operation": ALL}).values())])
