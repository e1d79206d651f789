"""The pages Advise and Accelerators: fields and sliders, the answer, and what they do without a service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import predictions
import pytest
import uvicorn
from browsing import chromium, needs_chromium
from dashboard import dashboard
from looking import access_faults, drawn, layout_faults, opened
from playwright.sync_api import Page, sync_playwright
from ports import free_port
from processes import PATIENCE_S, wait_until

from ciphermark_core.errors import UserError
from ciphermark_core.model import BootstrappingParameters, ParameterSpec
from ciphermark_dashboards import accelerators, app
from ciphermark_dashboards.advising import body
from ciphermark_dashboards.settings import Settings
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database


@pytest.fixture(scope="module")
def url(new_url: Callable[[], str]) -> str:
    made = new_url()
    with Database.open(made) as database:
        database.migrate()
    return made


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> predictions.Service:
    made = predictions.Service()
    monkeypatch.setattr(app, "Benchmark", lambda *_: made)
    return made


@pytest.fixture
def client(url: str, service: predictions.Service) -> Iterator[Any]:
    with dashboard(url, benchmark_url="http://nowhere") as made:
        yield made


def test_without_limits_the_page_advises_on_a_workload(client: Any, service: predictions.Service) -> None:
    text = client.get("/advise").text
    assert service.asked == [{"workload": "logistic"}]
    assert "Take seal-hexl, CKKS, N = " in text
    assert predictions.REMARK in text
    assert "Recommended points" in text
    assert "openfhe has no cost table on this host" in text
    assert "variants: [seal-hexl]" in text, "the suite of a point"
    assert 'aria-current="page">Advise' in text


def test_limits_that_nothing_meets_name_the_nearest_misses(client: Any) -> None:
    text = client.get("/advise", params={"workload": "sign", "latency": "1us"}).text
    assert "No candidate meets all limits for sign" in text
    assert "Nearest misses" in text
    assert "limit 1.00 µs" in text
    assert 'value="1us"' in text


def test_a_mistake_is_told_and_the_form_stays(client: Any) -> None:
    answer = client.get("/advise", params={"workload": "sign", "latency": "soon"})
    assert answer.status_code == 200
    assert "write a number with a unit" in answer.text
    assert '<select class="pick" name="workload"' in answer.text
    assert client.get("/advise", params={"latencyy": "1s"}).status_code == 400


def test_without_a_service_the_page_says_so(url: str) -> None:
    with dashboard(url) as client:
        assert "no benchmark service" in client.get("/advise").text


def test_numbers_go_to_the_service_as_numbers() -> None:
    assert body({"workload": "sign", "error": "1e-4", "security": "192", "run": "last", "latency": "2s"}) == {
        "workload": "sign",
        "error": 1e-4,
        "security": 192,
        "latency": "2s",
    }
    with pytest.raises(UserError, match="numbers without a unit"):
        body({"error": "little"})


@contextmanager
def served(url: str) -> Iterator[str]:
    """Where a dashboard answers a browser, in a thread."""
    made = app.made(Settings(url, benchmark_url="http://nowhere"))
    server = uvicorn.Server(uvicorn.Config(made, port=free_port(), log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "it serves")
        yield f"http://127.0.0.1:{server.config.port}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


@pytest.fixture
def page(url: str, service: predictions.Service) -> Iterator[Page]:
    with served(url) as site, sync_playwright() as playwright:
        browser = chromium(playwright)
        made = browser.new_page(base_url=site)
        made.set_default_timeout(PATIENCE_S * 1000)
        yield made
        browser.close()


@needs_chromium
@pytest.mark.parametrize(
    ("address", "name", "key", "unit"),
    [
        ("/advise?workload=sign", "server_memory", "Home", "MB"),
        pytest.param("/accelerators", "bandwidth", "End", "TB/s", marks=pytest.mark.extended),
    ],
)
def test_a_slider_asks_at_once_and_keeps_the_focus(
    page: Page, service: predictions.Service, *, address: str, name: str, key: str, unit: str
) -> None:
    """A limit of advice, and a value of a machine; both pages fit a phone and a desk."""
    opened(page, address, 390)
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page)
        assert layout_faults(page, width) == [], width
    assert access_faults(page, is_brief=True) == []
    page.locator("details.more > summary").click()
    slider = page.locator(f"#slider-{name}")
    slider.focus()
    slider.press(key)
    page.wait_for_url(f"**{name}=*")
    drawn(page)
    (value,) = {asked[name] for asked in service.asked if name in asked}
    assert value.endswith(unit)
    assert page.locator(f"#slider-{name}").evaluate("item => item === document.activeElement")


def test_the_page_compares_published_and_predicted_times(client: Any, service: predictions.Service) -> None:
    text = client.get("/accelerators").text
    assert service.asked == [{}]
    assert "packed-bootstrap takes 3.01 ms on CraterLake, bound by memory" in text
    for heading in (
        "Published and predicted times",
        "Errors",
        "Security of published parameters",
        "Roofline",
    ):
        assert heading in text
    assert "fitted to the time of lola-mnist" in text
    assert 'aria-current="page">Accelerators' in text


def test_other_values_are_predicted_next_to_the_machines_own(
    client: Any, service: predictions.Service
) -> None:
    text = client.get("/accelerators", params={"bandwidth": "2TB/s", "digits": "2"}).text
    assert service.asked == [{"bandwidth": "2TB/s", "digits": 2}]
    assert "with the changes" in text


def test_a_wrong_value_is_named_and_the_rest_stays(client: Any) -> None:
    text = client.get("/accelerators", params={"bandwidth": "soon"}).text
    assert "write a number with a unit" in text
    assert "Published and predicted times" in text
    assert (
        "takes 36 residues" in client.get("/accelerators", params={"digits": "60", "machine": "sharp"}).text
    )
    assert client.get("/accelerators", params={"bandwith": "1TB/s"}).status_code == 400
    with pytest.raises(UserError, match="numbers"):
        accelerators.body({"lanes": "many"})


def test_a_measured_bootstrap_stands_beside_the_prediction(new_url: Any, make: Any) -> None:
    url = new_url()
    spec = ParameterSpec("ckks", 65536, None, scale_bits=50, bootstrapping=BootstrappingParameters())
    case = make.case("openfhe", operation="bootstrap", parameters=spec, vector_length=32768)
    with Database.open(url) as database:
        database.migrate()
        make.record(database, {"case": case, "samples": make.times([12.5] * 8)})
    with Store(url) as store:
        (row,) = accelerators._measured(
            store, {"measured": {"packed-bootstrap": ["packed-bootstrap", "bootstrap"], "lstm": ["lstm"]}}
        )
    assert (row["program"], row["variant"], row["seconds"]) == ("packed-bootstrap", "openfhe", 12.5)


def test_without_a_service_accelerators_say_so(url: str) -> None:
    with dashboard(url) as client:
        assert "no benchmark service" in client.get("/accelerators").text
