from __future__ import annotations

from types import SimpleNamespace

import pytest

from ciphermark_benchmark.suite import shipped
from ciphermark_dashboards.navigation import Navigation
from ciphermark_dashboards.pages import PAGES
from ciphermark_dashboards.store import NotFoundError
from ciphermark_present.page import Page

RUN = {"run_id": "r1"}
ROWS = [
    {"experiment": "arithmetic", "scheme": "bfv", "operation": "mul"},
    {"experiment": "learning", "scheme": "ckks", "operation": "lr-k3-plain"},
]


def find_run(name: str):
    if name == "twin":
        raise NotFoundError("Several runs begin with twin")
    return RUN if name == "r1" else None


STORE = SimpleNamespace(find_run=find_run, latest_pair=lambda b: ("r0", b))
NAVIGATION = Navigation(STORE, SimpleNamespace(choices=lambda run: ROWS))


def test_all_pages_keep_the_run_and_the_choices():
    links = NAVIGATION.of_run(RUN, {"for": "mul", "scheme": "bfv"})["links"]
    assert links["/"] == "/?for=mul&scheme=bfv&run=r1"
    assert links["/runs"] == "/runs?for=mul&scheme=bfv&run=r1"
    assert links["/compare"] == "/compare?b=r1&for=mul&scheme=bfv"
    assert links["/operations"] == "/operations?run=r1&for=mul&scheme=bfv&operation=mul"
    assert links["/learning"] == "/learning?run=r1&for=mul&scheme=bfv"
    assert links["/retrieval"] == "/retrieval?for=mul&scheme=bfv&run=r1"


@pytest.mark.parametrize(
    ("operation", "home", "other"),
    [("mul", "/operations", "/learning"), ("lr-k3-plain", "/learning", "/operations")],
)
def test_the_pages_about_the_computation_are_named(operation, home, other):
    homes = NAVIGATION.of_run(RUN, {"for": operation})["homes"]
    assert home in homes
    assert other not in homes


def test_pages_with_results_are_named():
    filled = NAVIGATION.of_run(RUN, {})["filled"]
    assert {"/operations", "/learning"} <= {*filled}
    assert "/retrieval" not in filled


def test_a_run_without_another_of_its_suite_is_not_compared():
    store = SimpleNamespace(find_run=find_run, latest_pair=lambda b: None)
    links = Navigation(store, SimpleNamespace(choices=lambda run: ROWS)).of_run(RUN, {"for": "mul"})["links"]
    assert links["/compare"] == "/compare?for=mul"


@pytest.mark.parametrize("run", ["", "gone", "twin"])
def test_a_run_that_is_not_there_is_left_out(run):
    links = NAVIGATION.of_query({"run": run, "for": "mul", "scheme": "", "recorded": "2"})["links"]
    assert links["/operations"] == "/operations?for=mul"
    assert NAVIGATION.of_query({"run": run})["links"]["/"] == "/"


def test_an_address_with_a_run_leads_on_about_that_run():
    assert NAVIGATION.of_query({"run": "r1", "for": "mul"}) == NAVIGATION.of_run(RUN, {"for": "mul"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_the_suite_that_measures_a_page_is_shipped(page: Page) -> None:
    assert page.suite in shipped.names()
