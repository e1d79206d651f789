"""The dashboard as its readers have it: Chromium, over a run with something for every page, beside all services."""

from __future__ import annotations

import csv
import fcntl
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import numpy as np
import psycopg
import pytest
import warm
from browsing import chromium, needs_chromium
from looking import access_faults
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from processes import PATIENCE_S, environment, wait_until
from serving import Serving, free_ports

from ciphermark_benchmark import reference_runs
from ciphermark_dashboards import rendering, report
from ciphermark_dashboards.store import Store
from ciphermark_workloads.inference.networks import stored

REPOSITORY = Path(__file__).parents[2]
PATIENCE_MS = 180_000  # of the browser, on a machine that is busy with other tests
RUN_TIMEOUT_MS = 300_000
MAX_BYTES = 700_000  # of scripts and styles, compressed
MAX_BYTES_WITHOUT_CHARTS = 50_000
# What is looked at: a run of the smoke suite, and of a workload of each kind of family, by four variants on a CPU that
# has what HEXL needs.
ARCHIVE = Path(__file__).with_name("every-page.jsonl.xz")
RUN = "a441020c"
SUITE = """\
name: from-the-page
budget: {min_samples: 6, warmups: 1, min_time_s: 0.6}
experiments:
  - {kind: rotation, variants: [tenseal], schemes: [bfv], ring_dimension: [4096], operations: [rotate(1)]}
  - {kind: arithmetic, variants: [seal], schemes: [bfv], ring_dimension: [4096], operations: [add, mul]}
"""

FAILING = """\
name: partly
budget: {min_samples: 500, warmups: 1, min_time_s: 60, timeout_s: 600}
experiments:
  - {kind: rotation, variants: [tenseal], schemes: [bfv], ring_dimension: [4096]}
  - {kind: arithmetic, variants: [seal], schemes: [bfv], ring_dimension: [4096], operations: [add]}
"""
SEVEN = ((80, 60), (200, 60), (130, 235))

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str]) -> Iterator[Serving]:
    """All services, over a database with the archive alone."""
    data_directory, database_url = tmp_path_factory.mktemp("dashboard") / "data", new_url()
    variables = environment(CIPHERMARK_DATA=str(data_directory), CIPHERMARK_DATABASE_URL=database_url)
    with psycopg.connect(database_url) as connection:  # has had them: their import takes 12 s
        for name in reference_runs.ORDER:
            run_id = reference_runs.run_id(reference_runs.FOLDER / f"{name}.jsonl.xz")
            connection.execute("insert into reference_run (id) values (%s)", [run_id])
    _, errors = warm.command(["runs", "import", str(ARCHIVE)], variables, REPOSITORY).communicate(PATIENCE_S)
    assert b"Traceback" not in errors, errors
    made = Serving(data_directory, free_ports(), database_url=database_url)
    try:
        made.wait_until_serving()
        yield made
    finally:
        if made.process.poll() is None:
            made.end()
    for log in (data_directory / "logs").glob("*.log"):
        assert "Traceback" not in log.read_text(), log.read_text()
        assert made.token("dashboard") not in log.read_text()


def logged_in(browser: Browser, serving: Serving) -> BrowserContext:
    """A browser of somebody who has the token."""
    context = browser.new_context(base_url=serving.url("dashboard"))
    context.set_default_timeout(PATIENCE_MS)
    context.request.get(f"/login?token={serving.token('dashboard')}")
    return context


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


@pytest.fixture(scope="module")
def reader(browser: Browser, serving: Serving) -> Iterator[BrowserContext]:
    """Somebody who has logged in, and whose browser has all scripts after the first page."""
    context = logged_in(browser, serving)
    yield context
    context.close()


@pytest.fixture
def watched(reader: BrowserContext, serving: Serving) -> Iterator[Watched]:
    found = Watched(reader.new_page())
    found.page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((serving.url("dashboard"), "data:"))
            else found.complaints.append(request.url)
        ),
    )
    yield found
    found.page.close()


def test_the_printed_address_logs_in_and_does_not_stay(browser: Browser, serving: Serving) -> None:
    url = serving.url("dashboard")
    context = browser.new_context(base_url=url)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto("/noise")
    assert page.url == f"{url}/login?next=/noise"
    page.goto(f"/login?token={serving.token('dashboard')}")
    assert page.url == f"{url}/"
    # A link on another site's page opens what it names, and asks for no log-in.
    page.goto(f"data:text/html,<a href='{url}/noise'>there</a>")
    page.get_by_text("there").click()
    page.wait_for_url(f"{url}/noise")
    context.close()


def opened(page: Page, path: str) -> None:
    page.goto(path)
    page.wait_for_load_state("networkidle")


def charts(page: Page) -> int:
    """How many charts are drawn; all of them must be."""
    expect(page.locator("[data-specification]:not(:has(svg))")).to_have_count(0)
    return page.locator("[data-specification] svg[role=img]").count()


@pytest.mark.parametrize("width", [360, pytest.param(1200, marks=pytest.mark.extended)])
def test_a_report_is_for_everyone(
    browser: Browser, serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """In a browser without the dashboard, on a screen or on a telephone; a section of each page, with one picture."""
    picture = rendering.svg({"data": {"values": [{}]}, "mark": "point", "width": 760})
    monkeypatch.setattr(rendering, "svg", lambda *_: picture)
    path = tmp_path / "report.html"
    with Store(serving.database_url) as store:
        whole = report.made(store, RUN)
    of_pages = {section.title.partition(":")[0]: section for section in whole.sections}
    report.write(replace(whole, sections=(*of_pages.values(),)), path, "html")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri(), timeout=PATIENCE_MS)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert access_faults(page, is_brief=width == 360) == []
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
    opened(page, "/ranking")
    assert page.locator("table.grid th", has_text="pyfhel").count() == 1
    page.get_by_text("More filters").click()
    page.get_by_label("pyfhel", exact=True).uncheck()
    page.wait_for_url("**variant=seal**")
    assert "operation=" not in page.url  # all of them is what an address without them means
    expect(page.locator("table.grid th", has_text="pyfhel")).to_have_count(0)
    expect(page.get_by_text("More filters (1 set)")).to_be_visible()
    page.get_by_label("Scheme").select_option("ckks")
    page.wait_for_url("**scheme=ckks**")
    expect(page.locator("table.grid")).not_to_contain_text("rotate")
    page.wait_for_load_state("networkidle")
    address, text = page.url, page.locator("main").inner_text()
    opened(page, address)
    assert page.locator("main").inner_text() == text
    watched.require_silence()


def test_a_page_can_be_used_without_a_mouse(watched: Watched) -> None:
    """A row of keys or ticks applies when it has ended, and what had the focus has it on the next page."""
    page = watched.page
    opened(page, "/ranking")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    details = page.locator("section[aria-labelledby=matrix] > details")
    expect(details.locator("table")).to_be_hidden()
    details.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(details.locator("table")).to_be_visible()
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    scheme = page.get_by_label("Scheme")
    scheme.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(scheme).to_have_value("ckks")
    page.wait_for_url("**scheme=ckks**")
    expect(scheme).to_be_focused()
    page.get_by_text("More filters").focus()
    page.keyboard.press("Enter")
    tick = page.get_by_label("pyfhel", exact=True)
    tick.focus()
    page.keyboard.press("Space")
    page.wait_for_url("**variant=**")
    expect(tick).to_be_focused()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    watched.require_silence()


def test_the_overview_answers_and_its_choices_lead_on(watched: Watched) -> None:
    """The answer is on the first screen of a desk and of a telephone; a choice and a row change it."""
    page = watched.page
    for width, height in ((1400, 450), (390, 600)):
        page.set_viewport_size({"width": width, "height": height})
        opened(page, "/")
        for result in (page.locator("h1"), page.locator(".board .lib").first):
            box = result.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height
    page.get_by_label("Computation", exact=True).select_option("mul_plain")
    page.wait_for_url("**for=mul_plain**")
    expect(page.get_by_label("Computation", exact=True)).to_be_focused()
    expect(page.locator("h1")).to_contain_text("seal")
    assert page.get_by_role("row").count() > 2
    row = page.locator(".drow a.n", has_text="add two ciphertexts")
    row.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**for=add&**")
    expect(page.locator(".drow a[aria-current]")).to_contain_text("add two ciphertexts")
    answer = page.locator("h1").inner_text()
    # The question goes along to other pages, and comes back.
    page.get_by_role("link", name="Operations").click()
    page.wait_for_url("**/operations?**operation=add**")
    page.get_by_role("link", name="Limits").click()
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url("**for=add**")
    expect(page.locator("h1")).to_have_text(answer)
    page.locator(".board .lib a").first.click()
    page.wait_for_url("**/case?**")
    watched.require_silence()


def test_every_cell_leads_to_its_case(watched: Watched) -> None:
    page = watched.page
    opened(page, "/ranking")
    rotation = page.locator("table.grid tr", has_text="rotate_columns").first
    rotation.locator("a", has_text="unsupported").last.click()
    page.wait_for_url("**/case?**")
    expect(page.locator("main")).to_contain_text("TenSEAL")
    watched.require_silence()


@pytest.mark.parametrize(
    ("path", "figure"),
    [("/hexl", "speedup"), pytest.param("/memory", "sizes", marks=pytest.mark.extended)],
)
def test_downloads_hold_what_sql_answers(watched: Watched, serving: Serving, path: str, figure: str) -> None:
    page = watched.page
    opened(page, path)
    section = page.locator(f"section[aria-labelledby={figure}]")
    with page.expect_download() as waiting:
        section.get_by_role("link", name="CSV").click()
    rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text())))
    sql = page.request.get(section.get_by_role("link", name="SQL").get_attribute("href")).text()
    with psycopg.connect(serving.database_url) as connection:
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


def test_scripts_and_styles_come_once(browser: Browser, serving: Serving) -> None:
    context = logged_in(browser, serving)
    page = context.new_page()
    transferred = (
        "performance.getEntriesByType('resource').filter(item => /[.](js|css)$/.test(item.name))"
        ".reduce((sum, item) => sum + item.transferSize, 0)"
    )
    opened(page, "/runs")
    assert 0 < page.evaluate(transferred) < MAX_BYTES_WITHOUT_CHARTS
    opened(page, "/noise")
    assert MAX_BYTES_WITHOUT_CHARTS < page.evaluate(transferred) < MAX_BYTES
    opened(page, "/operations")
    assert page.evaluate(transferred) == 0
    context.close()


# A digit that a visitor draws: through the browser, the dashboard and the three other services


def draw(page: Page, points: tuple[tuple[int, int], ...]) -> None:
    box = page.locator("#pad").bounding_box()
    assert box is not None
    for number, (x, y) in enumerate(points):
        page.mouse.move(box["x"] + x, box["y"] + y, steps=8)
        if number == 0:
            page.mouse.down()
    page.mouse.up()


def png(pixels: np.ndarray) -> bytes:
    """A grey picture (rows, columns) of values from 0 to 255."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.astype(np.uint8).tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_a_drawn_digit_is_classified_and_both_parties_are_told_of(serving: Serving, watched: Watched) -> None:
    page = watched.page
    opened(page, "/draw")
    page.get_by_role("button", name="Classify").click()
    expect(page.get_by_role("status")).to_have_text("Draw a digit first.")
    draw(page, SEVEN)
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Classify").click()
    expect(page.get_by_role("status")).to_have_text("Draw a digit first.")
    assert page.locator("#answer").count() == 0
    draw(page, SEVEN)
    page.get_by_label("Library").select_option("seal")
    page.get_by_role("button", name="Classify").click()
    expect(page.locator("#answer")).to_have_text("Classified as 7")
    expect(page.locator("main")).to_contain_text("The unencrypted network agrees.")
    expect(page.get_by_label("Library")).to_have_value("seal")
    told = page.get_by_role("table", name="Steps").locator("tbody tr").all_inner_texts()
    assert any(row.startswith("client") and "encrypts" in row for row in told)
    assert any(row.startswith("server") and "on ciphertexts" in row for row in told)
    assert not any(row.startswith("server") and ("decrypts" in row or "keys" in row) for row in told)
    sent = page.get_by_role("table", name="Transfers").locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[1] for row in sent] == ["server", "server", "client"]
    for width in (360, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, width
    assert access_faults(page) == []
    watched.require_silence()
    # The key was the session's, and the session is over.
    for name in ("client", "server"):
        wait_until(lambda name=name: asked(serving, name, "GET", "/v1/sessions").json() == [], "it is over")


@pytest.mark.extended
@pytest.mark.parametrize("is_dark", [False, True], ids=["ink on paper", "light on dark"])
def test_a_picture_is_classified(watched: Watched, is_dark: bool) -> None:
    """One of the images that are shipped, as a picture: of those whose class the network is surest of."""
    page = watched.page
    opened(page, "/draw")
    shipped = stored.shipped("lola-mnist")
    logits = np.sort(shipped.network.logits(shipped.images), axis=1)
    number = int(np.argmax(logits[:, -1] - logits[:, -2]))
    ink = np.round(255 * shipped.images[number])
    picture = {"name": "digit.png", "mimeType": "image/png", "buffer": png(ink if is_dark else 255 - ink)}
    page.get_by_label("Or choose a picture").set_input_files([picture])  # type: ignore[list-item]
    # It is on the pad when the pad has ink.
    page.wait_for_function(
        "document.getElementById('pad').getContext('2d').getImageData(0, 0, 280, 280).data.some(value => value > 0)"
    )
    page.get_by_role("button", name="Classify").click()
    expect(page.locator("#answer")).to_have_text(f"Classified as {shipped.labels[number]}")
    watched.require_silence()


def asked(serving: Serving, name: str, method: str, path: str, **more: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {serving.token(name)}"}
    url = f"{serving.url(name)}{path}"
    return httpx.request(method, url, headers=headers, timeout=PATIENCE_S, **more)  # type: ignore[arg-type]


def refused(serving: Serving, status: int, **body: object) -> str:
    answer = asked(serving, "benchmark", "POST", "/v1/classifications", json={"variant": "seal", **body})
    assert answer.status_code == status, answer.text
    return str(answer.json()["detail"])


def test_what_cannot_be_classified_is_refused_with_the_reason(serving: Serving) -> None:
    empty = [0.0] * 784
    assert "28 × 28 pixels, 784 numbers row by row, and not 783" in refused(serving, 422, pixels=empty[1:])
    assert "less than or equal to 1" in refused(serving, 422, pixels=[255.0, *empty[1:]])
    assert "unknown variant 'nonesuch'" in refused(serving, 422, pixels=empty, variant="nonesuch")
    assert "no rotation" in refused(serving, 422, pixels=empty, variant="tenseal")
    assert "generates its inputs" in refused(serving, 422, pixels=empty, workload="fast-pir")
    with (serving.data_directory / "run.lock").open() as lock:  # as a run has it that is being measured
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "a run is being measured" in refused(serving, 429, pixels=empty)


def test_those_that_can_are_offered(serving: Serving) -> None:
    """TenSEAL has no rotations, and what computes in the clear encrypts nothing."""
    told = asked(serving, "benchmark", "GET", "/v1/classifications").json()
    assert (told["workload"], told["side"]) == ("lola-mnist", 28)
    assert {"seal", "pyfhel"} <= set(told["variants"])
    assert {"tenseal", "cleartext"}.isdisjoint(told["variants"])


def test_a_form_of_another_site_is_refused(serving: Serving) -> None:
    headers = {"Origin": "http://elsewhere.example"}
    url = f"{serving.url('dashboard')}/draw"
    cookies = httpx.get(url.replace("/draw", "/login"), params={"token": serving.token("dashboard")}).cookies
    answer = httpx.post(url, headers=headers, cookies=cookies, data={"pixels": "1", "variant": "seal"})
    assert answer.status_code == 403


# Runs, last: what is measured keeps the host from classifying


def test_a_run_started_from_the_page_finishes_on_the_page(watched: Watched) -> None:
    page = watched.page
    opened(page, "/runs")
    expect(page.locator("#suite option", has_text="smoke")).to_have_count(1)
    page.get_by_text("Or a suite of your own").click()
    page.get_by_label("Suite as YAML").fill("name: x\nexperiments: [{kind: arithmetics}]\n")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("main")).to_contain_text("did you mean 'arithmetic'")
    watched.complaints.clear()  # the browser's of the refusal
    opened(page, "/runs")
    page.get_by_text("Or a suite of your own").click()
    page.get_by_label("Suite as YAML").fill(SUITE)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*-*")
    # Of a page that is not loaded again: a page as it comes has nothing there.
    expect(page.locator("#run-last")).to_contain_text("bfv", timeout=RUN_TIMEOUT_MS)
    expect(page.locator("#run-failure")).to_contain_text("unsupported: TenSEAL")
    expect(page.locator("#outcomes")).to_be_visible(timeout=RUN_TIMEOUT_MS)
    expect(page.locator("#run-state")).to_have_text("done")
    expect(page.locator("#run-done")).to_have_text("3")
    page.get_by_role("region", name="Questions that it answers").get_by_role("link", name="Overview").click()
    expect(page.locator("h1")).to_contain_text("Only seal was measured")
    expect(page.locator("form.question")).to_contain_text("multiply two ciphertexts")
    watched.require_silence()


@pytest.mark.extended  # tests/integration/test_dashboards_live.py cancels one without a browser
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
