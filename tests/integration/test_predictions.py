"""Predictions next to results: the stored rows, the views, and the page with the model's track record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from dashboard import dashboard, rows_of

from ciphermark_benchmark import predicting, track_record
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_core.model import Outcome, Sample
from ciphermark_core.run import Run
from ciphermark_db.database import Database
from ciphermark_model.quantity import Quantity
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

# Predicted seconds and what the cost table lacks, by variant; each measured second is one.
PREDICTED = {"seal": (1.1, []), "seal-hexl": (0.98, []), "tenseal": (0.5, ["evaluate: rotate (BFV)"])}
SHARES = {"rotate": 0.75, "mul": 0.25}


def predicted(seconds: float, uncovered: list[str], step: str = "evaluate") -> dict[str, Any]:
    interval = {"predicted": seconds, "predicted_low": 0.95 * seconds, "predicted_high": 1.05 * seconds}
    place = {"stage": "multiply", "step": step, "metric": "time"}
    return {**place, **interval, "uncovered": uncovered, "cost_table": "c0ffee"}


@pytest.fixture(scope="module")
def recorded(new_url: Any, make: Maker) -> tuple[str, str]:
    """A database with a run of three variants, whose predictions are stored twice; the run's id."""
    url, run = new_url(), make.run()
    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        for variant, (seconds, uncovered) in PREDICTED.items():
            case = make.case(variant, experiment="micro", operation="matrix-product")
            samples = [Sample("time", 1.0, "multiply", None, "evaluate", ordinal=i) for i in range(9)]
            database.record_outcome(make.outcome(run, case, tuple(samples)))
            shares = [
                {"operation": name, "occurrences": 4, "predicted_s": share * seconds}
                for name, share in SHARES.items()
            ]
            for factor in (2.0, 1.0):
                rows = [predicted(factor * seconds, uncovered), predicted(1.0, [], "decrypt")]
                database.record_prediction(run.id, case.key, rows, shares)
        database.record_prediction(run.id, "no such case", [predicted(1.0, [])], [])
    return url, run.id


def test_a_view_has_predictions_next_to_measured_results(recorded: tuple[str, str]) -> None:
    url, run_id = recorded
    with Database.open(url) as database:
        table = database.query("select * from track_record where run_id = %s", [run_id])
    rows = {row["variant"]: row for row in (dict(zip(table.columns, row, strict=True)) for row in table.rows)}
    assert rows.keys() == PREDICTED.keys()  # one row each: nothing was measured of the step decrypt
    assert rows["seal"]["prediction_error"] == pytest.approx(0.1)
    assert [rows[name]["is_within_prediction"] for name in ("seal", "seal-hexl")] == [False, True]
    assert rows["tenseal"]["uncovered"] == ["evaluate: rotate (BFV)"]


def test_a_page_has_the_track_record_and_leaves_partial_predictions_out(recorded: tuple[str, str]) -> None:
    url, run_id = recorded
    with dashboard(url) as client:
        page = client.get("/prediction", params={"run": run_id}).text
        assert "Predicted times are off by 6.0% on average, at most +10.0% (matrix-product, seal)" in page
        assert "evaluate: rotate (BFV)" in page
        for name in ("predictions", "prediction-errors"):
            svg = client.get(f"/figures/{name}.svg", params={"run": run_id})
            assert (svg.status_code, "seal-hexl" in svg.text) == (200, True)
        residuals = rows_of(client, "residuals", run=run_id)
        assert {
            (row["variant"], row["part"], round(float(row["weighted_error"]), 6)) for row in residuals
        } == {
            *(("seal", part, 0.1) for part in SHARES),
            *(("seal-hexl", part, -0.02) for part in SHARES),
        }
        record = {row["variant"]: row for row in rows_of(client, "track-record", run=run_id)}
    assert [record[name]["coverage"] for name in ("seal", "seal-hexl", "tenseal")] == ["0.0", "1.0", ""]
    assert record["tenseal"]["partial"] == "1"


def test_a_deleted_run_takes_its_predictions_along(recorded: tuple[str, str], make: Maker) -> None:
    url, _ = recorded
    with Database.open(url) as database:
        case = make.case("seal", experiment="micro", operation="sign")
        run = make.record(
            database, {"case": case, "samples": (Sample("time", 1.0, "sign", None, "evaluate"),)}
        )
        database.record_prediction(run.id, case.key, [predicted(1.0, [])], [])
        database.delete_run(run.id)
        assert database.query("select * from track_record where run_id = %s", [run.id]).rows == []


@pytest.fixture
def database(new_url: Any) -> Iterator[Database]:
    with Database.open(new_url()) as database:
        database.migrate()
        yield database


def workload_outcome(make: Maker, run: Run) -> Outcome:
    """A correct pass of a shipped workload, with its recommended parameters."""
    parameters = WORKLOADS["logistic"].parameters("ckks")
    case = make.case("seal", experiment="micro", operation="logistic", parameters=parameters)
    samples = tuple(Sample("time", 1.0, "compute", None, "evaluate", ordinal=i) for i in range(5))
    return make.outcome(run, case, samples)


def test_a_step_of_both_parties_is_one_row(make: Maker) -> None:
    """Each of them serializes, and results have their sum."""
    times = {(party, "compute", "serialize"): Quantity(2.0, 1.0, 4.0) for party in ("client", "server")}
    prediction = SimpleNamespace(times_s=times, uncovered=(), table="0")
    (row,) = track_record._results(prediction)
    assert (row["predicted"], row["predicted_low"], row["predicted_high"]) == (4.0, 2.0, 8.0)


def test_a_workload_is_predicted_from_costs_of_other_runs_alone(database: Database, make: Maker) -> None:
    costs = [*make.costs("add", {"seal": (1.0, 2.0)})]
    run = make.record(database, *costs)
    outcome = workload_outcome(make, run)
    database.record_outcome(outcome)
    assert track_record.record(database, run, [outcome]) == 0  # its own costs do not count
    other = make.run()
    database.record_run(other)
    later = workload_outcome(make, other)
    database.record_outcome(later)
    assert track_record.record(database, other, [later]) == 1
    rows = database.query("select step, uncovered from track_record where run_id = %s", [other.id]).rows
    ((step, uncovered),) = rows
    assert step == "evaluate"
    assert any("relinearize" in text or "mul" in text for text in uncovered)  # the table has additions alone
    elsewhere = replace(other, host=replace(other.host, fingerprint="cafe"))
    assert track_record.record(database, elsewhere, [later]) == 0


COMPUTATION = """from ciphermark import computation, reals

@computation(x=reals(16))
def mine(x):
    return x + 1
"""


def test_a_computation_has_a_track_record_that_is_made_again_from_its_copy(
    database: Database, make: Maker, tmp_path: Path
) -> None:
    make.record(database, *make.costs("add", {"seal": (1.0, 2.0)}))
    (tmp_path / "mine.py").write_text(COMPUTATION)
    copy = user_workloads.copied("mine.py", tmp_path)
    directory = DataDirectory(tmp_path, None)
    user_workloads.store_copy(directory.workloads, copy)
    run = make.run()
    database.record_run(run)
    parameters = WORKLOADS[copy.name].parameters("ckks")
    case = make.case("seal", experiment="own", operation=copy.name, parameters=parameters)
    outcome = make.outcome(run, case, (Sample("time", 1.0, "compute", None, "evaluate"),))
    database.record_outcome(outcome)
    journal = Journal.create(directory, Header(run, "mine.yaml", (), workloads={"./mine.py": copy.name}))
    journal.append(outcome)
    journal.retire(directory)
    del WORKLOADS[copy.name]  # as in a later process
    assert track_record.renewed(directory, database, run.id) == 1
    del WORKLOADS[copy.name]
    (directory.workloads / f"{copy.name}.py").unlink()
    assert track_record.renewed(directory, database, run.id) == 0


def test_the_smallest_of_disturbed_medians_counts_and_any_undisturbed_one_before_it(
    database: Database, make: Maker
) -> None:
    """Whatever is latest is only right where nothing disturbed."""

    def median(variant: str) -> float:
        (cost,) = predicting.cost_table(database, run.host, variant).entries.values()
        return 1000 * cost.median

    for median_ms in (3.0, 2.0, 4.0):
        (cost,) = make.costs("add", {"openfhe": (median_ms,)})
        disturbed = tuple(replace(sample, is_disturbed=True) for sample in cost["samples"])
        watched = {"reference_kernel_version": 2.0, "reference_kernel_s": 5e-5}
        run = make.record(database, cost | {"samples": disturbed, "facts": watched})
    assert median("openfhe") == 2
    for median_ms in (6.0, 5.0, 7.0):
        run = make.record(database, *make.costs("add", {"openfhe": (median_ms,)}))
    assert median("openfhe") == 7


def test_rescaling_inside_of_products_has_the_costs_of_the_wrapped_library(
    database: Database, make: Maker
) -> None:
    """TenSEAL has no call for it; SEAL's costs count with wider intervals, and for no library that has the call."""
    costs = [*make.costs("rescale", {"seal": (1.0, 2.0)}), *make.costs("add", {"seal": (9.0,)})]
    run = make.record(database, *costs, *make.costs("add", {"tenseal": (3.0, 4.0), "pyfhel": (3.0, 4.0)}))
    table = predicting.cost_table(database, run.host, "tenseal")
    medians = {(key.operation, key.primes): cost.median for key, cost in table.entries.items()}
    rescaled = {key.primes: cost for key, cost in table.entries.items() if key.operation == "rescale"}
    assert {primes: cost.median for primes, cost in rescaled.items()} == {1: 1e-3, 2: 2e-3}
    assert rescaled[2].low <= 0.8 * 2e-3
    assert rescaled[2].high >= 1.2 * 2e-3
    assert medians["add", 2] == 4e-3
    pyfhel = predicting.cost_table(database, run.host, "pyfhel")
    assert {key.operation for key in pyfhel.entries} == {"add"}
