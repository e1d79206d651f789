"""The dashboard as its readers have it: Chromium, over a run with something for every page, beside the service."""

from __future__ import annotations

import csv
import io
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import psycopg
import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import chromium, needs_chromium
from playwright.sync_api import Browser, Page, expect, sync_playwright
from ports import free_port
from processes import PATIENCE_S, environment

from ciphermark_db import embedded

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
PATHS = (
    "/",
    "/operations",
    "/hexl",
    "/noise",
    "/memory",
    "/learning",
    "/retrieval",
    "/inference",
    "/workloads",
    "/programs",
    "/runs",
    "/compare",
)
# Widths of screens, each of the twelve pages at each of them: a page takes a second to be drawn.
LOOKS = [((1600, 360), "dark"), pytest.param((1200, 768, 1920), "light", marks=pytest.mark.extended)]
ROOMY = {1200, 1600}
PATIENCE_MS = 180_000  # of the browser, on a machine that is busy with other tests
RUN_TIMEOUT_MS = 300_000
WITHOUT_CHARTS = {"/runs"}
# What is looked at: a run of the smoke suite, and of a workload of each kind of family, by four variants on a CPU that
# has what HEXL needs.
ARCHIVE = Path(__file__).with_name("every-page.jsonl.xz")
RUN = "a441020c"
SUITE = """\
name: from-the-page
budget: {samples: 6, warmups: 1, min_time_s: 0.6}
experiments:
  - {kind: arithmetic, variants: [seal, tenseal], schemes: [bfv], ring_dimension: [4096], operations: [add, mul]}
"""

FAILING = """\
name: partly
budget: {samples: 500, warmups: 1, min_time_s: 60, timeout_s: 600}
experiments:
  - {kind: rotation, variants: [tenseal], schemes: [bfv], ring_dimension: [4096]}
  - {kind: arithmetic, variants: [seal], schemes: [bfv], ring_dimension: [4096], operations: [add]}
"""
TOKEN = "the-token-of-the-dashboard"

pytestmark = needs_chromium


def ciphermark(home: Path, *arguments: str) -> None:
    """A command that ends well."""
    command = [PROGRAMS / "ciphermark", *arguments]
    variables = environment(CIPHERMARK_HOME=str(home))
    subprocess.run(command, env=variables, check=True, capture_output=True, timeout=PATIENCE_S)


@dataclass
class Site:
    """The dashboard, the service beside it, and the database of both."""

    url: str
    database_url: str
    home: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)

    def start(self, name: str, *command: str, **variables: str) -> None:
        log = self.home / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(PROGRAMS / command[0]), *command[1:]],
                env=environment(CIPHERMARK_HOME=str(self.home), **variables),
                cwd=REPOSITORY,
                stdout=output,
                stderr=output,
            )
        self.processes.append(process)
        self.logs.append(log)


def wait_until_ready(url: str) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            if urlopen(f"{url}/readyz", timeout=60).status == 200:
                return
        except OSError:
            assert time.monotonic() < deadline_s, url
        time.sleep(0.1)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("dashboard") / "home"
    try:
        ciphermark(home, "runs", "import", str(ARCHIVE))
        service, dashboard = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        made = Site(dashboard, embedded.ensure_started(home), home)
        token = {"CIPHERMARK_BENCHMARK_TOKEN": "the-token-of-the-benchmark-service"}
        made.start(
            "service", "ciphermark", "serve", "--worker", CIPHERMARK_PORT=service.rpartition(":")[2], **token
        )
        made.start(
            "dashboard",
            "ciphermark-dashboard",
            CIPHERMARK_DATABASE_URL=made.database_url,
            CIPHERMARK_BENCHMARK_URL=service,
            CIPHERMARK_DASHBOARD_TOKEN=TOKEN,
            CIPHERMARK_PORT=dashboard.rpartition(":")[2],
            **token,
        )
        for url in (service, dashboard):
            wait_until_ready(url)
        yield made
        for process in made.processes:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)
        for log in made.logs:
            assert "Traceback" not in log.read_text(), log.read_text()
            assert TOKEN not in log.read_text()
    finally:
        embedded.stop(home)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        found = chromium(playwright)
        yield found
        found.close()


@dataclass
class Watched:
    """A page, and what its browser complained of or asked elsewhere."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def require_silence(self) -> None:
        assert self.complaints == []


@pytest.fixture
def watched(browser: Browser, site: Site) -> Iterator[Watched]:
    context = browser.new_context(base_url=site.url)
    context.set_default_timeout(PATIENCE_MS)
    context.request.get(f"/login?token={TOKEN}")
    found = Watched(context.new_page())
    found.page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on(
        "request",
        lambda request: (
            None if request.url.startswith((site.url, "data:")) else found.complaints.append(request.url)
        ),
    )
    yield found
    context.close()


def test_the_printed_address_logs_in_and_does_not_stay(browser: Browser, site: Site) -> None:
    context = browser.new_context(base_url=site.url)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto("/noise")
    assert page.url == f"{site.url}/login?next=/noise"
    page.goto(f"/login?token={TOKEN}")
    assert page.url == f"{site.url}/"
    # A link on another site's page opens what it names, and asks for no log-in.
    page.goto(f"data:text/html,<a href='{site.url}/noise'>there</a>")
    page.get_by_text("there").click()
    page.wait_for_url(f"{site.url}/noise")
    context.close()


def opened(page: Page, path: str) -> None:
    page.goto(path)
    page.wait_for_load_state("networkidle")


def charts(page: Page) -> int:
    """How many charts are drawn; all of them must be."""
    expect(page.locator("[data-specification]:not(:has(svg))")).to_have_count(0)
    return page.locator("[data-specification] svg[role=img]").count()


@pytest.mark.parametrize(("widths", "scheme"), LOOKS, ids=("everyday", "more"))
def test_every_page_opens_in_silence_and_fits_the_screen(
    watched: Watched, widths: tuple[int, ...], scheme: str
) -> None:
    """Where there is room, its navigation takes one line, no chart is cut, and it is for everyone."""
    page = watched.page
    page.emulate_media(color_scheme=scheme)
    for path in PATHS:
        page.set_viewport_size({"width": widths[0], "height": 900})
        opened(page, path)
        assert (charts(page) > 0) == (path not in WITHOUT_CHARTS), path
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function(
                "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            )
            if width in ROOMY:
                require_one_line(page, path)
                page.wait_for_function(
                    "() => [...document.querySelectorAll('.chart')]"
                    ".every(item => item.scrollWidth <= item.clientWidth)"
                )
        page.set_viewport_size({"width": widths[0], "height": 900})
        assert faults(page) == [], path
    watched.require_silence()


def require_one_line(page: Page, path: str) -> None:
    """The names of all pages stand beside that of the program and the switch of the theme."""
    tops = "items => new Set(items.map(item => item.offsetTop)).size"
    assert page.locator("header.site nav li").evaluate_all(tops) == 1, path
    name, *others = (
        page.locator(f"header.site {part}").bounding_box() for part in (".name", "nav", "#theme")
    )
    assert all(other["y"] < name["y"] + name["height"] for other in others), path


def faults(page: Page) -> list[str]:
    """What axe finds that keeps somebody from using the page."""
    found = Axe().run(page).response["violations"]
    return [f"{item['id']}: {item['help']}" for item in found if item["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("width", [360, pytest.param(1200, marks=pytest.mark.extended)])
def test_a_report_is_for_everyone(browser: Browser, site: Site, tmp_path: Path, width: int) -> None:
    """In a browser without the dashboard, on a screen or on a telephone."""
    path = tmp_path / "report.html"
    ciphermark(site.home, "report", RUN, "-o", str(path))
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri(), timeout=PATIENCE_MS)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    page.close()


@pytest.mark.parametrize("width", [360, pytest.param(1400, marks=pytest.mark.extended)])
def test_charts_fill_the_page_and_are_not_wider(watched: Watched, width: int) -> None:
    """Small charts stand in as many columns as there is room for; turned, a screen is filled again."""
    page = watched.page
    page.set_viewport_size({"width": 1400 if width == 360 else 360, "height": 900})
    opened(page, "/operations")
    charts(page)
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(
        """() => [...document.querySelectorAll(".chart")].every(chart => {
            const share = chart.querySelector("svg").width.baseVal.value / chart.clientWidth;
            return 0.9 < share && share <= 1;
        })"""
    )
    watched.require_silence()


def test_filters_work_and_make_a_permanent_address(watched: Watched) -> None:
    page = watched.page
    opened(page, "/")
    assert page.locator("table.grid th", has_text="pyfhel").count() == 1
    page.get_by_label("pyfhel", exact=True).uncheck()
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**variant=seal**")
    assert "operation=" not in page.url  # all of them is what an address without them means
    expect(page.locator("table.grid th", has_text="pyfhel")).to_have_count(0)
    page.get_by_label("Scheme").select_option("ckks")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**scheme=ckks**")
    expect(page.locator("table.grid")).not_to_contain_text("rotate")
    address, text = page.url, page.locator("main").inner_text()
    opened(page, address)
    assert page.locator("main").inner_text() == text
    watched.require_silence()


def test_a_page_can_be_used_without_a_mouse(watched: Watched) -> None:
    page = watched.page
    opened(page, "/")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    details = page.locator("section[aria-labelledby=matrix] details")
    expect(details.locator("table")).to_be_hidden()
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(details.locator("table")).to_be_visible()
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    opened(page, "/operations")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_nothing_is_sent_before_the_button(watched: Watched) -> None:
    """WCAG 3.2.2: an arrow key or a tick changes a field, not the page; what has the focus keeps it."""
    page = watched.page
    opened(page, "/")
    scheme = page.get_by_label("Scheme")
    scheme.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(scheme).to_have_value("ckks")
    tick = page.get_by_label("pyfhel", exact=True)
    tick.focus()
    page.keyboard.press("Space")
    expect(tick).to_be_focused()
    assert "?" not in page.url
    page.keyboard.press("Enter")
    page.wait_for_url("**scheme=ckks**")
    watched.require_silence()


def test_every_cell_leads_to_its_case(watched: Watched) -> None:
    page = watched.page
    opened(page, "/")
    rotation = page.locator("table.grid tr", has_text="rotate_columns").first
    rotation.locator("a", has_text="unsupported").last.click()
    page.wait_for_url("**/case?**")
    expect(page.locator("main")).to_contain_text("TenSEAL")
    watched.require_silence()


@pytest.mark.parametrize(
    ("path", "figure"),
    [("/hexl", "speedup"), pytest.param("/memory", "sizes", marks=pytest.mark.extended)],
)
def test_downloads_hold_what_sql_answers(watched: Watched, site: Site, path: str, figure: str) -> None:
    page = watched.page
    opened(page, path)
    section = page.locator(f"section[aria-labelledby={figure}]")
    with page.expect_download() as waiting:
        section.get_by_role("link", name="CSV").click()
    rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text())))
    sql = page.request.get(section.get_by_role("link", name="SQL").get_attribute("href")).text()
    with psycopg.connect(site.database_url) as connection:
        cursor = connection.execute(sql.encode())
        assert rows[0] == [column.name for column in cursor.description]
        answer = cursor.fetchall()
    assert len(rows) == len(answer) + 1
    numbers = 0
    for row, expected in zip(rows[1:], answer, strict=True):
        for text, value in zip(row, expected, strict=True):
            if isinstance(value, float):
                numbers += 1
                assert float(text) == value
    assert numbers
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("PDF", b"%PDF-"), ("Vega-Lite", b"{")):
        link = section.get_by_role("link", name=kind).get_attribute("href")
        assert page.request.get(link).body().startswith(start)


def test_scripts_and_styles_come_once(watched: Watched) -> None:
    transferred = (
        "performance.getEntriesByType('resource').filter(item => /[.](js|css)$/.test(item.name))"
        ".reduce((sum, item) => sum + item.transferSize, 0)"
    )
    opened(watched.page, "/")
    assert 0 < watched.page.evaluate(transferred) < 1_000_000
    opened(watched.page, "/noise")
    assert watched.page.evaluate(transferred) == 0


def test_a_run_started_from_the_page_finishes_on_the_page(watched: Watched) -> None:
    page = watched.page
    opened(page, "/runs")
    expect(page.locator("#suite option", has_text="smoke")).to_have_count(1)
    page.get_by_text("Or a suite of your own").click()
    page.get_by_label("Suite as YAML").fill(SUITE)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*-*")
    # Of a page that is not loaded again: a page as it comes has nothing there.
    expect(page.locator("#run-last")).to_contain_text("bfv", timeout=RUN_TIMEOUT_MS)
    expect(page.locator("#run-done")).to_have_text(re.compile("[1-3]"))
    expect(page.locator("#outcomes")).to_be_visible(timeout=RUN_TIMEOUT_MS)
    expect(page.locator("#run-state")).to_have_text("done")
    expect(page.locator("#run-done")).to_have_text("4")
    page.get_by_role("link", name="See its results").click()
    expect(page.locator("table.grid")).to_contain_text("mul")
    watched.require_silence()


@pytest.mark.extended  # test_what_failed_is_told_while_the_run_goes_on cancels one, too
def test_a_run_is_cancelled_from_the_page(watched: Watched) -> None:
    page = watched.page
    opened(page, "/runs")
    page.get_by_label("Suite", exact=True).select_option("pir-report")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*-*")
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.locator("#run-state")).to_have_text("cancelled", timeout=RUN_TIMEOUT_MS)
    watched.require_silence()


def test_what_failed_is_told_while_the_run_goes_on(watched: Watched) -> None:
    page = watched.page
    opened(page, "/runs")
    page.get_by_text("Or a suite of your own").click()
    page.get_by_label("Suite as YAML").fill(FAILING)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*-*")
    expect(page.locator("#run-failure")).to_contain_text("unsupported: TenSEAL", timeout=RUN_TIMEOUT_MS)
    expect(page.locator("#run-state")).to_have_text("running")
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.locator("#run-state")).to_have_text("cancelled", timeout=RUN_TIMEOUT_MS)
    watched.require_silence()


def test_a_mistake_in_a_suite_is_told(watched: Watched) -> None:
    page = watched.page
    opened(page, "/runs")
    page.get_by_text("Or a suite of your own").click()
    page.get_by_label("Suite as YAML").fill("name: x\nexperiments: [{kind: arithmetics}]\n")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("main")).to_contain_text("arithmetic")
