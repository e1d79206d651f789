"""Section ``dashboard``: its pages over 10,000,000 samples of 500 runs and over the reference results, with and without
Chromium.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, sleep, time
from typing import Any

import httpx
import psycopg
from playwright.sync_api import BrowserContext, Page, sync_playwright

from bench.processes import BIN, QUICK, ROOT, Service, environment, fresh_data_directory, run_suite, serving
from bench.results import BenchResult, Progress, Target
from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_dashboards.pages import PAGES
from ciphermark_dashboards.store import parsed

RUNS = 500
SAMPLES = 10_000_000
CHROMIUM = "chromium"
_AT_ONCE = 10  # runs that are added in one statement
_ASKED = 20  # runs for which every page is requested
_PAINTS = 3
_SQL = Path(__file__).with_suffix(".sql")
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_SIZES = (
    "performance.getEntriesByType('resource').filter(e => /\\.(js|css)$/.test(e.name))"
    ".reduce((sum, e) => sum + e.transferSize, 0)"
)
# Milliseconds from a choice until the new content is painted.
_CHANGE = """async ([selector, isLink]) => {
    const item = [...document.querySelectorAll(selector)].at(-1), main = document.querySelector("main");
    const start = performance.now();
    if (isLink) item.click();
    else {
        item.selectedIndex = (item.selectedIndex + 1) % item.options.length;
        item.dispatchEvent(new Event("change", {bubbles: true}));
    }
    while (document.querySelector("main") === main) await new Promise((resolve) => setTimeout(resolve, 1));
    // A message arrives after the frame's paint, and before the timer by which the page goes on with charts.
    const {port1, port2} = new MessageChannel();
    await new Promise((resolve) => { port1.onmessage = resolve; requestAnimationFrame(() => port2.postMessage(0)); });
    return performance.now() - start;
}"""
# Address, selector of what is changed, whether it is a link.
_INTERACTIONS = {
    "a computation": ("/", "select[name=for]", False),
    "an order": ("/", ".row.head a:not([aria-current])", True),
    "a row": ("/", ".drow a.n:not([aria-current])", True),
    "a filter": ("/operations?run=last:quick", "select[name=scheme]", False),
    "a security table": ("/ranking?run=last:quick", "select[name=table]", False),
}
_CHANGES = 5  # of each kind; the first one may find nothing cached
# Trials of a job that are recorded, and whether it has ended.
_PROGRESS = (
    "select count(t.id), j.ended_at is not null from job as j left join trial as t on t.run_id = j.id "
    "where j.id = %s group by j.ended_at"
)
# Trials that no library supports end quickly one by one, and are recorded together.
_LIVE = (
    "name: live\nbudget: {min_samples: 3, warmups: 0, min_time_s: 0}\nexperiments:\n"
    "- {kind: arithmetic, variants: [cleartext], schemes: [bfv], ring_dimension: [1024, 2048], modulus_bits: [27]}\n"
)


# Tables whose rows are copied with the run: the copied rows, and the columns that differ in a copy. Numbers first to
# last of a copied run are named ``copy``.
_SHIFTED = "'{0}', x.{0} + copy * %(stride)s::bigint"
_OF_CASE = "x.case_info_id in (select case_info_id from case_info where run_id = %(run_id)s)"
_ID, _RUN_ID = "'id', md5(x.id || copy)::uuid", "'run_id', md5(x.run_id || copy)::uuid"
_CASE_ID, _SEQUENCE = _SHIFTED.format("case_info_id"), _SHIFTED.format("sequence")
_STARTED = "'label', null, 'started_at', x.started_at - copy * interval '1 hour'"
_BASES = f"{_SHIFTED.format('base')}, {_SHIFTED.format('uncorrected_base')}"
_COPIED = {
    "run": ("x.id = %(run_id)s", f"{_ID}, {_SEQUENCE}, {_STARTED}"),
    "case_info": ("x.run_id = %(run_id)s", f"{_CASE_ID}, {_RUN_ID}"),
    "trial": ("x.run_id = %(run_id)s", f"{_ID}, {_RUN_ID}, {_CASE_ID}, {_SEQUENCE}"),
    "case_facts": (_OF_CASE, _CASE_ID),
    "result": (_OF_CASE, _CASE_ID),
    "ratio": (_OF_CASE, f"{_CASE_ID}, {_BASES}"),
    "host_state": ("x.run_id = %(run_id)s", _RUN_ID),
}


def section(progress: Progress) -> Iterator[BenchResult]:
    """Look at the reference results; then fill a database, request every page for many runs, and load them in a
    browser.
    """
    yield from of_reference(progress)
    with fresh_data_directory() as data_directory:
        progress("quick suite")
        run_suite(data_directory, QUICK)
        url = storage.url(data_directory)
        runs = fill(url, progress)
        with served(data_directory, url) as site:
            progress(f"every page of {_ASKED} runs")
            yield from _times(site, runs)
            if shutil.which(CHROMIUM) is None:
                progress("no Chromium here: what a browser sees is left out")
                return
            with browsing(site) as context:
                yield from _painted(context, site, runs)
                progress("a live run")
                yield _delay(context, site, url)


def of_reference(progress: Progress) -> Iterator[BenchResult]:
    """Pages with the reference results: answers, first paints, and choices until their result is painted."""
    with fresh_data_directory() as data_directory:
        archives = sorted((ROOT / "reference").glob("*.jsonl.xz"))
        command = [str(BIN / "ciphermark"), "runs", "import", *map(str, archives)]
        subprocess.run(command, env=environment(data_directory), stdout=subprocess.DEVNULL, check=True)
        with serving(
            "dashboard",
            [BIN / "ciphermark-dashboard"],
            environment(data_directory) | {"CIPHERMARK_DATABASE_URL": storage.url(data_directory)},
        ) as site:
            progress("pages of the reference results")
            yield from _answered(site)
            if shutil.which(CHROMIUM) is not None:
                with browsing(site) as context:
                    yield from _shown(context, site)


@contextmanager
def browsing(site: Service) -> Iterator[BrowserContext]:
    """A browser with access to a dashboard."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser.new_context(extra_http_headers=site.headers)
        browser.close()


def _answered(site: Service) -> Iterator[BenchResult]:
    """Milliseconds from request to response of every page."""
    paths = ["/", *(page.path for page in PAGES), "/runs", "/compare"]
    with httpx.Client(base_url=site.url, headers=site.headers, timeout=60) as client:
        client.get("/").raise_for_status()
        for name in ("at first", "again"):
            times_ms = sorted(_timed(client, path, {}) for path in paths * _PAINTS)
            p95_ms = times_ms[int(0.95 * len(times_ms))]
            note = f"{len(times_ms)} answers, the longest {times_ms[-1]:.0f} ms"
            yield BenchResult(f"reference results, a page, {name}, p95", p95_ms, "ms", Target(most=100), note)


def _shown(context: BrowserContext, site: Service) -> Iterator[BenchResult]:
    """First contentful paints of all pages, the first one without anything cached; and times of choices."""
    page = context.new_page()
    paints_ms = {}
    for path in ["/", *(each.path for each in PAGES), "/runs", "/compare"]:
        page.goto(site.url + path)
        page.wait_for_load_state("networkidle")
        paints_ms[path] = _number(page, _PAINT)
    slowest = max(paints_ms, key=lambda path: paints_ms[path])
    yield BenchResult(
        "reference results, first contentful paint", paints_ms[slowest], "ms", Target(most=500), slowest
    )
    for name, (address, selector, is_link) in _INTERACTIONS.items():
        page.goto(site.url + address)
        page.wait_for_load_state("networkidle")
        times_ms = [float(page.evaluate(_CHANGE, [selector, is_link])) for _ in range(_CHANGES)]
        note = f"{_CHANGES} times, the longest {max(times_ms):.0f} ms"
        yield BenchResult(
            f"reference results, {name} until painted", median(times_ms), "ms", Target(most=100), note
        )


def fill(url: str, progress: Progress, runs: int = RUNS, samples: int = SAMPLES) -> list[str]:
    """Copy the latest run, with slightly different samples; return the ids of all runs."""
    blocks = parsed(_SQL.read_text())
    copies = [
        blocks["copy_rows"].format(table=table, rows=rows, own=own) for table, (rows, own) in _COPIED.items()
    ]
    with psycopg.connect(url, autocommit=True) as connection:

        def number(sql: str, params: Mapping[str, Any] | None = None) -> Any:
            row = connection.execute(sql.encode(), params).fetchone()
            assert row is not None
            return row[0]

        run_id = number("select id from run order by started_at desc limit 1")
        again = max(1, round(samples / runs / number(blocks["count_times"], {"run_id": run_id})))
        params = {"run_id": run_id, "again": again, "stride": number(blocks["stride"])}
        for first in range(1, runs, _AT_ONCE):
            last = min(first + _AT_ONCE, runs) - 1
            for statement in (*copies, blocks["add_series"], blocks["add_samples"]):
                connection.execute(statement.encode(), params | {"first": first, "last": last})
            progress(f"{last + 1} of {runs} runs")
        connection.execute(blocks["settle"].encode())
        connection.execute("vacuum analyze")
        progress(f"{number('select count(*) from sample'):,} samples")
        return [row[0] for row in connection.execute("select id from run order by started_at desc")]


@contextmanager
def served(data_directory: DataDirectory, url: str) -> Iterator[Service]:
    """The dashboard, with the benchmark service and its worker."""
    own = environment(data_directory)
    with serving("benchmark", [BIN / "ciphermark", "serve", "--worker"], own) as benchmark:
        shown = own | {"CIPHERMARK_DATABASE_URL": url, "CIPHERMARK_BENCHMARK_URL": benchmark.url}
        shown["CIPHERMARK_BENCHMARK_TOKEN"] = benchmark.token
        with serving("dashboard", [BIN / "ciphermark-dashboard"], shown) as site:
            yield site


def _times(site: Service, runs: list[str]) -> Iterator[BenchResult]:
    """Milliseconds from request to response, for the first and the second request of every page.

    Then for pairs of runs, and for parts of single runs.
    """
    chosen = random.Random(1).sample(runs, _ASKED)
    fresh = random.Random(3).sample([run for run in runs if run not in chosen], 2 * _ASKED)
    pages = [(page.path, {"run": run}) for run in chosen for page in PAGES]
    pairs = zip(fresh[::2], fresh[1::2], strict=True)
    requests: dict[str, list[tuple[str, dict[str, str]]]] = {
        "at first": pages,
        "again": pages,
        "comparing two runs": [("/compare", {"a": a, "b": b}) for a, b in pairs],
        "about runs": [*((f"/runs/{run}", {}) for run in fresh[:_ASKED]), ("/runs", {})],
    }
    with httpx.Client(base_url=site.url, headers=site.headers, timeout=60) as client:
        client.get("/").raise_for_status()  # compiles templates, connects
        for name, queries in requests.items():
            times_ms = [_timed(client, path, params) for path, params in queries]
            p95_ms = sorted(times_ms)[int(0.95 * len(times_ms))]
            note = f"{len(times_ms)} answers, the longest {max(times_ms):.0f} ms"
            yield BenchResult(f"a page, {name}, p95", p95_ms, "ms", Target(most=100), note)


def _timed(client: httpx.Client, path: str, params: dict[str, str]) -> float:
    start = perf_counter()
    client.get(path, params=params).raise_for_status()
    return 1000 * (perf_counter() - start)


def _painted(context: BrowserContext, site: Service, runs: list[str]) -> Iterator[BenchResult]:
    """First contentful paint of a page requested for the first time, and sizes of scripts and styles of two pages."""
    chosen = random.Random(2).sample(runs, _PAINTS * len(PAGES))
    paints_ms, weights = [], []
    page = context.new_page()
    for number, run in enumerate(chosen):
        page.goto(f"{site.url}{PAGES[number % len(PAGES)].path}?run={run}")
        page.wait_for_load_state("networkidle")
        paints_ms.append(_number(page, _PAINT))
        weights.append(_number(page, _SIZES) / 1e6)
    yield BenchResult("first contentful paint", max(paints_ms), "ms", Target(most=500), "the latest of all")
    yield BenchResult("scripts and styles, first page", weights[0], "MB", Target(most=0.7))
    yield BenchResult("scripts and styles, all later pages", sum(weights[1:]), "MB", Target(most=0))


def _number(page: Page, expression: str) -> float:
    value: Any = page.evaluate(expression)
    return float(value if value is not None else "nan")


def _delay(context: BrowserContext, site: Service, url: str) -> BenchResult:
    """The maximum time from a trial's commit until the page of its run shows it."""
    page = context.new_page()
    page.goto(f"{site.url}/runs")
    page.locator("summary").first.click()
    page.fill("#suite_yaml", _LIVE)
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("#run-done")
    run_id, done = page.url.rpartition("/")[2], page.locator("#run-done")
    committed: list[float] = []
    delays_s: list[float] = []
    is_over = False
    with psycopg.connect(url, autocommit=True) as connection:
        while not is_over or len(delays_s) < len(committed):
            row = connection.execute(_PROGRESS, (run_id,)).fetchone()
            assert row is not None
            count, is_over = row
            committed += [time()] * (count - len(committed))
            shown = int(done.inner_text()) if done.count() else count
            now = time()
            delays_s += [now - at for at in committed[len(delays_s) : shown]]
            sleep(0.01)
    trials = f"{len(delays_s)} trials"
    return BenchResult("live progress, delay", max(delays_s), "s", Target(most=1), trials)
