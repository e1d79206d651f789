"""Pages and reports begin with results: at most 60 words come before, and explanations are closed at the end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from dashboard import dashboard, rows_of
from starlette.testclient import TestClient
from test_dashboards_pages import recorded_run

from ciphermark_dashboards import report
from ciphermark_dashboards.pages import ALL_PAGES
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

MAX_WORDS = 60
RESULTS = {"table", "figure", "svg", "canvas"}
CONTROLS = {
    "form",
    "style",
    "script",
    "header",
}  # what a reader chooses from is not read, nor a question of a report
VOID = {"meta", "link", "input", "br", "img"}
BOARD = "board"  # the libraries of an answer, side by side


class Beginning(HTMLParser):
    """The text of a page before its first result, without controls and closed details."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.has_result = False
        self.has_reading = False
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        is_result = tag in RESULTS or bool({"chart", BOARD} & set(classes))
        self.has_result |= is_result and not self._hidden
        self.has_reading |= tag == "details" and "reading" in classes and "open" not in dict(attrs)
        is_hidden = (
            tag in CONTROLS or "question" in classes or (tag == "details" and "open" not in dict(attrs))
        )
        if tag not in VOID and (is_hidden or self._hidden):
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._hidden and tag not in VOID:
            self._hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self.has_result and not self._hidden:
            self.words += re.findall(r"\S*\w\S*", data)


def beginning(html: str) -> Beginning:
    """What comes before the first result of a page: of its main part, without the title of the window."""
    parser = Beginning()
    parser.feed(html.partition("<body>")[2])
    return parser


@pytest.fixture(scope="module")
def runs(new_url: Callable[[], str], make: Maker) -> tuple[str, list[str]]:
    """URL of a database with two runs that have something for every page, and the runs' ids."""
    url = new_url()
    with Database.open(url) as database:
        return url, [recorded_run(make, database), recorded_run(make, database, slower=1.5)]


@pytest.fixture(scope="module")
def client(runs: tuple[str, list[str]]) -> Iterator[TestClient]:
    with dashboard(runs[0]) as made:
        yield made


@pytest.mark.parametrize("path", [page.path for page in ALL_PAGES])
def test_a_page_of_figures_begins_with_results(
    client: TestClient, runs: tuple[str, list[str]], path: str
) -> None:
    params = {
        "/compare": dict(zip("ab", runs[1], strict=True)),
        "/case": {"run": runs[1][0], "case": rows_of(client, "latency")[0]["comparison_group"]},
    }
    answer = client.get(path, params=params.get(path, {"run": runs[1][0]}))
    assert answer.status_code == 200
    parser = beginning(answer.text)
    assert len(parser.words) <= MAX_WORDS, " ".join(parser.words)
    if parser.has_result:
        assert parser.has_reading
        assert answer.text.rindex('<details class="reading">') > answer.text.rindex("</section>")


def test_the_pages_have_results(client: TestClient, runs: tuple[str, list[str]]) -> None:
    """The run has something for the pages that the test above is about, but for what needs services."""
    paths = [
        page.path
        for page in ALL_PAGES
        if page.path not in ("/case", "/compare")
        and beginning(client.get(page.path, params={"run": runs[1][0]}).text).has_result
    ]
    assert {"/ranking", "/operations", "/hexl", "/noise", "/memory", "/learning", "/programs"} <= set(paths)


@pytest.mark.parametrize("path", ["/runs", "/runs/{}", "/draw", "/login", "/nowhere"])
def test_other_pages_have_few_words(client: TestClient, runs: tuple[str, list[str]], path: str) -> None:
    words = beginning(client.get(path.format(runs[1][0])).text).words
    assert words
    assert len(words) <= MAX_WORDS, " ".join(words)


def test_a_report_begins_with_an_answer(runs: tuple[str, list[str]]) -> None:
    with Store(runs[0]) as store:
        html = report.html(report.made(store, runs[1][0])).decode()
    parser = beginning(html)
    assert parser.has_result
    assert parser.has_reading
    assert len(parser.words) <= MAX_WORDS, " ".join(parser.words)
    assert html.rindex('<details class="reading">') > html.rindex('<section class="figure">')


def test_words_are_counted_up_to_the_first_result() -> None:
    page = (
        "<body><header><a>Menu</a><svg></svg></header><main><h1>Two words</h1><form><label>None</label></form>"
        "<details><summary>None</summary>none</details><details open>One</details>"
        "<p>64.4 µs – here</p><table><td>none</td></table><p>none</p>"
    )
    assert beginning(page).words == ["Two", "words", "One", "64.4", "µs", "here"]
