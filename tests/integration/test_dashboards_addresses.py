"""Addresses that stay: of runs however old, of pages of lists; and what is said of those that are none of ours."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest
import vl_convert
from dashboard import HERE, dashboard
from processes import PATIENCE_S
from starlette.testclient import TestClient

from ciphermark_core.model import ParameterSpec
from ciphermark_dashboards import app, report, templating
from ciphermark_dashboards.settings import Settings
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

NEWER = 1_000
OLD = "f00dcafe-0000-4000-8000-000000000001"
COPIES = """
insert into run
select 'newer-' || n, suite, suite_text, seed, started_at + n * interval '1 minute', software_version, host_id,
    host_clock_noise, host_load_1min, host_warnings, continues
from run, generate_series(1, %s) as n
where id = %s
"""


@pytest.fixture(scope="module")
def old(database: Database, make: Maker) -> str:
    """A run that 1,000 newer ones follow, beside one of a long id that begins with a shorter one."""
    spec = ParameterSpec("ckks", 4096, None, scale_bits=30)
    for run_id in (OLD, "twin", "twin-2"):
        run = make.run(id=run_id, suite_name="old")
        database.record_run(run)
        database.record_outcome(make.outcome(run, make.case("seal"), make.times([0.001, 0.002])))
        case = make.case("seal", parameters=spec)
        database.record_outcome(make.outcome(run, case, make.times([0.001, 0.002])))
    database.query(COPIES, [NEWER, OLD], read_only=False)
    return OLD


@pytest.fixture(scope="module")
def client(url: str, old: str) -> Iterator[TestClient]:
    with dashboard(url) as made:
        yield made


def shown(answer_text: str) -> str:
    """The id of the run that is chosen on a page."""
    (_, _, options) = re.split(r'<select id="(run[^"]*)"', answer_text, maxsplit=1)
    return re.findall(r'<option value="([^"]*)" selected', options)[0]


@pytest.mark.parametrize("name", [OLD, OLD[:8]])
def test_a_run_is_found_however_many_came_after_it(client: TestClient, url: str, name: str) -> None:
    answer = client.get("/ranking", params={"run": name})
    assert answer.status_code == 200
    assert shown(answer.text) == OLD
    assert client.get("/figures/matrix.csv", params={"run": name}).status_code == 200
    compared = client.get("/compare", params={"a": name, "b": "newer-1"})
    assert compared.status_code == 200
    assert re.findall(r'<option value="([^"]*)" selected', compared.text)[:2] == [OLD, "newer-1"]
    with Store(url) as store:
        assert report.made(store, name).facts["run_id"] == OLD


def test_the_run_before_is_found_however_many_came_after_it(client: TestClient) -> None:
    assert re.findall(r'<option value="([^"]*)" selected', client.get("/compare?b=newer-1").text)[:2] == [
        "twin-2",
        "newer-1",
    ]


def test_the_page_of_a_run_is_found_by_the_beginning_of_its_id(client: TestClient) -> None:
    answer = client.get(f"/runs/{OLD[:8]}")
    assert answer.status_code == 200
    assert str(answer.url) == f"{HERE}/runs/{OLD}"


def test_an_id_is_itself_even_where_another_one_begins_with_it(client: TestClient) -> None:
    assert shown(client.get("/ranking?run=twin").text) == "twin"
    for path in ("/ranking?run=twi", "/runs/twi"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "Several runs begin with twi" in answer.text


def test_all_runs_are_on_the_pages_of_the_list(client: TestClient) -> None:
    found, path, pages = [], "/runs", 0
    while path and pages < 10:
        text = client.get(path).text
        found += re.findall(r'<td><a href="/runs/([^"]+)">', text)
        older = re.search(r'<a href="(/runs\?[^"]+)">Older</a>', text)
        path, pages = (older[1].replace("&amp;", "&") if older else ""), pages + 1
    assert len(found) == NEWER + 3
    assert len(set(found)) == NEWER + 3
    assert pages == 6
    assert found[0] == f"newer-{NEWER}"
    assert "Newer</a>" in text
    assert "The list has no page 7" in client.get("/runs?recorded=7").text


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (
            "/runs?state=done",
            "no filter &#39;state&#39; on this page; it has for, open, recorded, run, scheme",
        ),
        ("/runs?recorded=0", "page numbers start at 1"),
        ("/runs?recorded=x", "page numbers start at 1"),
        (f"/runs?open={'9' * 5_000}", "page numbers start at 1"),
        (
            f"/case?run={OLD}&case=x&n=4096",
            "no filter &#39;n&#39; on this page; it has case, for, rows, run, scheme, times",
        ),
        (f"/figures/case-samples.csv?run={OLD}&case=x&n=4096", "no filter"),
        ("/compare?variant=seal", "no filter &#39;variant&#39;"),
    ],
)
def test_filters_that_a_page_has_not_are_refused_everywhere(
    client: TestClient, address: str, told: str
) -> None:
    answer = client.get(address)
    assert answer.status_code == 400
    assert told in answer.text


def test_what_is_asked_for_and_not_shown_is_told(client: TestClient) -> None:
    text = client.get(f"/ranking?run={OLD}&scheme=ckks&n=8192").text
    assert "N 8192: not available with earlier filters. Shown: 4096." in text
    assert f"/figures/matrix.csv?run={OLD}&amp;scheme=ckks" in text
    assert "n=8192" not in text
    assert "not available with earlier" not in client.get(f"/ranking?run={OLD}&scheme=ckks&n=4096").text


def test_an_address_or_a_method_that_is_none_of_ours_gets_a_page(client: TestClient) -> None:
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("GET", "/runs/x/y/z", 404),
        ("POST", "/noise", 405),
        ("DELETE", "/runs", 405),
    ):
        answer = client.request(method, path)
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html")
        assert "<nav" in answer.text
    assert client.post("/noise").headers["allow"] == "GET"


def test_head_is_answered_wherever_get_is(client: TestClient) -> None:
    for path in ("/", "/runs", f"/runs/{OLD}", "/compare", "/healthz", f"/figures/matrix.csv?run={OLD}"):
        head, whole = client.head(path), client.get(path)
        assert head.status_code == 200
        assert head.content == b""
        assert head.headers["content-type"] == whole.headers["content-type"]
    assert client.head("/nothing").status_code == 404


def test_assets_come_plain_to_those_who_cannot_take_gzip(client: TestClient) -> None:
    (path,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', client.get("/runs").text)
    plain = client.get(path, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert ":root {" in plain.text
    with client.stream("GET", path, headers={"accept-encoding": "gzip"}) as packed:
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(b"".join(packed.iter_raw())) == plain.content
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


def test_pages_are_there_before_vega_is_bundled(url: str, old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundling takes seconds: a dashboard that is started again answers before, and makes it once for all who ask."""
    goes_on, made = threading.Event(), []

    def bundle() -> bytes:
        if not made:
            assert goes_on.wait(PATIENCE_S)
            made.append(templating.assets()["vega.js"].path)
        return gzip.compress(b"window.vegaEmbed")

    monkeypatch.setattr(templating, "_bundled", bundle)
    with TestClient(app.made(Settings(url)), base_url=HERE) as client:
        try:
            path = templating.assets()["vega.js"].path
            assert client.get("/operations").status_code == 200
            assert client.get("/readyz").status_code == 200
            assert made == []
        finally:
            goes_on.set()
        assert client.get(path).text == "window.vegaEmbed"
        assert made == [path]


def test_vega_is_what_the_installed_package_bundles() -> None:
    """The address is of what it is bundled from: one version of the package has one text."""
    found = gzip.decompress(templating.assets()["vega.js"].read()).decode()
    assert found == vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def test_a_mistake_in_a_query_is_not_taken_for_a_name_that_is_not_there(url: str) -> None:
    with Store(url) as store, pytest.raises(psycopg.errors.DivisionByZero), store._connected() as connection:
        connection.execute("select 1 / 0")
