"""What retrieval costs, moves and brings: views, the listing and the page, from a run that was recorded."""

from __future__ import annotations

import golden
import pytest
from command import Ciphermark
from dashboard import dashboard

from ciphermark_core.model import Sample
from ciphermark_db.database import Database
from ciphermark_workloads.retrieval.figures import AT_ONCE, MOVED, RETRIEVALS, SCALING

MB = 10**6
# Of a database of so many bytes: seconds of the answer, a constant 10 ms and 1 GB/s.
ANSWERS_S = {size: 0.01 + size / 1e9 for size in (1 * MB, 4 * MB, 16 * MB)}


def samples(database_bytes, factor, queries=1, elements=1):
    answer_s = factor * queries * ANSWERS_S[database_bytes]
    times = {
        (None, "evaluate"): answer_s,
        ("client", None): 0.002,
        ("server", None): answer_s + 0.001,
        (None, "trace"): 0.5,
        (None, "encode"): 1.5,
        (None, None): answer_s + 0.003,
    }
    return (
        *(
            Sample("time", seconds, "answer", party, step, ordinal=ordinal)
            for (party, step), seconds in times.items()
            for ordinal in range(8)
        ),
        *(Sample("cpu_time", 2 * answer_s, "answer", None, "evaluate", ordinal=i) for i in range(8)),
        Sample("size", queries * 250_000.0, "answer"),
        Sample("size", queries * 65_000.0, "answer", None, "returned"),
        Sample("size", 788_000.0, "prepare"),
        Sample("database_size", float(database_bytes), "answer"),
        Sample("answers", float(elements), "answer"),
        Sample("answered_size", 256.0 * elements, "answer"),
        Sample("store_size", 4.0 * database_bytes, "answer"),
        Sample("memory_bandwidth", 10e9, "answer"),
        *(Sample("noise_budget", bits, "answer", ordinal=i) for i, bits in enumerate((7.0, 6.0, 8.0))),
        *(
            Sample("max_error", error, "answer", ordinal=i)
            for i, error in enumerate((0.0, 0.0, float(factor == 2)))
        ),
    )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, new_url, make):
    """Two variants of a protocol over three databases, one of them with two queries in a pass and with a batch of 64;
    another protocol failed.
    """
    url, run = new_url(), make.run()

    def case(variant, **dimensions):
        return make.case(variant, experiment="retrieval", operation="by-index", dimensions=dimensions)

    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        for variant, factor in (("seal", 1.0), ("tenseal", 2.0)):
            for size in ANSWERS_S:
                outcome = make.outcome(run, case(variant, rows=size), samples(size, factor))
                database.record_outcome(outcome)
        together = samples(4 * MB, 0.75, queries=2)
        database.record_outcome(make.outcome(run, case("seal", rows=4 * MB, inputs_per_pass=2), together))
        many = samples(4 * MB, 8.0, elements=64)
        database.record_outcome(make.outcome(run, case("seal", rows=4 * MB, wanted=64), many))
        database.record_outcome(
            make.outcome(run, case("pyfhel", rows=1), status="unsupported", error="it rotates nothing")
        )
    return Ciphermark(tmp_path_factory.mktemp("retrievals") / "data", url), url, run.id


def asked(recorded, query, *names):
    _, url, run_id = recorded
    with Database.open(url) as database:
        table = database.query(query.replace("RUN", f"'{run_id}'"))
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_a_row_has_what_a_query_costs_moves_and_brings(recorded) -> None:
    rows = asked(recorded, "select * from retrievals where run_id = RUN")
    assert len(rows) == 8  # and none of what failed
    (row,) = [row for row in rows if row["variant"] == "seal" and row["options"] == f"rows {4 * MB}"]
    assert (row["database_size"], row["answers"], row["answered_size"], row["inputs"]) == (4 * MB, 1, 256, 1)
    assert row["answer_s"] == pytest.approx(0.014)
    assert row["answer_cpu_s"] == pytest.approx(0.028)
    assert (row["client_s"], row["server_s"], row["preparation_s"]) == pytest.approx((0.002, 0.015, 2.0))
    assert (row["upload"], row["download"], row["keys_size"]) == (250_000, 65_000, 788_000)
    assert row["throughput"] == pytest.approx(4 * MB / 0.014)
    assert row["rate"] == pytest.approx(256 / 65_000)
    assert (row["store_size"], row["store_expansion"]) == (16 * MB, 4)
    assert row["memory_bandwidth"] == pytest.approx(10e9)
    assert row["bandwidth_share"] == pytest.approx(0.0016 / 0.014)
    assert row["noise_budget_bits"] == 7
    assert {row["variant"]: row["max_error"] for row in rows} == {
        "seal": 0,
        "tenseal": 1,
    }  # the largest of all passes


def test_the_whole_cost_has_both_parties_bytes_keys_and_error(recorded) -> None:
    rows = asked(recorded, "select * from whole_costs where run_id = RUN")
    assert len(rows) == 8
    (row,) = [row for row in rows if row["variant"] == "tenseal" and row["options"] == f"rows {4 * MB}"]
    assert (row["client_s"], row["server_s"], row["work_s"]) == pytest.approx((0.002, 0.029, 0.031))
    assert (row["upload"], row["download"], row["moved"], row["keys_size"]) == (
        *(250_000, 65_000, 315_000),
        788_000,
    )
    assert (row["inputs"], row["max_error"], row["server_peak_bytes"]) == (1, 1, None)
    ciphermark, _, run_id = recorded
    table = ciphermark(
        "results", run_id, "--table", "whole-cost", "--bandwidth", "1Gbit/s", "--format", "md"
    ).out
    assert "33.5 ms" in table  # 31 ms of work, and 315 kB over the link
    assert "--bandwidth" not in ciphermark("summary", run_id, "--bandwidth", "1Gbit/s").out
    assert "such as 100 Mbit/s" in ciphermark("results", run_id, "--bandwidth", "fast", code=2).err


def test_queries_of_a_pass_and_elements_of_a_query_count_each(recorded) -> None:
    rows = asked(
        recorded, "select * from retrievals where run_id = RUN and variant = 'seal' and database_size = 4e6"
    )
    by_options = {row["options"]: row for row in rows}
    alone, batch, many = (
        by_options[name]
        for name in (f"rows {4 * MB}", f"inputs_per_pass 2, rows {4 * MB}", f"rows {4 * MB}, wanted 64")
    )
    assert batch["inputs"] == 2
    assert batch["throughput"] == pytest.approx(alone["throughput"] / 0.75)
    assert batch["element_s"] == pytest.approx(0.75 * alone["element_s"])
    assert batch["query_s"] == pytest.approx(0.75 * batch["alone_s"])
    assert batch["alone_s"] == alone["alone_s"] == alone["query_s"] == alone["answer_s"]
    assert many["alone_s"] == many["query_s"]  # another case, which is asked for alone
    assert batch["bandwidth_share"] == pytest.approx(alone["bandwidth_share"] / 1.5)
    assert many["answers"] == 64
    assert many["element_s"] == pytest.approx(alone["element_s"] * 8 / 64)
    assert many["throughput"] == pytest.approx(alone["throughput"] / 8)


def test_the_constant_and_the_slope_of_an_answer_are_found(recorded) -> None:
    rows = asked(recorded, "select * from retrieval_scaling where run_id = RUN order by variant")
    assert [(row["variant"], row["points"]) for row in rows] == [("seal", 3), ("tenseal", 3)]
    for row, factor in zip(rows, (1.0, 2.0), strict=True):
        assert row["constant_s"] == pytest.approx(factor * 0.01)
        assert row["marginal_throughput"] == pytest.approx(1e9 / factor)
        assert 0 < row["exponent"] < 1
        assert row["fit"] == pytest.approx(1)
        assert (row["smallest_database"], row["largest_database"]) == (1 * MB, 16 * MB)


def test_no_line_is_through_cases_that_differ_in_more_than_the_size(recorded, make) -> None:
    _, url, _ = recorded
    run = make.run()
    with Database.open(url) as database:
        database.record_run(run)
        for is_public, factor in ((False, 1.0), (True, 3.0)):
            for size in ANSWERS_S:
                case = make.case(
                    "seal",
                    experiment="retrieval",
                    operation="by-index",
                    dimensions={"rows": size, "public": is_public},
                )
                database.record_outcome(make.outcome(run, case, samples(size, factor)))
        found = database.query(f"select * from retrieval_scaling where run_id = '{run.id}'").rows
        assert len(database.query(f"select * from retrievals where run_id = '{run.id}'").rows) == 6
    assert found == []


def test_results_have_a_table_of_it(recorded) -> None:
    ciphermark, _, run_id = recorded
    golden.compare("retrievals.md", ciphermark("results", run_id, "--format", "md").out)


def costs(ciphermark, run_id, *options):
    """What a million elements cost by the table, of the answers to one query over each database."""
    lines = ciphermark("results", run_id, "--format", "md", *options).out.splitlines()
    start = next(place for place, line in enumerate(lines) if "Retrieval. " in line)
    table = [line for line in lines[start:] if line.startswith("|")]
    heads = [cell.strip() for cell in table[0].split("|")]
    place = heads.index("cost")
    return [line.split("|")[place].strip() for line in table[2:10]]


def test_a_million_elements_cost_what_prices_say(recorded) -> None:
    """Of 4 MB by seal: 28 ms of CPU, 65 kB returned; halves and 64ths of it for a batch, and for a query that brings
    more.
    """
    ciphermark, _, run_id = recorded
    assert "280" in costs(ciphermark, run_id, "--price-cpu-hour", "36", "--price-gb", "0")
    assert "65" in costs(ciphermark, run_id, "--price-cpu-hour", "0", "--price-gb", "1")
    assert "6" in costs(ciphermark, run_id)  # 0.15 for the CPU, 5.85 for what is returned
    for price in ("nan", "inf", "-1"):
        assert "--price-gb" in ciphermark("results", run_id, "--price-gb", price, code=2).err


def test_there_is_a_page_with_both_figures(recorded) -> None:
    _, url, run_id = recorded
    with dashboard(url) as client:
        page = client.get("/retrieval", params={"run": run_id}).text
        titles = (figure.title for figure in (RETRIEVALS, MOVED, AT_ONCE, SCALING))
        for told in (*titles, "by-index", "1.00 GB/s"):
            assert told in page
        for name in ("retrievals", "communication", "retrieval-at-once"):
            svg = client.get(f"/figures/{name}.svg", params={"run": run_id})
            assert (svg.status_code, "Database" in svg.text or "lement" in svg.text) == (200, True)
        chosen = client.get("/figures/retrievals.csv", params={"run": run_id, "variant": "tenseal"}).text
        assert len(chosen.splitlines()) == 1 + len(ANSWERS_S)


def test_what_several_at_once_save_is_shown(recorded) -> None:
    """By two queries in a pass and by 64 elements for one; of databases of which one element alone was got, nothing."""
    _, url, run_id = recorded
    with dashboard(url) as client:
        chart = client.get("/figures/retrieval-at-once.json", params={"run": run_id}).json()
        table = client.get("/figures/retrieval-at-once.csv", params={"run": run_id}).text
    marks = chart["data"]["values"]
    assert sorted((row["variant"], row["got"]) for row in marks) == [
        *(("seal", got) for got in (1, 2, 64)),
        ("tenseal", 1),
    ]
    one, two, many = (
        next(row for row in marks if (row["variant"], row["got"]) == ("seal", got)) for got in (1, 2, 64)
    )
    assert one["series"] == two["series"] != many["series"]
    assert two["element_s"] == pytest.approx(0.75 * one["element_s"])
    assert len(table.splitlines()) == 1 + len(marks)


def test_what_nothing_beats_is_on_the_front(recorded) -> None:
    """Of marks that are as far from the axis of bytes, the fastest alone."""
    _, url, run_id = recorded
    with dashboard(url) as client:
        chart = client.get("/figures/communication.json", params={"run": run_id}).json()
    marks = chart["data"]["values"]
    for what in {row["panel"] for row in marks}:
        same = [row for row in marks if row["panel"] == what]
        unbeaten = [row for row in same if row["is_unbeaten"]]
        assert unbeaten
        for row in same:
            worse = [
                other
                for other in same
                if other["moved"] <= row["moved"]
                and other["element_s"] <= row["element_s"]
                and (other["moved"], other["element_s"]) != (row["moved"], row["element_s"])
            ]
            assert row["is_unbeaten"] == (not worse)
    assert any(not row["is_unbeaten"] for row in marks)
