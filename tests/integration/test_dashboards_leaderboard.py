"""Who leads, who shares a rank, what counts at which level, and which data cost more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from command import Ciphermark
from dashboard import dashboard, rows_of
from starlette.testclient import TestClient
from test_dashboards_pages import times

from ciphermark_core.key_switching import Tuning
from ciphermark_core.security import Table
from ciphermark_dashboards import report
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database
from ciphermark_present import answers
from ciphermark_present.page import TABLE

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with dashboard(url) as made:
        yield made


def test_means_within_the_significance_threshold_share_a_rank(
    client: TestClient, database: Database, make: Maker
) -> None:
    """A lead of 3 % is none; what is a case of one variant alone is no win."""
    run = make.run()
    database.record_run(run)
    medians = {"seal": (1.0, 1.0), "pyfhel": (1.03, 1.03), "tenseal": (2.0, 2.0), "openfhe": (2.04, None)}
    for variant, of_operations in medians.items():
        for operation, median in zip(("add", "mul"), of_operations, strict=True):
            outcome = {"status": "crashed", "error": "x"} if median is None else {}
            samples = times(make, median) if median else ()
            database.record_outcome(
                make.outcome(run, make.case(variant, operation=operation), samples, **outcome)
            )
    alone = make.case("tenseal", operation="square")
    database.record_outcome(make.outcome(run, alone, times(make, 1.0)))
    rows = {row["variant"]: row for row in rows_of(client, "leaderboard", run=run.id)}
    assert {name: row["rank"] for name, row in rows.items()} == {
        "seal": "1",
        "pyfhel": "1",
        "tenseal": "3",
        "openfhe": "3",
    }
    assert {name: (row["fastest_in"], row["compared_cases"]) for name, row in rows.items()} == {
        "seal": ("2", "2"),
        "pyfhel": ("2", "2"),
        "tenseal": ("0", "2"),
        "openfhe": ("0", "1"),
    }
    assert {row["common_cases"] for row in rows.values()} == {"1"}
    assert rows["openfhe"]["failed"] == "1"


def test_each_tuning_has_a_leader_of_its_own(client: TestClient, database: Database, make: Maker) -> None:
    run = make.run()
    database.record_run(run)
    for tuning, medians in (
        ("matched", {"seal": 1.0, "openfhe": 2.0}),
        ("recommended", {"seal": 3.0, "openfhe": 1.0}),
    ):
        spec = replace(make.case().parameters, tuning=tuning)
        for variant, median in medians.items():
            case = make.case(variant, parameters=spec)
            database.record_outcome(make.outcome(run, case, times(make, median)))
    rows = rows_of(client, "leaderboard", run=run.id)
    assert [(row["label"], row["rank"], round(float(row["mean_ratio"]), 9)) for row in rows] == [
        ("seal", "1", 1.0),
        ("openfhe", "2", 2.0),
        ("openfhe (recommended tuning)", "1", 1.0),
        ("seal (recommended tuning)", "2", 3.0),
    ]


def test_ranks_and_ties_come_from_intervals(client: TestClient, database: Database, make: Maker) -> None:
    """A lead of 20 % that the samples leave open is none, and who may be anywhere has no rank; one of 6 % that they
    leave no doubt of is a lead.
    """
    run = make.run()
    database.record_run(run)
    spread = [0.9, 0.95, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]
    for variant, values in (("seal", 9 * [1.0]), ("pyfhel", spread), ("tenseal", 9 * [1.06])):
        database.record_outcome(make.outcome(run, make.case(variant), make.times(values)))
    rows = {row["variant"]: row for row in rows_of(client, "leaderboard", run=run.id)}
    told = ("mean_ratio", "fastest_in")
    assert {name: tuple(float(row[column]) for column in told) for name, row in rows.items()} == {
        "seal": (1.0, 1),
        "pyfhel": (1.2, 1),
        "tenseal": pytest.approx((1.06, 0)),
    }
    assert {row["ci_low"] for row in rows.values()} == {""}  # one case speaks for no others
    assert {name: row["rank"] for name, row in rows.items()} == {"seal": "1", "pyfhel": "", "tenseal": "2"}


def test_too_few_samples_have_no_rank(client: TestClient, database: Database, make: Maker) -> None:
    run = make.run()
    database.record_run(run)
    for variant, median in (("seal", 1.0), ("tenseal", 3.0)):
        database.record_outcome(make.outcome(run, make.case(variant), make.times([median] * 5)))
    rows = rows_of(client, "leaderboard", run=run.id)
    assert [(row["variant"], row["rank"], row["fastest_in"]) for row in rows] == [
        ("seal", "", "1"),
        ("tenseal", "", "0"),
    ]
    assert [float(row["mean_ratio"]) for row in rows] == pytest.approx([1.0, 3.0])


def test_what_was_never_resolved_counts_at_the_level_of_its_case(
    client: TestClient, database: Database, make: Maker
) -> None:
    run = make.run()
    database.record_run(run)
    for operation, moduli in (("add", (2**36 - 5, 2**37 - 25)), ("mul", (2**50 - 27,) * 4)):
        case = make.case("seal", operation=operation)
        parameters = make.parameters(case.parameters, moduli)
        database.record_outcome(make.outcome(run, case, times(make, 1.0), parameters=parameters))
    for operation in ("add", "square"):  # of the other nobody knows the level
        case = make.case("tenseal", operation=operation)
        database.record_outcome(make.outcome(run, case, status="unsupported", error="none"))
    for level, unsupported, shown in ((128, "1", {"mul", "square"}), (256, "2", {"add", "square"})):
        rows = {row["variant"]: row for row in rows_of(client, "leaderboard", run=run.id, security=level)}
        assert (rows["seal"]["ok"], rows["tenseal"]["unsupported"]) == ("1", unsupported)
        assert {row["operation"] for row in rows_of(client, "matrix", run=run.id, security=level)} == shown


def recorded_at_the_edge(database: Database, make: Maker, table: Table, tuning: Tuning = "matched") -> str:
    """A run of a suite by a table, in which seal's chain is 128 bits secure by the table of 2018 alone; pyfhel has it
    not.
    """
    run = make.run()
    database.record_run(run)
    spec = replace(make.case().parameters, security_table=table, tuning=tuning)
    for variant, moduli, median in (
        ("seal", (2**54 - 33,) * 4, 1.0),
        ("tenseal", (2**53 - 111,) * 4, 2.0),
        ("openfhe", (2**53 - 111,) * 4, 3.0),
    ):
        case = make.case(variant, parameters=spec)
        parameters = make.parameters(spec, moduli)
        database.record_outcome(make.outcome(run, case, times(make, median), parameters=parameters))
    database.record_outcome(
        make.outcome(run, make.case("pyfhel", parameters=spec), status="unsupported", error="none")
    )
    return run.id


OLDER = [("seal", "1", 1.0), ("tenseal", "2", 2.0), ("openfhe", "3", 3.0)]
NEWER = [("tenseal", "1", 1.0), ("openfhe", "2", 1.5)]


@pytest.mark.parametrize(
    ("tables", "ranks"),  # of the suite, and what is chosen
    [
        (("2018", None), OLDER),
        (("2018", "2024"), NEWER),
        (("2024", None), NEWER),
        (("2024", "2018"), OLDER),
    ],
)
def test_levels_are_those_of_the_table_that_is_chosen(
    client: TestClient, database: Database, make: Maker, tables: tuple[Table, Table | None], ranks: object
) -> None:
    of_suite, table = tables
    run_id = recorded_at_the_edge(database, make, of_suite)
    chosen = {"run": run_id, "security": 128} | ({} if table is None else {"table": table})
    rows = rows_of(client, "leaderboard", **chosen)
    ranked = [row for row in rows if row["rank"]]
    assert [(row["variant"], row["rank"], round(float(row["mean_ratio"]), 9)) for row in ranked] == ranks
    assert [row["unsupported"] for row in rows if row["variant"] == "pyfhel"] == ["1"]
    cells = rows_of(client, "matrix", **chosen)
    assert {row["variant"] for row in cells} == {"pyfhel", *(variant for variant, *_ in ranks)}
    assert len(cells) == 1 + len(ranks)
    page = client.get("/ranking", params=chosen).text
    assert f'<option value="{table or of_suite}" selected>{TABLE.spoken(table or of_suite)}</option>' in page


@pytest.mark.parametrize(
    ("tables", "variants"),
    [
        (("2018", "2018"), ["seal", "tenseal", "openfhe"]),
        (("2018", "2024"), ["tenseal", "openfhe"]),
        (("2024", "2018"), ["seal", "tenseal", "openfhe"]),
        (("2024", "2024"), ["seal", "tenseal", "openfhe"]),
    ],
)
def test_a_request_by_the_older_table_is_no_level_of_the_newer_one(
    *,
    tmp_path,
    url: str,
    client: TestClient,
    database: Database,
    make: Maker,
    tables: tuple[Table, Table],
    variants: list[str],
) -> None:
    """With recommended tuning the level that was asked for counts; where that is by the older table, the one
    resolved.
    """
    run_id = recorded_at_the_edge(database, make, tables[0], "recommended")
    chosen = {"run": run_id, "security": 128, "table": tables[1]}
    rows = rows_of(client, "leaderboard", **chosen)
    assert [row["variant"] for row in rows if row["rank"]] == variants
    assert [row["unsupported"] for row in rows if row["variant"] == "pyfhel"] == ["1"]
    assert {row["variant"] for row in rows_of(client, "matrix", **chosen)} == {"pyfhel", *variants}
    told = Ciphermark(tmp_path / "data", url)("results", run_id, "--security-table", tables[1]).out
    assert f"BFV, recommended  1 case: {variants[0]} fastest in 1" in told


def test_reports_have_the_levels_of_the_suites_table(url: str, database: Database, make: Maker) -> None:
    for table, fastest in (("2018", "seal is fastest"), ("2024", "tenseal is fastest")):
        with Store(url) as store:
            made = report.made(store, recorded_at_the_edge(database, make, table))
        assert f"Ranking: BFV, 128 bits ({table})" in [section.title for section in made.sections]
        told = [
            text for section in made.sections for item in section.figures for text in report.sentences(item)
        ]
        assert any(f"BFV at 128 bits ({table}), matched tuning: {fastest}" in text for text in told)
        (shown,) = made.answers
        assert shown["question"].place.table == table
        assert answers.plain(shown["answer"].headline).startswith(fastest.replace("is", "is the"))


def test_the_command_line_ranks_by_the_table_of_the_suite(
    tmp_path, url: str, database: Database, make: Maker
) -> None:
    run_id = recorded_at_the_edge(database, make, "2024")
    ciphermark = Ciphermark(tmp_path / "data", url)
    told = "BFV, matched  1 case: {} fastest in 1".format
    assert told("tenseal") in ciphermark("results", run_id).out
    assert told("seal") in ciphermark("results", run_id, "--security-table", "2018").out
    assert told("tenseal") in ciphermark("summary", run_id).out


def test_two_chains_are_two_rows_of_the_grid(client: TestClient, database: Database, make: Maker) -> None:
    run = make.run()
    database.record_run(run)
    for bits, median in (((40, 40, 41), 1.0), ((30, 30, 30), 2.0)):
        case = make.case("seal")
        case = replace(case, parameters=replace(case.parameters, modulus_bits=bits, security=0))
        database.record_outcome(make.outcome(run, case, times(make, median)))
    page = client.get("/ranking", params={"run": run.id}).text
    grid = page[page.index('<table class="grid"') : page.index("</table>", page.index('<table class="grid"'))]
    for told in ("40, 40, 41", "30, 30, 30", "1.00 ms", "2.00 ms"):
        assert told in grid


def test_a_grid_that_is_cut_says_so(client: TestClient, database: Database, make: Maker) -> None:
    run = make.run()
    database.record_run(run)
    outcomes = [
        make.outcome(run, make.case("seal", vector_length=size), status="crashed", error="x")
        for size in range(1, 302)
    ]
    database.record_outcomes(outcomes)
    page = client.get("/ranking", params={"run": run.id}).text
    assert "Rows 1–25 of 301" in page
    assert len(rows_of(client, "matrix", run=run.id)) == 301


def test_data_patterns_are_compared_with_an_interval(
    client: TestClient, database: Database, make: Maker
) -> None:
    run = make.run()
    database.record_run(run)
    for operation, random_ms in (("add", 1.02), ("mul", 3.0)):
        for pattern, median in (("constant", 1.0), ("random", random_ms)):
            case = make.case("seal", operation=operation, data_pattern=pattern)
            database.record_outcome(make.outcome(run, case, times(make, median)))
    rows = {row["operation"]: row for row in rows_of(client, "by-data", run=run.id)}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "add": "no difference",
        "mul": "random is slower",
    }
    assert float(rows["mul"]["ci_low"]) < float(rows["mul"]["ratio"]) < float(rows["mul"]["ci_high"])
