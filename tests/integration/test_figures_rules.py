"""All charts of reference results, and of a run with a case of each family, follow the rules of charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from command import REPOSITORY, Ciphermark

from ciphermark_dashboards.pages import PAGES
from ciphermark_dashboards.rendering import Figures, Filled
from ciphermark_dashboards.selections import Selections
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database
from ciphermark_present import charting
from ciphermark_present.page import SCHEME

EVERY_PAGE = "tests/acceptance/every-page"
OTHERS = ("tenseal-ml", "pir-report", "seal-vs-openfhe")
ARCHIVES = [
    pytest.param(("quick",), id="quick"),
    pytest.param(("quick", *OTHERS), id="all", marks=pytest.mark.extended),
]
# Their small charts are programs and bars, not marks on axes.
OF_PARTS = {"layers", "answer-layers", "classification", "program-counts"}
# Counts of operations have true distances: additions by the thousand and a few products share no axis.
OWN_AXES = {"repetitions": {"x"}, "noise": {"x"}}
MAX_TICKS = 12
MAX_WORDS = 25


@pytest.fixture(scope="module", params=ARCHIVES)
def items(request: Any, reference: Any, tmp_path_factory: Any, make: Any) -> list[tuple[str, Filled]]:
    """The figures with a chart, of each run, page and scheme, with names."""
    url = reference(*request.param)
    Ciphermark(tmp_path_factory.mktemp("rules"), url)(
        "runs", "import", str(REPOSITORY / f"{EVERY_PAGE}.jsonl.xz")
    )
    with Database.open(url) as database:
        medians = {"seal": (1.0, 2.0, 3.0), "openfhe": (2.0, 4.0, 5.0)}
        make.record(database, *make.costs("mul", medians), *make.costs("rotate(1)", medians))
    with Store(url) as store:
        return list(_filled(store))


def _filled(store: Store) -> Iterator[tuple[str, Filled]]:
    figures = Figures(store)
    selections = Selections(store, figures)
    for run in store.run_choices():
        choices = figures.choices(store.run(run["run_id"]))
        for page in PAGES:
            schemes = {row["scheme"] for row in page.choices(choices)} if SCHEME in page.filters else {""}
            for scheme in sorted(schemes):
                query = [("run", run["run_id"]), *[("scheme", scheme)] * bool(scheme)]
                selection = selections.of_page(page, query)
                for figure in page.figures:
                    item = figures.filled(figure, selection)
                    if item.rows and item.specification:
                        yield f"{run['suite']} {page.path} {scheme} {figure.name}", item


def views(part: Any) -> Iterator[dict[str, Any]]:
    """The units of a chart."""
    if isinstance(part, list):
        for each in part:
            yield from views(each)
    elif isinstance(part, dict):
        if "mark" in part:
            yield part
        for each in ("layer", "spec", "hconcat", "vconcat", "concat"):
            yield from views(part.get(each, []))


def channels(chart: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for view in views(chart):
        for channel, encoding in view["encoding"].items():
            if isinstance(encoding, dict):
                yield channel, encoding


_ELSEWHERE = {"bootstrapping", "scaling", "flame-graph", "predictions", "prediction-errors"}


def test_there_are_charts_of_most_figures(items: list[tuple[str, Filled]]) -> None:
    """Suites of stacks, bootstrapping, vectors of several lengths, long sequences, several N or threads are elsewhere.

    Predictions are in none: they come from the cost table of a host.
    """
    drawn = {item.figure.name for _, item in items}
    known = {figure.name for page in PAGES for figure in page.figures if figure.chart}
    missing = {name for name in known - drawn - _ELSEWHERE if not name.endswith("threads")}
    assert len(missing) <= 4, missing


def test_a_chart_has_at_most_twelve_panels_of_three_marks(items: list[tuple[str, Filled]]) -> None:
    for name, item in items:
        chart = item.specification or {}
        if "facet" in chart:
            marks = Counter(row[chart["facet"]["field"]] for row in chart["data"]["values"])
            assert len(marks) <= charting.MAX_CHARTS, name
            assert item.figure.name in OF_PARTS or min(marks.values()) >= charting.MIN_MARKS, name


def test_panels_share_their_axes(items: list[tuple[str, Filled]]) -> None:
    for name, item in items:
        own = {axis for axis, how in (item.specification or {}).get("resolve", {}).get("scale", {}).items()}
        assert own <= OWN_AXES.get(item.figure.name, set()), name


def test_ratios_are_dots_on_a_logarithmic_axis_with_1_and_the_band(items: list[tuple[str, Filled]]) -> None:
    for name, item in items:
        chart = item.specification or {}
        units = list(views(chart))
        if any(
            unit["encoding"].get("x", {}).get("datum") == 1 and unit["mark"]["type"] == "rule"
            for unit in units
        ):
            assert not [unit for unit in units if unit["mark"]["type"] in ("bar", "line", "area")], name
            scales = [
                each["scale"] for channel, each in channels(chart) if channel == "x" and "scale" in each
            ]
            assert {scale["type"] for scale in scales} == {"log"}, name
            assert [unit["mark"]["size"] for unit in units if unit["mark"]["type"] == "tick"] == [9, 9], name


def test_no_interval_passes_what_is_possible_or_speaks_for_few_cases(items: list[tuple[str, Filled]]) -> None:
    for name, item in items:
        if item.figure.name == "leaderboard":
            marks = (item.specification or {})["data"]["values"]
            assert all(row["from"] >= 1 for row in marks), name
            few = [row for row in marks if row["common_cases"] < charting.MIN_CASES]
            assert all(row["from"] == row["to"] for row in few), name
            told = [row for row in item.rows if row["ci_low"] is not None]
            assert all(row["ci_low"] >= 1 and row["common_cases"] >= charting.MIN_CASES for row in told), name


def test_bars_begin_at_zero(items: list[tuple[str, Filled]]) -> None:
    for name, item in items:
        for view in views(item.specification):
            if view["mark"]["type"] == "bar":
                assert view["encoding"]["x"]["scale"]["domain"][0] == 0, name


def test_n_is_logarithmic_to_base_2_and_times_have_units_at_few_ticks(
    items: list[tuple[str, Filled]],
) -> None:
    for name, item in items:
        for channel, encoding in channels(item.specification or {}):
            if channel not in ("x", "y") or not encoding.get("axis") or "scale" not in encoding:
                continue
            if encoding.get("field") == "ring_dimension":
                assert (encoding["scale"]["type"], encoding["scale"]["base"]) == ("log", 2), name
            assert len(encoding["axis"].get("values", [])) <= MAX_TICKS, name


def test_every_mark_leads_to_its_case(items: list[tuple[str, Filled]]) -> None:
    for name, item in items:
        chart = item.linked or {}
        assert all(row.get("href") for row in chart["data"]["values"]), name
        with_tips = [view["encoding"] for view in views(chart) if "tooltip" in view["encoding"]]
        assert with_tips, name
        assert all(encoding["href"]["field"] == "href" for encoding in with_tips), name


def test_a_heading_is_a_finding_in_few_words(items: list[tuple[str, Filled]]) -> None:
    for name, item in items:
        assert item.title != item.figure.title, name
        assert len(item.title.split()) <= MAX_WORDS, (name, item.title)
        assert len(item.figure.lead.split()) <= MAX_WORDS, (name, item.figure.lead)
