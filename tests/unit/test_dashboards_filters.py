from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ciphermark_core.errors import UserError
from ciphermark_dashboards.filters import Selection, carried, selected
from ciphermark_dashboards.pages import OPERATIONS_PAGE, PAGES, WORKLOADS_PAGE
from ciphermark_present.page import RING_DIMENSION, SCHEME, SECURITY, TABLE, VARIANT

ROWS = [
    {
        "scheme": scheme,
        "security_compared": security,
        "ring_dimension": n,
        "operation": "add",
        "variant": variant,
    }
    for scheme, security, n in (("bfv", 128, 8192), ("bfv", 0, 1024), ("ckks", 192, 8192))
    for variant in ("seal", "tenseal")
]
COMMON = (SCHEME, SECURITY, RING_DIMENSION, VARIANT)
RUN = (("run", "r1"),)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            [],
            {
                "scheme": "bfv",
                "security_compared": 128,
                "ring_dimension": [8192],
                "variant": ["seal", "tenseal"],
            },
        ),
        ([("scheme", "ckks"), ("n", "8192")], {"scheme": "ckks", "ring_dimension": [8192]}),
        ([("variant", "tenseal"), ("variant", "seal")], {"variant": ["tenseal", "seal"]}),
        ([("variant", "seal"), ("variant", "seal")], {"variant": ["seal"]}),
        ([("security", "0")], {"security_compared": 0}),
        ([("scheme", "")], {"scheme": "bfv"}),
        ([("run", "anything")], {"run_id": "r1"}),
    ],
)
def test_what_is_not_chosen_has_a_default(query, expected):
    parameters = selected(RUN, COMMON, ROWS, query).parameters
    assert {name: parameters[name] for name in expected} == expected


def test_filters_offer_what_goes_with_the_scheme_and_the_level():
    unresolved = {**ROWS[0], "security_compared": None, "ring_dimension": 2048}
    offered = {
        choice.filter.name: choice.values for choice in selected(RUN, COMMON, [*ROWS, unresolved], []).choices
    }
    assert offered["security"] == (0, 128)
    assert offered["n"] == (2048, 8192)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            [("scheme", "ckks"), ("security", "128"), ("n", "1024")],
            {"security_compared": 192, "ring_dimension": [8192]},
        ),
        ([("n", "1024"), ("n", "8192")], {"security_compared": 128, "ring_dimension": [8192]}),
        ([("n", "1024"), ("security", "0")], {"ring_dimension": [1024]}),
    ],
)
def test_what_the_run_has_elsewhere_is_let_go(query, expected):
    parameters = selected(RUN, COMMON, ROWS, query).parameters
    assert {name: parameters[name] for name in expected} == expected


def test_what_is_let_go_is_told_and_leaves_the_address():
    query = [("scheme", "ckks"), ("security", "128"), ("n", "1024"), ("n", "8192"), ("variant", "seal")]
    selection = selected(RUN, COMMON, ROWS, query)
    assert selection.notes == [
        "Security (2018) 128: not available with earlier filters. Shown: 192 bits.",
        "N 1024: not available with earlier filters. Shown: 8192.",
    ]
    assert selection.query_string == "run=r1&scheme=ckks&n=8192&variant=seal"
    again = [("scheme", "ckks"), ("n", "8192"), ("variant", "seal")]
    assert selected(RUN, COMMON, ROWS, again).parameters == selection.parameters
    assert selected(RUN, COMMON, ROWS, again).notes == []


def test_a_run_without_values_asks_for_null():
    parameters = selected(RUN, COMMON, [], []).parameters
    assert parameters == {
        "run_id": "r1",
        "scheme": None,
        "security_compared": None,
        "ring_dimension": [],
        "variant": [],
    }


def test_the_first_value_stands_in_for_a_preferred_one_that_is_not_there():
    rows = [row for row in ROWS if row["scheme"] == "ckks"]
    assert selected(RUN, COMMON, rows, []).parameters["scheme"] == "ckks"


@pytest.mark.parametrize(
    ("levels", "expected"),
    [((0, 128, 256), 128), ((0, 192, 256), 192), ((0,), 0), ((None, 256), 256), ((None,), None)],
)
def test_the_lowest_level_that_is_secure_is_shown_first(levels, expected):
    rows = [{**ROWS[0], "security_compared": level} for level in levels]
    assert selected(RUN, COMMON, rows, []).parameters["security_compared"] == expected


BY_TABLE = [
    {**ROWS[0], "security_compared_2024": 0},
    {**ROWS[0], "security_compared_2024": 128, "ring_dimension": 16384},
]


@pytest.mark.parametrize(
    ("of_suite", "query", "expected"),
    [
        ("2018", [], {"table": "2018", "security_compared": 128, "ring_dimension": [8192, 16384]}),
        ("2024", [], {"table": "2024", "security_compared_2024": 128, "ring_dimension": [16384]}),
        (
            "2018",
            [("table", "2024"), ("security", "0")],
            {"security_compared_2024": 0, "ring_dimension": [8192]},
        ),
        ("2024", [("table", "2018")], {"table": "2018", "security_compared": 128}),
        ("2024", [("table", "2018"), ("security", "0")], {"table": "2018", "security_compared": 128}),
    ],
)
def test_the_level_is_of_the_table_that_is_chosen_by_default_that_of_the_suite(of_suite, query, expected):
    rows = [{**row, "security_table": of_suite} for row in BY_TABLE]
    filters = (SCHEME, TABLE, *COMMON[1:])
    parameters = selected(RUN, filters, rows, query).parameters
    assert {name: parameters[name] for name in expected} == expected
    assert len({*parameters} & {"security_compared", "security_compared_2024"}) == 1


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ([("sheme", "bfv")], "no filter 'sheme' on this page; it has n, run, scheme, security, variant"),
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
    two = Selection((("a", "r1"), ("b", "r2")), given=(("a", "x"), ("threshold", "1%")))
    assert two.query_string == "a=r1&b=r2&threshold=1%25"
    assert two.parameters == {"run_a": "r1", "run_b": "r2"}
    assert two.runs == ("r1", "r2")


def asking(question: str, query=()) -> Selection:
    """The selection of a page with a question."""
    return replace(selected(RUN, COMMON, ROWS, query), text=question)


def test_filters_that_are_seldom_set_stand_behind_the_question_and_are_counted():
    """One value is no choice; the default, given, is none that was made."""
    chosen = asking("How long in {scheme} at {security}?", [("variant", "seal")])
    assert [choice.filter.name for choice in chosen.more_choices] == ["variant"]
    assert chosen.more_set == 1
    every = [("variant", name) for name in ("tenseal", "seal")]
    assert selected(RUN, COMMON, ROWS, every).more_set == 0


def test_a_question_has_its_choices_within_it():
    (how, scheme), (at, level), (end, none) = asking("How long in {scheme} at {security}?").question
    assert (how, at, end, none) == ("How long in ", " at ", "?", None)
    assert (scheme.spoken, scheme.asked) == ([("bfv", "BFV"), ("ckks", "CKKS")], ("bfv",))
    assert level.asked == (128,)
    assert list(asking("How many?").question) == [("How many?", None)]


@pytest.mark.parametrize(
    ("variants", "asked", "is_in_question"),
    [((), (), True), (("seal",), ("seal",), True), (("tenseal", "seal"), (), True)],
)
def test_a_question_asks_for_one_value_or_all(variants, asked, is_in_question):
    selection = asking("How long by {variant}?", [("variant", name) for name in variants])
    ((_, choice), _) = selection.question
    assert choice.asked == asked
    assert ("variant" not in [each.filter.name for each in selection.more_choices]) == is_in_question


def test_several_values_of_a_question_are_chosen_behind_it():
    rows = [*ROWS, {**ROWS[0], "variant": "pyfhel"}]
    query = [("variant", "seal"), ("variant", "pyfhel")]
    selection = replace(selected(RUN, COMMON, rows, query), text="How long by {variant}?")
    assert "variant" in [choice.filter.name for choice in selection.more_choices]


def test_a_carried_value_that_the_run_has_not_is_let_go():
    selection = selected(RUN, COMMON, ROWS, [("scheme", "bgv"), ("for", "nothing")])
    assert selection.parameters["scheme"] == "bfv"
    assert selection.notes == ["Scheme bgv: not available with earlier filters. Shown: bfv."]
    assert selection.query_string == "run=r1&for=nothing"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_every_page_asks_a_question_by_its_filters(page):
    assert page.question.endswith("?")
    names = re.findall(r"\{(\w+)\}", page.question)
    assert {*names} <= {item.name for item in page.filters}


def test_the_question_goes_along_from_page_to_page():
    """The computation is a filter where a page has such, and the scheme where the run has it there."""
    rows = [{**row, "experiment": "arithmetic", "operation": "mul"} for row in ROWS]
    query = [("run", "id"), ("for", "mul"), ("scheme", "bfv")]
    assert selected(RUN, (), rows, query).carried == {"for": "mul", "scheme": "bfv"}
    assert selected(RUN, (), rows, query).kept == {"for": "mul", "scheme": "bfv"}
    assert selected(RUN, COMMON, rows, query).kept == {"for": "mul"}
    for page, chosen, expected in (
        (OPERATIONS_PAGE, {"for": "mul", "scheme": "bfv"}, "run=id&for=mul&scheme=bfv&operation=mul"),
        (OPERATIONS_PAGE, {"for": "lr-k3-plain", "scheme": "bfv"}, "run=id&for=lr-k3-plain&scheme=bfv"),
        (OPERATIONS_PAGE, {"for": "mul", "scheme": "bgv"}, "run=id&for=mul&operation=mul"),
        (OPERATIONS_PAGE, {}, "run=id"),
        (WORKLOADS_PAGE, {"for": "mul", "scheme": "bfv"}, None),
    ):
        assert carried(page, rows, "id", chosen) == expected
