"""Values of uploads that are encrypted with the secret key beside others: marked everywhere, never ranked together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from command import Ciphermark
from dashboard import dashboard
from starlette.testclient import TestClient

from ciphermark_core.encryption import SECRET_KEY
from ciphermark_core.model import Sample
from ciphermark_dashboards import report
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database
from ciphermark_present.catalogue.columns import UNLIKE

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

# Of a pass: all of it, what the client takes to encrypt, the server's computation, and bytes sent and returned.
PASSES = {"seal": (1.0, 0.2, 0.5, 131e3), "seal-hexl": (0.9, 0.1, 0.6, 131e3)}
OTHERS = {"tenseal": (2.0, 0.4, 0.4, 262e3), "openfhe": (3.0, 0.6, 1.5, 262e3)}


MARKED = {"1 s†", "900 ms†", "200 ms†", "100 ms†", "131 kB†"}
UNMARKED = {"2 s", "3 s", "400 ms", "600 ms", "500 ms", "1.5 s", "262 kB", "99 kB"}
# Pages and reports keep trailing zeros.
ON_PAGES = {
    *("1.00 s†", "900 ms†", "200 ms†", "100 ms†", "131 kB†"),
    *("2.00 s", "3.00 s", "400 ms", "600 ms", "500 ms", "1.50 s", "262 kB", "99.0 kB"),
}


def samples(make: Maker, whole: float, encrypt: float, evaluate: float, upload: float) -> tuple[Sample, ...]:
    return (
        *make.times([whole] * 9, "compute"),
        *make.times([encrypt] * 9, "compute", step="encrypt"),
        *make.times([evaluate] * 9, "compute", step="evaluate"),
        Sample("size", upload, "compute"),
        Sample("size", 99e3, "compute", None, "returned"),
    )


@pytest.fixture(scope="module")
def run_id(database: Database, make: Maker) -> str:
    run = make.run()
    database.record_run(run)
    for variant, values in (PASSES | OTHERS).items():
        case = make.case(variant, experiment="own", operation="product")
        outcome = make.outcome(run, case, samples(make, *values))
        if variant in PASSES:
            outcome = replace(outcome, parameters=replace(outcome.parameters, encryption=SECRET_KEY))
        database.record_outcome(outcome)
    return run.id


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with dashboard(url) as opened:
        yield opened


@pytest.mark.parametrize("phase", ["compute", "compute.encrypt"])
def test_each_kind_has_a_fastest_of_its_own(database: Database, run_id: str, phase: str) -> None:
    rows = database.query(
        "select variant, fastest_variant, standing from ranking where run_id = %s and phase = %s order by 1",
        [run_id, phase],
    ).rows
    assert rows == [
        ("openfhe", "tenseal", "behind"),
        ("seal", "seal-hexl", "behind"),
        ("seal-hexl", "seal-hexl", "win"),
        ("tenseal", "tenseal", "win"),
    ]


def test_what_the_server_computes_is_ranked_together(database: Database, run_id: str) -> None:
    query = "select distinct fastest_variant from ranking where run_id = %s and phase = 'compute.evaluate' order by 1"
    assert database.query(query, [run_id]).rows == [("tenseal",)]


def cells(text: str) -> set[str]:
    """The texts of all cells of tables in Markdown or HTML."""
    return {part.strip() for part in text.replace("<", ">").replace("|", ">").split(">")}


def test_the_terminal_marks_them(tmp_path, url: str, run_id: str) -> None:
    ciphermark = Ciphermark(tmp_path / "data", url)
    text = ciphermark("results", run_id).out
    assert "BFV, compute  2 cases: seal-hexl fastest in 1, tenseal in 1" in text
    text = ciphermark("results", run_id, "--format", "md").out
    assert UNLIKE in text
    assert cells(text) >= MARKED | UNMARKED | {"seal°", "seal-hexl"}
    ranked = ciphermark("results", run_id, "--phase", "compute", "--format", "md").out
    assert UNLIKE in ranked
    assert {cell.partition(" \\[")[0] for cell in cells(ranked)} >= {"900 ms†", "1.11×†", "2 s", "1.50×"}
    together = ciphermark("results", run_id, "--phase", "compute.evaluate", "--format", "md").out
    assert "†" not in together.split("### ")[1]  # the ranking; the table of the workload follows


def test_pages_mark_them(client: TestClient, run_id: str) -> None:
    page = client.get("/workloads", params={"run": run_id}).text
    assert UNLIKE in page
    assert cells(page) >= ON_PAGES | {"seal°", "seal-hexl"}
    raw = client.get("/figures/workloads.csv", params={"run": run_id}).text
    assert "secret key" in raw
    assert "†" not in raw


def test_the_page_of_a_case_marks_them(client: TestClient, database: Database, run_id: str) -> None:
    ((key,),) = database.query(
        "select distinct comparison_group from case_info where run_id = %s", [run_id]
    ).rows
    page = client.get("/case", params={"run": run_id, "case": key}).text
    assert cells(page) >= ON_PAGES
    assert UNLIKE in page


def test_reports_mark_them_and_call_none_the_fastest_of_all(url: str, run_id: str) -> None:
    with Store(url) as store:
        text = report.FORMATS["md"](report.made(store, run_id)).decode()
    assert UNLIKE in text
    assert cells(text) >= ON_PAGES
    for key, fastest in (("secret", "900 ms (seal-hexl)"), ("public", "2.00 s (tenseal)")):
        assert f"(2018), encrypted with the {key} key: fastest median time of compute {fastest}" in text


def test_charts_tell_them_apart(client: TestClient, run_id: str) -> None:
    values = client.get("/figures/workloads.json", params={"run": run_id}).json()["data"]["values"]
    assert {(row["variant"], row["workload"].rpartition(", ")[2]) for row in values} == {
        *((name, "encrypted with the secret key") for name in PASSES),
        *((name, "encrypted with the public key") for name in OTHERS),
    }


def test_a_run_that_is_encrypted_otherwise_is_remarked_on(
    tmp_path, url: str, database: Database, make: Maker, run_id: str
) -> None:
    before = make.run()
    database.record_run(before)
    case = make.case("seal", experiment="own", operation="product")
    database.record_outcome(make.outcome(before, case, samples(make, *PASSES["seal"])))
    text = Ciphermark(tmp_path / "data", url)("compare", before.id, run_id, "--all", code=None).out
    assert "encryption with the public key against the secret key" in " ".join(text.split())
