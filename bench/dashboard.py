"""Section ``dashboard``: its pages over 10,000,000 samples of 500 runs, in Chromium and by themselves."""

from __future__ import annotations

import random
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep, time
from typing import Any

import httpx
import psycopg
from playwright.sync_api import BrowserContext, Page, sync_playwright

from bench.figures import Figure, Progress, Target
from bench.places import BIN, QUICK, environment, fresh_home
from bench.processes import free_port, serving
from ciphermark_benchmark import storage
from ciphermark_benchmark.home import Home
from ciphermark_dashboards.pages import PAGES
from ciphermark_dashboards.store import parsed

RUNS = 500
SAMPLES = 10_000_000
CHROMIUM = "chromium"
_AT_ONCE = 10  # runs that are added in one statement
_ASKED = 20  # runs that every page is asked for
_PAINTS = 3
_SQL = Path(__file__).with_suffix(".sql")
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_SIZES = (
    "performance.getEntriesByType('resource').filter(e => /\\.(js|css)$/.test(e.name))"
    ".reduce((sum, e) => sum + e.transferSize, 0)"
)
# Trials that no library can do come one after another, and are recorded at once.
_LIVE = (
    "name: live\nbudget: {samples: 3, warmups: 0, min_time_s: 0}\nexperiments:\n"
    "- {kind: arithmetic, variants: [cleartext], schemes: [bfv], ring_dimension: [1024, 2048], modulus_bits: [27]}\n"
)


@dataclass(frozen=True, slots=True)
class Site:
    """Where the dashboard answers, and what it asks for."""

    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """What a request carries."""
        return {"Authorization": f"Bearer {self.token}"}


def section(progress: Progress) -> Iterator[Figure]:
    """Fill a database, ask every page for many runs, then look at them in a browser."""
    with fresh_home() as home:
        progress("quick suite")
        subprocess.run(
            [BIN / "ciphermark", "run", QUICK], env=environment(home), check=True, capture_output=True
        )
        url = storage.url(home)
        runs = fill(url, progress)
        with served(home, url) as site:
            progress(f"every page of {_ASKED} runs")
            yield from _times(site, runs)
            if shutil.which(CHROMIUM) is None:
                progress("no Chromium here: what a browser sees is left out")
                return
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
                )
                context = browser.new_context(extra_http_headers=site.headers)
                yield from _painted(context, site, runs)
                progress("a live run")
                yield _delay(context, site, home)
                browser.close()


def fill(url: str, progress: Progress, runs: int = RUNS, samples: int = SAMPLES) -> list[str]:
    """Copies of the latest run, each sample a little different; returns the ids of all runs."""
    blocks = parsed(_SQL.read_text())
    with psycopg.connect(url, autocommit=True) as connection:
        (run_id,) = _one(connection, "select id from run order by started_at desc limit 1", {})
        (count,) = _one(connection, blocks["count_times"], {"run_id": run_id})
        again = max(1, round(samples / runs / count))
        (stride,) = _one(connection, blocks["stride"], {})
        for first in range(1, runs, _AT_ONCE):
            last = min(first + _AT_ONCE, runs) - 1
            params = {"run_id": run_id, "first": first, "last": last, "again": again, "stride": stride}
            for name in (name for name in blocks if name.startswith("add_")):
                connection.execute(blocks[name].encode(), params)
            progress(f"{last + 1} of {runs} runs")
        connection.execute(blocks["settle"].encode())
        connection.execute("vacuum analyze")
        (total,) = _one(connection, "select count(*) from sample", {})
        progress(f"{total:,} samples")
        return [
            row[0] for row in connection.execute("select id from run order by started_at desc").fetchall()
        ]


def _one(connection: psycopg.Connection[Any], sql: str, params: dict[str, Any]) -> tuple[Any, ...]:
    row = connection.execute(sql.encode(), params).fetchone()
    assert row is not None
    return tuple(row)


@contextmanager
def served(home: Home, url: str) -> Iterator[Site]:
    """The dashboard beside the benchmark service and its worker."""
    ports = [free_port(), free_port()]
    addresses = [f"http://127.0.0.1:{port}" for port in ports]
    token = {"CIPHERMARK_BENCHMARK_TOKEN": secrets.token_urlsafe(32)}
    own = environment(home) | token
    site = Site(addresses[1], secrets.token_urlsafe(32))
    shown = own | {"CIPHERMARK_DATABASE_URL": url, "CIPHERMARK_BENCHMARK_URL": addresses[0]}
    shown["CIPHERMARK_DASHBOARD_TOKEN"] = site.token
    commands = [
        ([str(BIN / "ciphermark"), "serve", "--worker"], own | {"CIPHERMARK_PORT": str(ports[0])}),
        ([str(BIN / "ciphermark-dashboard")], shown | {"CIPHERMARK_PORT": str(ports[1])}),
    ]
    with ExitStack() as stack:
        for (command, env), address in zip(commands, addresses, strict=True):
            stack.enter_context(serving(command, env, address))
        yield site


def _times(site: Site, runs: list[str]) -> Iterator[Figure]:
    """Milliseconds from request to answer: every page for runs nobody asked for before, and again; then pairs of runs,
    and what is told of single ones.
    """
    chosen = random.Random(1).sample(runs, _ASKED)
    with httpx.Client(base_url=site.url, headers=site.headers, timeout=60) as client:
        client.get("/").raise_for_status()  # compiles templates, connects
        paths = [page.path for page in PAGES]
        first = [_asked(client, path, run) for run in chosen for path in paths]
        again = [_asked(client, path, run) for run in chosen for path in paths]
        fresh = random.Random(3).sample([run for run in runs if run not in chosen], 2 * _ASKED)
        compared = [_compared(client, *pair) for pair in zip(fresh[::2], fresh[1::2], strict=True)]
        alone = [_timed(client, f"/runs/{run}", {}) for run in fresh[:_ASKED]] + [_timed(client, "/runs", {})]
    for name, times_ms in (
        ("at first", first),
        ("again", again),
        ("comparing two runs", compared),
        ("about runs", alone),
    ):
        yield Figure(
            "dashboard",
            f"a page, {name}, p95",
            sorted(times_ms)[int(0.95 * len(times_ms))],
            "ms",
            Target(most=200),
            f"{len(times_ms)} answers, the longest {max(times_ms):.0f} ms",
        )


def _asked(client: httpx.Client, path: str, run: str) -> float:
    return _timed(client, path, {"run": run})


def _compared(client: httpx.Client, a: str, b: str) -> float:
    return _timed(client, "/compare", {"a": a, "b": b})


def _timed(client: httpx.Client, path: str, params: dict[str, str]) -> float:
    start = perf_counter()
    client.get(path, params=params).raise_for_status()
    return 1000 * (perf_counter() - start)


def _painted(context: BrowserContext, site: Site, runs: list[str]) -> Iterator[Figure]:
    """First contentful paint of a page nobody asked for before, and what scripts and styles weigh on the first two."""
    chosen = random.Random(2).sample(runs, _PAINTS * len(PAGES))
    paints_ms, first, later = [], 0.0, 0.0
    page = context.new_page()
    for number, run in enumerate(chosen):
        page.goto(f"{site.url}{PAGES[number % len(PAGES)].path}?run={run}")
        page.wait_for_load_state("networkidle")
        paints_ms.append(_number(page, _PAINT))
        weight = _number(page, _SIZES)
        first, later = (weight, 0.0) if number == 0 else (first, later + weight)
    yield Figure(
        "dashboard", "first contentful paint", max(paints_ms), "ms", Target(most=1000), "the latest of all"
    )
    yield Figure("dashboard", "scripts and styles, first page", first / 1e6, "MB", Target(most=1))
    yield Figure("dashboard", "scripts and styles, all later pages", later / 1e6, "MB", Target(most=0))


def _number(page: Page, expression: str) -> float:
    value: Any = page.evaluate(expression)
    return float(value if value is not None else "nan")


def _delay(context: BrowserContext, site: Site, home: Home) -> Figure:
    """The longest time from a trial's commit until the page of its run tells it."""
    page = context.new_page()
    page.goto(f"{site.url}/runs")
    page.locator("summary").first.click()
    page.fill("#suite_yaml", _LIVE)
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("#run-done")
    committed = _Commits(storage.url(home), page.url.rpartition("/")[2])
    committed.start()
    delays_s, told = [], 0
    while committed.is_alive() or told < len(committed.at):
        done = page.locator("#run-done")
        now, count = time(), int(done.inner_text()) if done.count() else len(committed.at)
        delays_s += [now - at for at in committed.at[told:count]]
        told = max(told, min(count, len(committed.at)))
        sleep(0.02)
    return Figure(
        "dashboard", "live progress, delay", max(delays_s), "s", Target(most=1), f"{len(delays_s)} trials"
    )


class _Commits(threading.Thread):
    """Notes when trials of a run came into the database, until the run has ended."""

    def __init__(self, url: str, run_id: str) -> None:
        super().__init__(daemon=True)
        self.at: list[float] = []
        self._url = url
        self._run_id = run_id

    def run(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while True:
                row = connection.execute(
                    "select count(t.id), j.ended_at is not null from job as j left join trial as t on t.run_id = j.id "
                    "where j.id = %s group by j.ended_at",
                    (self._run_id,),
                ).fetchone()
                assert row is not None
                self.at += [time()] * (row[0] - len(self.at))
                if row[1]:
                    return
                sleep(0.02)
