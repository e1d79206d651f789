"""What the dashboard says of workloads and of published values: every number as written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command import Ciphermark
from dashboard import dashboard, rows_of
from phases import place
from starlette.testclient import TestClient

from ciphermark_core.model import Sample
from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

SAMPLES = (
    *(Sample("time", value, "prepare", ordinal=number) for number, value in enumerate((0.9, 0.7, 0.8))),
    *(
        Sample("time", value, "infer", ordinal=number)
        for number, value in enumerate((3.1, 2.4, 2.9, 2.2, 2.6, 2.5, 3.0, 2.3, 2.8))
    ),
    Sample("time", 5.0, "train"),
    Sample("accuracy", 0.9, "infer"),
    Sample("mse", 0.02, "infer"),
    Sample("agreement", 0.95, "infer"),
    Sample("noise_error", 1e-4, "infer"),
    Sample("rounding_error", 1e-3, "infer"),
    Sample("size", 3000.0, "train"),
    Sample("size", 9000.0, "infer"),
    Sample("plaintext_size", 100.0, "train"),
    Sample("plaintext_size", 500.0, "infer"),
)
LEARNED = {
    "operation": "lmc-plain",
    "data_set": "boston",
    "status": "ok",
    "prepare_s": "0.8",
    "train_s": "5.0",
    "infer_s": "2.6",
    "accuracy": "0.9",
    "mse": "0.02",
    "agreement": "0.95",
    "noise_error": "0.0001",
    "rounding_error": "0.001",
    "expansion": "20.0",
    "error": "",
}


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[TestClient]:
    with dashboard(url) as made:
        yield made


@pytest.fixture
def run_id(database: Database, make: Maker) -> str:
    run = make.run()
    database.record_run(run)
    case = make.case("seal", experiment="learning", operation="lmc-plain", dimensions={"data_set": "boston"})
    database.record_outcome(make.outcome(run, case, SAMPLES))
    return run.id


def test_cases_that_differ_in_options_are_told_apart(
    client: TestClient, url: str, tmp_path: Path, database: Database, make: Maker
) -> None:
    run = make.run()
    database.record_run(run)
    for batch in (1, 8):
        dimensions = {"data_set": "boston", "inputs_per_pass": batch}
        case = make.case("seal", experiment="learning", operation="lmc-plain", dimensions=dimensions)
        database.record_outcome(make.outcome(run, case, SAMPLES))
    assert [row["options"] for row in rows_of(client, "learning", run=run.id)] == [
        "inputs_per_pass 1",
        "inputs_per_pass 8",
    ]
    assert {row["options"] for row in rows_of(client, "stages", run=run.id)} == {
        "inputs_per_pass 1",
        "inputs_per_pass 8",
    }
    printed = Ciphermark(tmp_path / "data", url)("results", run.id).out
    assert [f", inputs_per_pass {batch}, boston" in printed for batch in (1, 8)] == [True, True]


def test_a_workload_has_its_times_and_its_quality(client: TestClient, run_id: str) -> None:
    (row,) = rows_of(client, "learning", run=run_id)
    assert {name: row[name] for name in LEARNED} == LEARNED


def test_published_figures_have_ours_beside_them(client: TestClient, run_id: str) -> None:
    rows = rows_of(client, "published", run=run_id)
    assert len(rows) > 40
    with_ours = {
        (row["result"], row["published_value"]): (row["variant"], row["operation"], row["median"])
        for row in rows
        if row["median"] and row["metric"] == "time" and row["scheme"] == "bfv"
    }
    assert with_ours == {
        ("LMC plaintext model preparation", "0.8"): ("seal", "lmc-plain", "0.8"),
        ("LMC plaintext model training", "0.01"): ("seal", "lmc-plain", "5.0"),
        ("LMC plaintext model inference (102 rows)", "4.97"): ("seal", "lmc-plain", "2.6"),
    }
    bounds = {(row["median"], row["ci_low"], row["ci_high"]) for row in rows if row["median"] == "2.6"}
    assert bounds == {("2.6", "2.3", "3.0")}


def test_stages_are_told_by_party(client: TestClient, database: Database, make: Maker) -> None:
    """CPU by wall time of the stage; a server that has no part in it has no figure, and not 0."""

    def times(phase: str, wall_s: float, cpu_s: float) -> tuple[Sample, ...]:
        return Sample("time", wall_s, *place(phase)), Sample("cpu_time", cpu_s, *place(phase))

    samples = (
        *times("train", 4.0, 2.0),
        *times("train.client", 4.0, 2.0),
        *times("infer", 8.0, 3.0),
        *times("infer.client", 2.0, 1.0),
        *times("infer.server", 5.0, 2.0),
        *times("infer.serialize", 0.5, 0.5),
        *times("infer.deserialize", 0.25, 0.25),
        *times("infer.check", 100.0, 100.0),
        Sample("time", 1.0, "infer", step="transfer"),
        Sample("peak_memory", 5e7, "infer", "client"),
        Sample("peak_memory", 7e7, "infer", "server"),
        Sample("time", 3.5, "infer", step="evaluate"),
    )
    run = make.run()
    database.record_run(run)
    case = make.case("seal", experiment="learning", operation="lmc-plain", dimensions={"data_set": "boston"})
    database.record_outcome(make.outcome(run, case, samples))
    train, infer = rows_of(client, "stages", run=run.id)
    assert (train["stage"], train["time_s"], train["client_cpu"]) == ("train", "4.0", "0.5")
    assert (train["server_cpu"], train["server_peak_bytes"]) == ("", "")
    assert (infer["stage"], infer["time_s"], infer["client_cpu"], infer["server_cpu"]) == (
        "infer",
        "8.0",
        "0.125",
        "0.25",
    )
    assert (infer["serialization_s"], infer["transfer_s"], infer["evaluate_s"]) == ("0.75", "1.0", "3.5")
    assert (infer["client_peak_bytes"], infer["server_peak_bytes"]) == ("50000000.0", "70000000.0")


def test_workloads_that_failed_are_shown(client: TestClient, database: Database, make: Maker) -> None:
    run = make.run()
    database.record_run(run)
    case = make.case(
        "tenseal", experiment="learning", operation="lr-plain", dimensions={"data_set": "boston"}
    )
    database.record_outcome(make.outcome(run, case, status="unsupported", error="it has no rotations"))
    (row,) = rows_of(client, "learning", run=run.id)
    assert (row["status"], row["error"], row["infer_s"]) == ("unsupported", "it has no rotations", "")
    assert "it has no rotations" in client.get("/learning", params={"run": run.id}).text
