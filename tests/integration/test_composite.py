"""Operations that an adapter composes of several calls are recorded as such, and ranked apart everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from command import Ciphermark
from dashboard import dashboard, rows_of
from starlette.testclient import TestClient

from ciphermark_dashboards import report
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database
from ciphermark_present.catalogue.operations import explained
from ciphermark_present.query import Answer

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

# Medians of one operation: three compose it, two have a call. The slowest of all is the slowest composite.
COMPOSITE = {"seal": 2.0, "seal-hexl": 1.0, "helib": 4.0}
NATIVE = {"openfhe": 3.0, "lattigo": 6.0}
OPERATION = "multiply_accumulate(4)"


@pytest.fixture(scope="module")
def run_id(database: Database, make: Maker) -> str:
    """A run with that operation and one that all have a call for; one variant has neither."""
    run = make.run()
    database.record_run(run)
    for variant, median in (COMPOSITE | NATIVE).items():
        for operation, is_composite in ((OPERATION, variant in COMPOSITE), ("add", False)):
            case = make.case(variant, operation=operation)
            facts = {"is_composite": float(is_composite)}
            database.record_outcome(make.outcome(run, case, make.times([median] * 9), facts=facts))
    lacking = make.case("pyfhel", operation=OPERATION)
    facts = {"is_composite": 0.0}
    database.record_outcome(
        make.outcome(run, lacking, status="unsupported", error="no such call", facts=facts)
    )
    return run.id


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with dashboard(url) as made:
        yield made


@pytest.mark.parametrize("view", ["ranking", "ranking_across_security_levels"])
def test_each_has_a_fastest_of_its_own(database: Database, run_id: str, view: str) -> None:
    columns = "variant, is_composite, rank, fastest_variant, ratio"
    asked = f"select {columns} from {view} where run_id = %s and operation = %s"
    found = {row[0]: row[1:] for row in database.query(asked, [run_id, OPERATION]).rows}
    assert found == {
        "seal-hexl": (True, 1, "seal-hexl", 1.0),
        "seal": (True, 2, "seal-hexl", 2.0),
        "helib": (True, 3, "seal-hexl", 4.0),
        "openfhe": (False, 1, "openfhe", 1.0),
        "lattigo": (False, 2, "openfhe", 2.0),
    }


def test_a_run_that_does_not_say_so_has_none(database: Database, make: Maker) -> None:
    """What was recorded before stays as it was ranked."""
    run = make.run()
    database.record_run(run)
    for variant, median in (("seal", 1.0), ("openfhe", 2.0)):
        case = make.case(variant, operation=OPERATION)
        database.record_outcome(make.outcome(run, case, make.times([median] * 9)))
    asked = "select variant, is_composite, rank from ranking where run_id = %s order by rank"
    assert database.query(asked, [run.id]).rows == [("seal", False, 1), ("openfhe", False, 2)]


@pytest.mark.parametrize(("is_composite", "count"), [((1.0, 1.0), 1), ((1.0, 0.0), 0)])
def test_builds_are_paired_with_their_like(
    database: Database, make: Maker, is_composite: tuple[float, float], count: int
) -> None:
    run = make.run()
    database.record_run(run)
    for variant, fact in zip(("seal", "seal-hexl"), is_composite, strict=True):
        case = make.case(variant, operation=OPERATION)
        made = make.outcome(run, case, make.times([1.0] * 9), facts={"is_composite": fact})
        database.record_outcome(made)
    asked = "select ratio from speedup where run_id = %s"
    assert len(database.query(asked, [run.id]).rows) == count


def test_the_leaderboard_has_rows_for_both(client: TestClient, run_id: str) -> None:
    rows = rows_of(client, "leaderboard", run=run_id)
    ranked = [
        (row["label"], row["rank"], f"{float(row['mean_ratio']):.6g}", row["common_cases"])
        for row in rows
        if row["rank"]
    ]
    assert ranked == [
        ("seal-hexl", "1", "1", "1"),  # of the one case that every variant has a call for
        ("seal", "2", "2", "1"),
        ("openfhe", "3", "3", "1"),
        ("helib", "4", "4", "1"),
        ("lattigo", "5", "6", "1"),
        ("seal-hexl (composite)", "1", "1", "1"),
        ("seal (composite)", "2", "2", "1"),
        ("helib (composite)", "3", "4", "1"),
    ]


def test_the_grid_has_a_row_for_each(client: TestClient, run_id: str) -> None:
    """What nobody resolved stands in both: with a call or without one, the library lacks it."""
    rows = rows_of(client, "matrix", run=run_id, operation=OPERATION)
    by_label: dict[str, set[str]] = {}
    for row in rows:
        by_label.setdefault(row["label"], set()).add(row["variant"])
    assert by_label == {OPERATION: {*NATIVE, "pyfhel"}, f"{OPERATION} (composite)": {*COMPOSITE, "pyfhel"}}
    page = client.get("/ranking", params={"run": run_id}).text
    assert f'<th scope="row">{OPERATION} (composite)' in page


def test_the_page_of_operations_says_what_each_is_and_who_composes_it(
    client: TestClient, run_id: str
) -> None:
    add, sum_of_products = rows_of(client, "operations", run=run_id)
    everybody = " ".join(sorted({*COMPOSITE, *NATIVE}))
    assert (add["summary"], add["tried_by"], add["composite_in"]) == (
        "The sum of two ciphertexts.",
        everybody,
        "",
    )
    assert sum_of_products["summary"].startswith("The inner product of as many ciphertexts")
    told = ("tried_by", "composite_in", "unsupported_by")
    assert [sum_of_products[name] for name in told] == [
        everybody,
        " ".join(sorted(COMPOSITE)),
        "pyfhel",
    ]
    assert "The sum of two ciphertexts." in client.get("/operations", params={"run": run_id}).text


def test_an_operation_that_is_not_known_here_has_no_meaning() -> None:
    asked = Answer(("operation",), [("add",), ("triple(3)",)])
    assert [row["summary"] for row in explained(asked, {}).mappings] == ["The sum of two ciphertexts.", None]


def test_charts_of_times_have_one_for_each(client: TestClient, run_id: str) -> None:
    drawn = client.get("/figures/latency.json", params={"run": run_id}).json()["data"]["values"]
    assert {row["panel"] for row in drawn} == {"add", OPERATION, f"{OPERATION} (composite)"}


def test_the_terminal_ranks_them_apart(tmp_path, url: str, run_id: str) -> None:
    lines = Ciphermark(tmp_path / "data", url)("results", run_id, "--details").out.splitlines()
    named = [line.partition(" s ")[0].split() for line in lines if " s " in line]
    begins = [row[0] for row in named if len(row) > 2]
    assert begins == ["add", OPERATION, OPERATION]
    assert [row[1:3] for row in named if row[0] == OPERATION] == [
        ["openfhe°", "3"],
        ["(composite)", "seal-hexl"],
    ]


def test_the_report_tells_them_apart(url: str, run_id: str) -> None:
    with Store(url) as store:
        text = report.FORMATS["md"](report.made(store, run_id)).decode()
    assert "seal-hexl is fastest in every case; rank 2: seal 2.00×; rank 3: helib 4.00×" in text
    assert "over the 1 case that all compose" in text


def test_a_run_records_it(ciphermark: Ciphermark) -> None:
    """SEAL has no call for a sum of products, and one for a sum."""
    kind = {
        "kind": "arithmetic",
        "schemes": ["bfv"],
        "ring_dimension": [4096],
        "variants": ["seal", "tenseal"],
    }
    ciphermark("run", str(ciphermark.suite(kind | {"operations": ["add", "multiply_accumulate"]})))
    asked = "select distinct variant, operation, is_composite from results where status = 'ok' order by 1, 2"
    found = [
        (row["variant"], row["operation"].partition("(")[0], row["is_composite"])
        for row in ciphermark.rows(asked)
    ]
    assert found == [("seal", "add", False), ("seal", "multiply_accumulate", True), ("tenseal", "add", False)]
