"""Pages, figures and downloads over a real PostgreSQL, as HTTP has them."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from unittest.mock import patch

import psycopg
import pytest
from dashboard import dashboard, rows_of
from starlette.testclient import TestClient

from ciphermark_core.model import OperationCount, ParameterSpec, ProgramUse, Sample
from ciphermark_dashboards import rendering
from ciphermark_dashboards.pages import FIGURE_PAGES, FIGURES, PAGES
from ciphermark_dashboards.store import Store
from ciphermark_dashboards.views import Views
from ciphermark_db.database import Database
from ciphermark_present import theme
from ciphermark_present.catalogue.times import LEADERBOARD
from ciphermark_present.query import Answer

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

VARIANTS = {"seal": 4.0, "seal-hexl": 2.0, "tenseal": 8.0}
STACKS = "evaluate;add;allocate 1\nevaluate;add 6\nevaluate;copy 3\n"
CKKS = ParameterSpec("ckks", 8192, None, scale_bits=40)


def times(make: Maker, median_ms: float) -> tuple[Sample, ...]:
    values = [median_ms / 1000 * (1 + step / 1000) for step in range(-4, 5)]
    return tuple(
        sample
        for phase, factor in (("evaluate", 1.0), ("encrypt", 3.0), ("decrypt", 0.5))
        for sample in make.times([value * factor for value in values], phase)
    )


def worked(make: Maker, cost: float) -> tuple[Sample, ...]:
    """What a workload tells, in small: a stage of both parties, and how good the result is."""
    return (
        *make.times([cost / 2] * 9, "prepare"),
        *make.times([cost] * 9, "infer"),
        Sample("cpu_time", cost / 4, "infer", "client"),
        Sample("cpu_time", cost / 8, "infer", "server"),
        Sample("peak_memory", cost * 1e7, "infer", "client"),
        Sample("accuracy", 0.75, "infer"),
    )


def program(variant: str) -> ProgramUse:
    """What variants infer by: SEAL's two builds the same, TenSEAL another."""
    digest = ("e" if variant == "tenseal" else "d") * 64
    counts = (OperationCount("mul_plain", 2, 3), OperationCount("rotate", 1, 5))
    return ProgramUse("infer", digest, "bfv", 1, 7, 4, counts, digest.encode())


def recorded_run(
    make: Maker,
    database: Database,
    slower: float = 1.0,
    variants: Collection[str] = (),
    **changes: object,
) -> str:
    """A run with something for every page; all ``variants`` that are named so many times ``slower``, or all."""
    run = make.run(**changes)
    database.record_run(run)
    outcomes = []
    for variant, cost in VARIANTS.items():
        factor = slower if variant in (variants or VARIANTS) else 1.0
        for number, operation in enumerate(("add", "mul"), 1):
            for pattern in ("constant", "random"):
                for size in (16, 8192):
                    case = make.case(variant, operation=operation, vector_length=size, data_pattern=pattern)
                    outcomes.append(make.outcome(run, case, times(make, cost * number * factor)))
        untimed = (
            Sample("cold_time", cost * 9.0, "evaluate", ordinal=0),
            Sample("first_touch_time", cost * 2.0, "evaluate", ordinal=0),
            Sample("peak_memory", cost * 1e7, "evaluate", ordinal=0),
            Sample("noise_budget", 100.0 - cost, "evaluate", ordinal=0),
            Sample("heap_allocations", 10.0 * cost, "evaluate", ordinal=0),
        )
        profile = {"unmeasured": {"energy": "no powercap"}, "stacks": {"evaluate": STACKS}}
        case = make.case(variant, operation="add", vector_length=8192)
        outcomes.append(make.outcome(run, case, untimed, process=1, **profile))
        bits = tuple(
            Sample("noise_budget", 100.0 - 9 * count, "evaluate", ordinal=count, repetitions=count)
            for count in (0, 1, 2, 4)
        )
        outcomes.append(
            make.outcome(run, make.case(variant, experiment="noise", operation="mul", vector_length=16), bits)
        )
        deepest = (
            Sample("depth", 4.0, "evaluate", ordinal=0),
            Sample("is_at_max_repetitions", 0.0, "evaluate", ordinal=0),
        )
        case = make.case(
            variant, experiment="depth", operation="mul", vector_length=16, dimensions={"max_repetitions": 64}
        )
        outcomes.append(make.outcome(run, case, deepest))
        size = (Sample("size", 1e6, "ciphertext", ordinal=0),)
        case = make.case(variant, experiment="serialization", operation="none", vector_length=8192)
        outcomes.append(make.outcome(run, case, size))
        case = make.case(
            variant, experiment="repetition", operation="mul", vector_length=16, dimensions={"repetitions": 3}
        )
        outcomes.append(make.outcome(run, case, times(make, cost * 5 * factor)))
        case = make.case(
            variant, experiment="learning", operation="lmc-plain", dimensions={"data_set": "boston"}
        )
        outcomes.append(make.outcome(run, case, worked(make, cost * factor), programs=(program(variant),)))
        case = make.case(variant, experiment="key_generation", operation="key_pair")
        outcomes.append(make.outcome(run, case, times(make, cost * 5 * factor)))
    case = make.case("tenseal", operation="rotate(1)")
    outcomes.append(make.outcome(run, case, status="unsupported", error="it has none"))
    database.record_outcomes(outcomes)
    return run.id


@pytest.fixture(scope="module")
def run_id(database: Database, make: Maker) -> str:
    return recorded_run(make, database)


@pytest.fixture(scope="module")
def client(url: str, run_id: str) -> Iterator[TestClient]:
    with dashboard(url) as made:
        yield made


@pytest.fixture
def opened(new_url: Callable[[], str], empty_url: Callable[[], str]) -> Iterator[Callable[..., TestClient]]:
    """Opens a dashboard over a new database, migrated unless told otherwise."""
    with ExitStack() as clients:

        def open_(is_migrated: bool = True, fill: Callable[[Database], None] = lambda _: None) -> TestClient:
            made = new_url() if is_migrated else empty_url()
            if is_migrated:
                with Database.open(made) as database:
                    fill(database)
            return clients.enter_context(dashboard(made))

        yield open_


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src", "action") and value]


def links(text: str) -> list[str]:
    parser = _Links()
    parser.feed(text)
    return parser.found


def chosen(text: str) -> list[str]:
    """The values that are selected in the page's first two lists."""
    return re.findall(r'<option value="([^"]*)" selected', text)[:2]


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures cost most of all: tests/unit/test_figures_charts.py draws that of every figure."""
    monkeypatch.setattr(rendering, "svg", lambda *_: '<svg width="800" height="9"></svg>')


@pytest.mark.parametrize("path", [*(page.path for page in PAGES), "/runs", "/compare"])
def test_every_page_and_every_link_on_it_opens(
    client: TestClient, run_id: str, path: str, undrawn: None
) -> None:
    """The charts that it draws are offered as Vega-Lite, each as it is drawn, but for links of its marks."""
    answer = client.get(path, params={} if path in ("/compare", "/runs") else {"run": run_id})
    assert answer.status_code == 200, answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    found = {link for link in links(answer.text) if not link.startswith("#")}
    assert all(link.startswith("/") and not link.startswith("//") for link in found), found
    drawn = dict(
        re.findall(
            r'<script type="application/json" id="data-([\w-]+)">(.*?)</script>', answer.text, re.DOTALL
        )
    )
    offered = {}
    for link in found:
        if not link.split("?")[0].endswith((".png", ".pdf")):
            opened = client.get(link)
            assert opened.status_code == 200, link
            if name := re.match(r"/figures/([\w-]+)\.json\?", link):
                offered[name[1]] = opened.json()
    assert {name: theme.linked(specification) for name, specification in offered.items()} == {
        name: json.loads(specification) for name, specification in drawn.items()
    }


def test_the_leaderboard_ranks_by_the_cases_that_all_have(client: TestClient, run_id: str) -> None:
    rows = rows_of(client, "leaderboard", run=run_id)
    assert [row["variant"] for row in rows] == ["seal-hexl", "seal", "tenseal"]
    assert [float(row["mean_ratio"]) for row in rows] == pytest.approx([1, 2, 4])
    assert {row["common_cases"] for row in rows} == {"8"}
    assert {row["variant"]: row["unsupported"] for row in rows}["tenseal"] == "1"


def test_times_against_size_are_of_one_ring_that_has_several(client: TestClient, run_id: str) -> None:
    rows = rows_of(client, "latency-by-size", run=run_id)
    assert {row["vector_length"] for row in rows} == {"16", "8192"}
    assert len(rows) == len(VARIANTS) * 2 * 2
    assert rows_of(client, "latency-by-size", run=run_id, vector_length=16) == []
    page = client.get("/operations", params={"run": run_id, "vector_length": 16}).text
    assert "vectors of one length only" in page


def test_what_all_rows_of_the_grid_share_is_said_once(client: TestClient, run_id: str) -> None:
    page = client.get("/ranking", params={"run": run_id}).text
    assert "All rows: N 8192; Threads 1." in page
    assert page.count('<th scope="row">add<span class="narrow">16 · random</span></th>') == 1


def test_a_page_without_anything_says_where_to_look(
    client: TestClient, database: Database, make: Maker
) -> None:
    run = make.run()
    database.record_run(run)
    database.record_outcome(make.outcome(run, make.case("seal"), times(make, 1.0)))
    page = client.get("/learning", params={"run": run.id}).text
    assert "no results for this page" in page
    assert f'It has results on <a href="/ranking?run={run.id}">Ranking</a>.' in page
    assert "It has results on" not in client.get("/ranking", params={"run": run.id}).text


def test_a_run_is_compared_with_the_one_before_it_of_its_suite(
    opened: Callable[..., TestClient], make: Maker
) -> None:
    """Runs of unlike suites are compared only where the address names both."""
    runs = [make.run(suite_name=name) for name in ("quick", "smoke", "quick", "other", "smoke", "other")]
    part = make.run(suite_name="other")

    def fill(database: Database) -> None:
        for run in (*runs, part):
            database.record_run(run)
        database.query("update run set continues = %s where id = %s", [runs[-1].id, part.id], read_only=False)

    client = opened(fill=fill)
    quick, smoke, quick_2, other, smoke_2, other_2 = (run.id for run in runs)
    for params, expected in (
        ({}, [other, other_2]),
        ({"suite": "quick"}, [quick, quick_2]),
        ({"b": smoke_2}, [smoke, smoke_2]),
        ({"a": smoke_2}, [smoke_2, smoke]),
        ({"a": quick, "b": smoke}, [quick, smoke]),
        ({"a": quick, "b": quick_2, "suite": "smoke"}, [smoke, smoke_2]),
        ({"a": smoke_2, "b": smoke, "suite": "smoke"}, [smoke_2, smoke]),
    ):
        assert chosen(client.get("/compare", params=params).text) == expected, params
    assert "The suites differ." in client.get("/compare", params={"a": quick, "b": smoke}).text


def test_without_a_second_run_of_a_suite_the_page_names_the_command(
    opened: Callable[..., TestClient], make: Maker
) -> None:
    runs = [make.run(suite_name=name) for name in ("quick", "smoke")]
    reference = make.run(suite_name="quick")

    def fill(database: Database) -> None:
        for run in runs:
            database.record_run(run)
        database.add_reference(reference, [])

    client = opened(fill=fill)
    page = client.get("/compare").text
    assert "No suite has two runs." in page
    assert '<pre tabindex="0">ciphermark run smoke</pre>' in page
    page = client.get("/compare", params={"b": runs[0].id}).text
    assert "The suite quick has no second run." in page
    assert '<pre tabindex="0">ciphermark run quick</pre>' in page
    answer = client.get("/figures/two-runs.csv", params={"b": runs[0].id})
    assert answer.status_code == 404
    assert f"/compare?a={reference.id}&b={runs[0].id}" in links(page)  # where there is a reference run
    assert f"/compare?a={reference.id}" not in client.get("/compare").text
    assert chosen(client.get("/compare", params={"a": reference.id, "b": runs[0].id}).text) == [
        reference.id,
        runs[0].id,
    ]
    # Other pages lead to a comparison of the run only where there is one.
    assert "/compare" in links(client.get(f"/runs/{runs[0].id}").text)


def test_two_runs_that_were_corrected_by_unlike_rules_are_noted(
    opened: Callable[..., TestClient], make: Maker
) -> None:
    runs = [make.run() for _ in range(3)]

    def fill(database: Database) -> None:
        for run, gain in zip(runs, (1.0, 1.25, 1.25), strict=True):
            database.record_run(run)
            facts = {
                "reference_kernel_version": 2.0,
                "reference_kernel_s": 5e-5,
                "reference_kernel_spread": 0.1,
                "reference_kernel_gain": gain,
            }
            database.record_outcome(
                make.outcome(run, make.case("seal"), make.times([1.0] * 6), facts=facts | {"slowdown": 1.0})
            )

    client = opened(fill=fill)
    older, newer, latest = (run.id for run in runs)
    told = "the runs correct disturbed times by different rules (A: 1× the reference kernel"
    assert told in client.get("/compare", params={"a": older, "b": newer}).text
    assert "different rules" not in client.get("/compare", params={"a": newer, "b": latest}).text


def test_filters_choose(client: TestClient, run_id: str) -> None:
    rows = rows_of(client, "matrix", run=run_id, operation="add", variant=["seal", "tenseal"])
    assert {row["operation"] for row in rows} == {"add"}
    assert {row["variant"] for row in rows} == {"seal", "tenseal"}
    encrypt = rows_of(client, "latency", run=run_id, phase="encrypt", operation="add", data="constant")
    assert {row["phase"] for row in encrypt} == {"encrypt"}
    assert {row["data_pattern"] for row in encrypt} == {"constant"}


def answered(client: TestClient, url: str, run_id: str, name: str) -> list[dict[str, object]]:
    """What the figure's SQL answers to whoever executes it, and what is derived of that."""
    sql = client.get(f"/figures/{name}.sql", params={"run": run_id}).text
    with psycopg.connect(url) as connection:
        cursor = connection.execute(sql)
        answer = Answer(tuple(column.name for column in cursor.description), cursor.fetchall())
    derive = FIGURES[name].derive
    return (derive(answer, {"run_id": run_id}) if derive else answer).mappings


# Pages of what the run here has nothing of: test_figures_any_family and test_retrievals have runs for them.
_ELSEWHERE = ("/case", "/compare", "/workloads", "/retrieval", "/inference")
# Figures of bootstrapping, of several N, levels or numbers of threads, and of the times of both parties.
_NOTHING_OF = {
    "bootstrapping",
    "scaling",
    "cost-threads",
    "costs",
    "threads",
    *("predictions", "prediction-errors", "residuals", "track-record"),
    *(f"learning-{name}" for name in ("whole-cost", "profile", "threads")),
}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, figure in FIGURES.items()
        if FIGURE_PAGES[name].path not in _ELSEWHERE and figure is not LEADERBOARD and name not in _NOTHING_OF
    ],
)
def test_a_figure_is_what_its_sql_answers(client: TestClient, url: str, run_id: str, name: str) -> None:
    answer = answered(client, url, run_id, name)
    downloaded = rows_of(client, name, run=run_id)
    assert len(downloaded) == len(answer)
    assert answer
    for row, expected in zip(downloaded, answer, strict=True):
        for column, value in expected.items():
            if isinstance(value, float):
                assert float(row[column]) == value
            elif value is None:
                assert row[column] == ""


def test_the_leaderboard_is_made_of_what_its_sql_answers(client: TestClient, url: str, run_id: str) -> None:
    """Its rows are ranked in Python, of what the SQL answers."""
    answer = answered(client, url, run_id, "leaderboard")
    shown = rows_of(client, "leaderboard", run=run_id)
    assert [row["label"] for row in shown] == [row["label"] for row in answer]
    for row, expected in zip(shown, answer, strict=True):
        assert float(row["mean_ratio"]) == expected["mean_ratio"]
        assert row["common_cases"] == str(expected["common_cases"])


def test_programs_are_told_with_who_executed_the_same(client: TestClient, run_id: str) -> None:
    rows = rows_of(client, "programs", run=run_id)
    assert [(row["variant"], row["program"], row["is_equal_program"]) for row in rows] == [
        ("seal", "d" * 64, "False"),
        ("seal-hexl", "d" * 64, "False"),
        ("tenseal", "e" * 64, "False"),
    ]
    assert {
        (row["operation"], row["stage"], row["nodes"], row["program_depth"], row["live_ciphertexts"])
        for row in rows
    } == {("lmc-plain", "infer", "8", "1", "4")}
    # Whether all had the same, also where only one of them is shown.
    assert [row["is_equal_program"] for row in rows_of(client, "programs", run=run_id, variant="seal")] == [
        "False"
    ]
    counted = rows_of(client, "program-counts", run=run_id, variant="tenseal")
    assert [(row["counted"], row["level"], row["n"]) for row in counted] == [
        ("mul_plain", "2", "3"),
        ("rotate", "1", "5"),
    ]
    page = client.get("/programs", params={"run": run_id}).text
    assert "dddddddddddd</td>" in page


def test_pictures_of_figures(client: TestClient, run_id: str) -> None:
    assert client.get(f"/figures/speedup.svg?run={run_id}").text.startswith("<svg")
    assert client.get(f"/figures/speedup.png?run={run_id}").content.startswith(b"\x89PNG")
    assert client.get(f"/figures/speedup.pdf?run={run_id}").content.startswith(b"%PDF-")
    assert "vega-lite" in client.get(f"/figures/speedup.json?run={run_id}").json()["$schema"]
    assert client.get(f"/figures/matrix.svg?run={run_id}").status_code == 404
    answers = {kind: client.get(f"/answer.{kind}?run={run_id}").content for kind in ("svg", "png", "pdf")}
    beginnings = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF-"}
    assert {kind: data.lstrip()[: len(beginnings[kind])] for kind, data in answers.items()} == beginnings
    column = client.get(f"/figures/speedup.svg?run={run_id}&width=89mm&theme=dark").text
    assert re.match(r'<svg[^>]* width="89mm"', column)
    for text in (run_id[:8], "Test CPU", "N = 8192", "(2018)", "(2024)", "@font-face"):
        assert text in column
    assert client.get(f"/figures/speedup.svg?run={run_id}&width=89").status_code == 400
    assert client.get(f"/figures/speedup.gif?run={run_id}").status_code == 404
    assert client.get("/figures/nothing.csv").status_code == 404


def test_a_case_shows_every_sample(client: TestClient, run_id: str) -> None:
    key = rows_of(client, "matrix", run=run_id)[0]["comparison_group"]
    page = client.get("/case", params={"run": run_id, "case": key})
    assert page.status_code == 200
    samples = rows_of(client, "case-samples", run=run_id, case=key)
    assert len(samples) == len(VARIANTS) * 3 * 9


@pytest.mark.parametrize(
    ("address", "status", "told"),
    [
        ("/?run=nope", 404, "There is no run nope"),
        ("/case?run=last&case=gone", 404, "no such case"),
        ("/case?run=last&case=%00", 404, "This name does not exist"),
        ("/runs/gone", 404, "There is no run gone"),
        ("/ranking?colour=red", 400, "there is no filter"),
        ("/ranking?security=7", 400, "this run has 192"),
        ("/ranking?scheme=rsa&for=nothing", 200, "Scheme rsa: not available"),
        ("/ranking?variant=%3Cscript%3Ealert(1)%3C/script%3E", 400, "&lt;script&gt;"),
        ("/compare?a=nope", 404, "There is no run nope"),
        ("/compare?host_a=x&host_b=y", 400, "there is no filter"),
        ("/assets/0/style.css", 404, "This file does not exist"),
        ("/assets/0/..%2f..%2fmain.py", 404, ""),
    ],
)
def test_an_address_that_makes_no_sense_says_so(
    client: TestClient, address: str, status: int, told: str
) -> None:
    answer = client.get(address)
    assert answer.status_code == status
    assert told in answer.text
    assert "<script>alert" not in answer.text


def test_a_page_shows_the_latest_run_that_has_something_for_it(
    client: TestClient, database: Database, make: Maker
) -> None:
    """A page that is asked for no run; one that is asked for is shown, with nothing in it."""
    run_ids = []
    of_learning = {"data_set": "boston"}, worked(make, 1.0), (program("seal"),)
    for experiment, operation, dimensions, samples, programs in (
        ("rotation", "rotate(1)", {}, times(make, 1.0), ()),
        ("learning", "lmc-plain", *of_learning),
    ):
        run = make.run()
        database.record_run(run)
        case = make.case("seal", experiment=experiment, operation=operation, dimensions=dimensions)
        database.record_outcome(make.outcome(run, case, samples, programs=programs))
        run_ids.append(run.id)
    for path, expected in (("/operations", run_ids[0]), ("/learning", run_ids[1]), ("/programs", run_ids[1])):
        assert f'<option value="{expected}" selected>' in client.get(path).text, path
    asked = client.get("/operations", params={"run": run_ids[1]}).text
    assert f'<option value="{run_ids[1]}" selected>' in asked
    assert "This run has no results for this page" in asked


def test_pages_are_drawn_before_readers_ask(url: str, run_id: str, undrawn: None) -> None:
    """What pages show without a choice; nothing where the service stops meanwhile."""
    is_over = threading.Event()
    with Store(url) as store:
        views = Views(store)
        views.prepare(is_over)
        with patch.object(rendering, "filled", side_effect=AssertionError("it was asked before")):
            for page in PAGES:
                views._answering(page, ())
        is_over.set()
        with patch.object(rendering, "filled", side_effect=AssertionError("it is over")):
            Views(store).prepare(is_over)


def test_stale_filters_offer_a_way_out(client: TestClient, run_id: str) -> None:
    answer = client.get("/operations", params={"run": run_id, "n": "4096"})
    assert answer.status_code == 400
    assert client.get(f"/operations?run={run_id}").status_code == 200
    assert f"/operations?run={run_id}" in links(answer.text)


def test_an_empty_database_says_how_to_begin(opened: Callable[..., TestClient]) -> None:
    client = opened()
    for path in ("/", "/noise", "/compare"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "ciphermark run quick" in answer.text
    assert client.get("/runs").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_a_database_without_tables_says_what_to_do(opened: Callable[..., TestClient]) -> None:
    client = opened(is_migrated=False)
    answer = client.get("/")
    assert answer.status_code == 503
    assert "ciphermark db migrate" in answer.text
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_a_run_of_failures_only_shows_them(opened: Callable[..., TestClient], make: Maker) -> None:
    run = make.run()
    endless = "<img src=x onerror=alert(1)> " + "x" * 200_000

    def fill(database: Database) -> None:
        database.record_run(run)
        database.record_outcome(
            make.outcome(run, make.case("seal"), status="unsupported", error="<b>none</b>")
        )
        database.record_outcome(make.outcome(run, make.case("tenseal"), status="crashed", error=endless))

    client = opened(fill=fill)
    for page in PAGES:
        answer = client.get(page.path)
        assert answer.status_code == 200, page.path
        assert "<img src=x" not in answer.text
        assert len(answer.text) < 200_000
    ranking = client.get("/ranking").text
    assert "&lt;b&gt;none&lt;/b&gt;" in ranking
    assert "crashed" in ranking
    assert "No run has a timed case" in client.get("/").text
    detail = client.get(f"/runs/{run.id}").text
    assert "&lt;img src=x" in detail
    assert "<img src=x" not in detail


def test_what_comes_in_later_is_shown(client: TestClient, database: Database, make: Maker) -> None:
    run = make.run()
    database.record_run(run)
    database.record_outcome(make.outcome(run, make.case("seal"), times(make, 1.0)))
    assert len(rows_of(client, "matrix", run=run.id)) == 1
    database.record_outcome(make.outcome(run, make.case("tenseal"), times(make, 2.0)))
    assert len(rows_of(client, "matrix", run=run.id)) == 2
    database.record_outcome(make.outcome(run, make.case("tenseal"), times(make, 6.0), process=1))
    medians = {row["variant"]: float(row["median"]) for row in rows_of(client, "matrix", run=run.id)}
    assert medians["tenseal"] == pytest.approx(0.004, rel=0.01)


def rows_of_page(text: str) -> list[tuple[str, str]]:
    """The rows of changes on a page: their links and texts."""
    found = re.findall(r'<a class="drow change result" href="([^"]+)">(.*?)</a>', text, re.DOTALL)
    return [
        (link.replace("&amp;", "&"), " ".join(re.sub("<[^>]*>", " ", row).split())) for link, row in found
    ]


def test_two_runs_are_compared(client: TestClient, database: Database, make: Maker, run_id: str) -> None:
    """The page begins with the verdict, then come the regressions, each with a link to its case."""
    other = recorded_run(make, database, slower=2.0, variants=["seal"])
    rows = rows_of(client, "two-runs", a=run_id, b=other)
    of_times = [row for row in rows if row["metric"] == "time" and row["variant"] == "seal"]
    assert {row["verdict"] for row in of_times} == {"slower"}
    assert {round(float(row["ratio"]), 6) for row in of_times} == {2.0}
    page = client.get("/compare", params={"a": run_id, "b": other}).text
    kinds = Counter(row["verdict"].partition(":")[0] for row in rows)
    (verdict,) = re.findall(r"<h1>(\d+) of \d+ results are slower, ", page)
    assert int(verdict) == kinds["slower"] >= len(of_times)
    changed = rows_of_page(page)
    assert len(changed) == kinds["slower"] + kinds["worse"] + kinds["undecided"]
    regressions = changed[: kinds["slower"] + kinds["worse"]]
    assert {text.partition(" · ")[0].split()[-1] for _, text in regressions} == {"seal"}
    assert sum("2.00× [" in text for _, text in regressions) == len(of_times)
    link, _ = changed[0]
    assert link.startswith(f"/case?run={other}&case=")
    assert client.get(link).status_code == 200
    assert "▼ regression" in page
    assert "The hosts differ" not in page


def test_a_suite_with_three_runs_has_a_history_with_its_change_point(
    opened: Callable[..., TestClient], make: Maker
) -> None:
    """Another host has a history of its own; a run of it is no part of this one."""
    elsewhere = replace(make.run().host, hostname="elsewhere", fingerprint="cafe")
    ids: list[str] = []

    def fill(database: Database) -> None:
        for factor, changes in ((1.0, {}), (1.0, {}), (1.0, {"host": elsewhere}), (1.5, {}), (1.5, {})):
            run = make.run(**changes)
            database.record_run(run)
            for operation, cost in (("add", 1.0), ("mul", 4.0)):
                own = cost * (factor if operation == "add" else 1.0)
                database.record_outcome(make.outcome(run, make.case(operation=operation), times(make, own)))
            ids.append(run.id)

    client = opened(fill=fill)
    page = client.get("/compare").text
    assert "3 of 6 times changed over 4 runs" in page  # all phases of the operation
    assert "seal is 1.50× slower from 2025-01-01 0" in page
    assert page.count("<figure>") == 3
    assert "None of 6 results regressed: 6 unchanged." in page
    (key,) = {row["comparison_group"] for row in rows_of(client, "two-runs") if row["operation"] == "mul"}
    page = client.get("/compare", params={"case": key}).text
    assert page.count("<figure>") == 3
    assert "No change point in 4 runs" in page
    assert f'href="/case?run={ids[0]}&amp;case={key}"' in page
    assert ids[2] not in re.findall(r"/case\?run=([^&]+)", page)
    page = client.get("/compare", params={"a": ids[2], "b": ids[3]}).text
    assert "The hosts differ" in page
    assert " · bench · " in page  # where hosts differ, the names of runs include them


def test_where_all_variants_are_slower_alike_and_no_reference_kernel_says_why_it_is_a_regression(
    client: TestClient, database: Database, make: Maker, run_id: str
) -> None:
    other = recorded_run(make, database, slower=2.0)
    rows = rows_of(client, "two-runs", a=run_id, b=other)
    verdicts = {row["verdict"] for row in rows if row["metric"] == "time"}
    assert verdicts == {"slower: all 3 variants alike, without a reference kernel in both runs"}


def test_the_page_of_a_run_states_what_it_measured(client: TestClient, run_id: str) -> None:
    page = client.get(f"/runs/{run_id}", params={"for": "add", "scheme": "bfv"}).text
    text = " ".join(re.sub("<[^>]*>", " ", page.partition("<main")[2]).split())
    assert "quick measured 42 of 43 cases with 3 libraries; 1 unsupported." in text
    assert "Test CPU, 8 cores, Debian 13: unwatched" in text
    assert "seal-hexl fastest in" in text
    assert "Parameters" in text
    assert 'class="chain"' in page
    found = links(page)
    assert f"/operations?run={run_id}&for=add&scheme=bfv&operation=add" in found
    # The sections that a reader rarely needs are closed, and last.
    order = [page.index(f"<summary>{name}") for name in ("Host", "Builds", "Suite as YAML", "Journal")]
    assert order == sorted(order)
    assert order[0] > page.rindex("</section>")


def test_trials_that_ended_for_one_reason_are_one_row(
    client: TestClient, database: Database, make: Maker
) -> None:
    run = make.run()
    database.record_run(run)
    for operation in ("add", "mul", "negate", "rotate(1)", "square"):
        case = make.case("seal", operation=operation)
        database.record_outcome(make.outcome(run, case, status="unsupported", error="for want of keys"))
    database.record_outcome(make.outcome(run, make.case("seal"), status="crashed", error="signal 11"))
    page = client.get(f"/runs/{run.id}").text
    assert page.count("for want of keys") == 1
    assert "add, mul, negate and 2 more" in page
    assert page.index("signal 11") < page.index("for want of keys")


def test_lists_of_runs_keep_the_question(client: TestClient, run_id: str) -> None:
    found = links(client.get("/runs", params={"run": run_id, "for": "mul", "scheme": "bfv"}).text)
    assert f"/runs/{run_id}?for=mul&scheme=bfv" in found
    assert f"/operations?run={run_id}&for=mul&scheme=bfv&operation=mul" in found
    assert f"/runs/{run_id}" in links(client.get("/runs").text)


def test_parts_of_a_run_are_told_apart(client: TestClient, database: Database, make: Maker) -> None:
    first, second = make.run(), make.run()
    for run in (first, second):
        database.record_run(run)
        database.record_outcome(make.outcome(run, make.case("seal"), status="crashed", error=f"in {run.id}"))
    database.query("update run set continues = %s where id = %s", [first.id, second.id], read_only=False)
    page = client.get(f"/runs/{first.id}").text
    assert f"in {first.id}" in page
    assert f"in {second.id}" in page
    assert f"/?run={second.id}" in links(page)


def test_the_dashboard_cannot_write(url: str) -> None:
    with Store(url) as store, store._connected() as connection:
        assert connection.execute("select current_user").fetchone() == ("ciphermark_reader",)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("delete from run")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("set transaction read write; delete from run")


def test_where_the_role_has_no_rights_reading_goes_on(new_url: Callable[[], str]) -> None:
    url = new_url()
    with Database.open(url) as database:
        database.migrate()
        database.query("revoke select on run from ciphermark_reader", read_only=False)
    with Store(url) as store:
        assert store.ask("run_choices", {}).rows == []
