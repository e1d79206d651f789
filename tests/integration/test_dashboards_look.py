"""Every page of the reference results in Chromium: at five widths, in light and dark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import uvicorn
from browsing import chromium, needs_chromium
from command import REPOSITORY, Ciphermark
from looking import WIDTHS, access_faults, drawn, layout_faults, on_screen, opened
from playwright.sync_api import Browser, Page, sync_playwright
from ports import free_port
from processes import PATIENCE_S, wait_until
from test_dashboards_pages import recorded_run

from ciphermark_dashboards import app
from ciphermark_dashboards.settings import Settings
from ciphermark_db.database import Database
from ciphermark_present import answers, formats

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

# Imported in this order: other tests share the databases of the first ones. The last archive has a case of each family.
NAMES = ("quick", "tenseal-ml", "pir-report", "seal-vs-openfhe")
EVERY_PAGE = REPOSITORY / "tests" / "acceptance" / "every-page.jsonl.xz"
ADDRESSES = (
    "/",
    "/?for=mul&scheme=bfv",
    "/ranking?run=last:quick",
    "/operations?run=last:quick",
    "/hexl?run=last:pir-report",
    "/noise?run=last:quick",
    "/memory?run=last:quick",
    "/learning?run=last:tenseal-ml",
    "/retrieval",
    "/inference",
    "/workloads",
    "/programs?run=last:tenseal-ml",
    "/case?run=last:quick&case={case}",
    "/runs",
    "/runs/{run}",
    "/compare",
    "/advise",
    "/draw",
    "/hexl?run=last:seal-vs-openfhe",  # nothing of the kind
    "/nowhere",
)
# Pages from above with more of the same, at greater length.
AGAIN = (
    "/?for=rotate(1)&scheme=bfv&run=last:pir-report",
    "/operations?run=last:pir-report&operation=rotate(1)",
    "/noise?run=last:seal-vs-openfhe",
)
# Each page once in the dark, drawn on a phone and turned to a desk; everything else takes minutes.
LOOKS = [
    pytest.param("dark", (390, 1400), id="everyday"),
    *(
        pytest.param(scheme, (width,), id=f"{scheme}-{width}", marks=pytest.mark.extended)
        for scheme in ("light", "dark")
        for width in WIDTHS
    ),
]

pytestmark = needs_chromium


@contextmanager
def served(url: str) -> Iterator[str]:
    """Where a dashboard over a database answers, in a thread."""
    server = uvicorn.Server(uvicorn.Config(app.made(Settings(url)), port=free_port(), log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "it serves")
        yield f"http://127.0.0.1:{server.config.port}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


@pytest.fixture(scope="module")
def url(reference: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the reference results, and with a case of each family."""
    made: str = reference(*NAMES)
    Ciphermark(tmp_path_factory.mktemp("look"), made)("runs", "import", str(EVERY_PAGE))
    return made


@pytest.fixture(scope="module")
def site(url: str) -> Iterator[str]:
    with served(url) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = chromium(playwright)
        yield started
        started.close()


@pytest.fixture(scope="module")
def places(url: str) -> dict[str, str]:
    """The ids in addresses."""
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "select run_id, comparison_group from case_info where run_id = run_named('last:quick') "
            "and operation = 'mul' and scheme = 'bfv' and variant = 'seal' order by ring_dimension desc limit 1"
        ).fetchone()
    assert row is not None
    return {"run": str(row[0]), "case": str(row[1])}


@pytest.fixture(scope="module")
def tab(browser: Browser, site: str) -> Iterator[tuple[Page, list[str]]]:
    """A page for all tests, since each new one is a process of its own; and its browser's complaints."""
    made, complaints = browser.new_page(base_url=site), []
    made.set_default_timeout(PATIENCE_S * 1000)
    made.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on(
        "request",
        lambda request: None if request.url.startswith((site, "data:")) else complaints.append(request.url),
    )
    yield made, complaints
    made.close()


@pytest.fixture
def page(tab: tuple[Page, list[str]]) -> Iterator[Page]:
    """A page whose browser complains of nothing, and which requests nothing from other hosts."""
    made, complaints = tab
    complaints.clear()
    yield made
    assert [text for text in complaints if "404" not in text] == []


@pytest.mark.parametrize(
    "address", [*ADDRESSES, *(pytest.param(address, marks=pytest.mark.extended) for address in AGAIN)]
)
@pytest.mark.parametrize(("scheme", "widths"), LOOKS)
def test_a_page_fits_every_screen_and_everybody(
    page: Page, places: dict[str, str], address: str, scheme: str, widths: tuple[int, ...]
) -> None:
    """The first result is on the first screen, nothing scrolls sideways or is tiny, and axe finds nothing."""
    page.emulate_media(color_scheme=scheme)
    opened(page, address.format(**places), widths[0])
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page)
        assert layout_faults(page, width) == [], width
    assert access_faults(page, is_brief=len(widths) > 1) == []


@dataclass(frozen=True)
class Asked:
    """A question of a reader: the address that answers it, and SQL for the texts that the first screen has."""

    question: str
    address: str
    sql: str


_RATIOS = "kind = 'equal_security_2024' and security_compared_2024 = 128 and party is null and step is null"
_QUICK, _REPORT = "run_id = run_named('last:quick')", "run_id = run_named('last:pir-report')"
QUESTIONS = (
    Asked(
        "Which library for encrypted logistic regression at 128 bits by the 2024 table?",
        "/?for=lr-k3-encrypted&scheme=ckks&security=128&table=2024",
        f"select variant, median_s as s from ratios where {_RATIOS} and operation = 'lr-k3-encrypted' "
        "and scheme = 'ckks' and stage = 'infer' order by vector_length desc, median_s limit 1",
    ),
    Asked(
        "Which library has the fastest BFV multiplication at N = 8192, and how much memory does it take?",
        "/?for=mul&scheme=bfv&run=last:quick",
        f"select r.variant, r.median as s, m.median as bytes from results as r "
        "join results as m on m.case_info_id = r.case_info_id and m.metric = 'peak_memory' and m.stage = r.stage "
        f"where r.{_QUICK} and r.metric = 'time' and r.stage = 'evaluate' and r.operation = 'mul' "
        "and r.scheme = 'bfv' and r.ring_dimension = 8192 order by r.median limit 1",
    ),
    Asked(
        "What does HEXL bring to rotations at 2^14?",
        "/hexl?run=last:pir-report&n=16384&operation=rotate(1)",
        f"select max(ratio) as ratio from speedup where {_REPORT} and ring_dimension = 16384 "
        "and operation = 'rotate(1)' and scheme = 'bfv' and stage = 'evaluate'",
    ),
    Asked(
        "How many products in a row does N = 8192 allow?",
        "/noise?run=last:quick&n=8192&operation=mul",
        f"select max(depth)::int as count from depths where {_QUICK} and operation = 'mul' and scheme = 'bfv' "
        "and ring_dimension = 8192",
    ),
    Asked(
        "How many bytes does the client upload for encrypted logistic regression?",
        "/?for=lr-k3-encrypted&scheme=ckks&run=last:tenseal-ml",
        "select min(median) as bytes from results where run_id = run_named('last:tenseal-ml') and scheme = 'ckks' "
        "and operation = 'lr-k3-encrypted' and metric = 'size' and stage = 'infer' and step is null",
    ),
    Asked(
        "How large is a BFV ciphertext at N = 8192?",
        "/?for=mul&scheme=bfv&run=last:quick",
        f"select max(median) as bytes from results where {_QUICK} and metric = 'size' and stage = 'ciphertext' "
        "and scheme = 'bfv' and ring_dimension = 8192",
    ),
    Asked(
        "How long does a rotation take at N = 8192?",
        "/operations?run=last:quick&n=8192&operation=rotate(1)",
        f"select min(median) as s from results where {_QUICK} and metric = 'time' and stage = 'evaluate' "
        "and operation = 'rotate(1)' and scheme = 'bfv' and ring_dimension = 8192",
    ),
    Asked(
        "Was the host quiet during the run?",
        "/runs/{run}",
        f"select timed_samples from host_states where {_QUICK}",
    ),
)
# How pages write the values of a column.
WRITTEN = {"s": answers.seconds, "bytes": answers.size, "ratio": answers.times}


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.question)
def test_a_question_is_answered_on_the_first_screen(
    page: Page, places: dict[str, str], url: str, asked: Asked
) -> None:
    opened(page, asked.address.format(**places), 1400)
    text = on_screen(page)
    with psycopg.connect(url) as connection:
        cursor = connection.execute(asked.sql.encode())
        (row,) = cursor.fetchall()
        names = [column.name for column in cursor.description or ()]
    for name, value in zip(names, row, strict=True):
        assert WRITTEN.get(name, formats.digits if isinstance(value, int) else str)(value) in text, name


def test_whether_a_library_has_become_slower_is_answered_on_the_first_screen(
    browser: Browser, new_url: Callable[[], str], make: Maker
) -> None:
    """The comparison of the latest two runs of a suite is one click away, whatever page one is on."""
    url = new_url()
    with Database.open(url) as database:
        for slower in (1.0, 1.5):
            recorded_run(make, database, slower=slower, variants=["seal"])
    with served(url) as site:
        page = browser.new_page(base_url=site)
        opened(page, "/", 1400)
        page.get_by_role("link", name="Compare").click()
        drawn(page)
        text = on_screen(page)
        page.close()
    for part in ("seal", "slower", answers.times(1.5)):
        assert part in text
