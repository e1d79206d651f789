from __future__ import annotations

import pytest

from ciphermark_core.errors import UserError
from ciphermark_dashboards import filters
from ciphermark_dashboards.filters import Selection, selected

ROWS = [
    {"scheme": scheme, "security_2018": security, "ring_dimension": n, "operation": "add", "variant": variant}
    for scheme, security, n in (("bfv", 128, 8192), ("bfv", 0, 1024), ("ckks", 192, 8192))
    for variant in ("seal", "tenseal")
]
COMMON = (filters.SCHEME, filters.SECURITY, filters.RING_DIMENSION, filters.VARIANT)
RUN = (("run", "r1"),)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ([], {"scheme": "bfv", "security": 128, "ns": [1024, 8192], "variants": ["seal", "tenseal"]}),
        ([("scheme", "ckks"), ("n", "8192")], {"scheme": "ckks", "ns": [8192]}),
        ([("variant", "tenseal"), ("variant", "seal")], {"variants": ["tenseal", "seal"]}),
        ([("variant", "seal"), ("variant", "seal")], {"variants": ["seal"]}),
        ([("security", "0")], {"security": 0}),
        ([("scheme", "")], {"scheme": "bfv"}),
        ([("run", "anything")], {"run_id": "r1"}),
    ],
)
def test_what_is_not_chosen_has_a_default(query, expected):
    parameters = selected(RUN, COMMON, ROWS, query).parameters
    assert {name: parameters[name] for name in expected} == expected


def test_a_run_without_values_asks_for_null():
    parameters = selected(RUN, COMMON, [], []).parameters
    assert parameters == {"run_id": "r1", "scheme": None, "security": None, "ns": [], "variants": []}


def test_the_first_value_stands_in_for_a_preferred_one_that_is_not_there():
    rows = [row for row in ROWS if row["scheme"] == "ckks"]
    assert selected(RUN, COMMON, rows, []).parameters["scheme"] == "ckks"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ([("sheme", "bfv")], "no filter 'sheme' on this page; it has n, run, scheme, security, variant"),
        ([("scheme", "bgv")], "Scheme 'bgv': this run has bfv, ckks"),
        ([("n", "4096")], "N '4096': this run has 1024, 8192"),
        ([("scheme", "bfv"), ("scheme", "ckks")], "Scheme takes one value, not 2"),
        ([("variant", "<script>")], "this run has seal, tenseal"),
    ],
)
def test_what_makes_no_sense_is_told_with_what_there_is(query, told):
    with pytest.raises(UserError, match=told.replace("(", r"\(")):
        selected(RUN, COMMON, ROWS, query)


def test_a_page_has_one_permanent_address():
    selection = selected(RUN, COMMON, ROWS, [("run", "r"), ("n", "8192"), ("variant", "seal-hexl & co")][:2])
    assert selection.query_string == "run=r1&n=8192"
    two = Selection((("a", "r1"), ("b", "r2")), given=(("a", "x"), ("show", "not comparable")))
    assert two.query_string == "a=r1&b=r2&show=not+comparable"
    assert two.parameters == {"run_a": "r1", "run_b": "r2"}
    assert two.runs == ("r1", "r2")
