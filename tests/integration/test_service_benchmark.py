"""The benchmark service as its users have it: a process, HTTP, and a worker beside it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pyarrow.parquet as pq
import pytest
from benchmark_service import Service, ended, events_of, started, submitted, suite, when
from command import TINY, Ciphermark, Gate
from processes import wait_until

from ciphermark_benchmark.api.advice import Advised
from ciphermark_benchmark.api.views import Comparison, ResultRow
from ciphermark_benchmark.suite.capacity import PER_CORE

CHOSEN = ["cleartext", "planted-good"]
VARIANTS = (*CHOSEN, "planted-missing")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    return Gate(tmp_path_factory.mktemp("gate") / "gate")


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str], gate: Gate
) -> Iterator[Service]:
    made = started(tmp_path_factory.mktemp("service"), new_url(), "--worker", PLANTED_GATE=str(gate.folder))
    yield made
    ended(made)


@pytest.fixture
def client(service: Service) -> Iterator[httpx.Client]:
    with service.client() as made:
        yield made


@pytest.fixture(scope="module")
def finished(service: Service) -> str:
    """The id of a run that is done, of those variants that were chosen."""
    with service.client() as client:
        run_id = submitted(client, suite=suite("add", "mul", variants=VARIANTS), variants=CHOSEN)["id"]
        run = when(client, run_id, "done")
        assert run["recorded"] == {"ok": 4}
        assert run["trials"] == 4
        return str(run_id)


def test_a_run_from_submission_to_results(client: httpx.Client, service: Service, finished: str) -> None:
    assert client.get("/v1/runs").json()["runs"][-1]["id"] == finished
    rows = client.get(f"/v1/runs/{finished}/results").json()
    with psycopg.connect(service.database_url) as connection:
        (count,) = connection.execute("select count(*) from results where run_id = %s", [finished]).fetchone()
    assert len(rows) == count > 0
    assert all(ResultRow.model_validate(row) for row in rows)
    assert {row["variant"] for row in rows} == {*CHOSEN}


def test_exports_equal_what_sql_answers(client: httpx.Client, service: Service, finished: str) -> None:
    columns = "case_key, phase, metric, n, median"
    with psycopg.connect(service.database_url) as connection:
        query = f"select {columns} from results where run_id = %s"
        expected = sorted(map(repr, connection.execute(query, [finished])))
    names = columns.split(", ")

    def picked(rows: list[dict]) -> list[str]:
        return sorted(repr(tuple(row[name] for name in names)) for row in rows)

    answers = {
        form: client.get(f"/v1/runs/{finished}/results", params={"format": form})
        for form in ("json", "csv", "parquet")
    }
    assert picked(answers["json"].json()) == expected
    assert picked(pq.read_table(io.BytesIO(answers["parquet"].content)).to_pylist()) == expected
    from_csv = list(csv.DictReader(io.StringIO(answers["csv"].text)))
    kinds = (str, str, str, int, float)
    assert sorted(
        repr(tuple(kind(row[name]) for kind, name in zip(kinds, names, strict=True))) for row in from_csv
    ) == sorted(expected)


def test_an_answer_at_hand_is_not_sent_again(client: httpx.Client, finished: str) -> None:
    path = f"/v1/runs/{finished}/results"
    first = client.get(path)
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_comparing_a_run_with_itself_finds_no_change(client: httpx.Client, finished: str) -> None:
    answer = client.get("/v1/compare", params={"a": finished, "b": finished}).json()
    Comparison.model_validate(answer)
    rows = answer["results"]
    assert rows
    assert (answer["times"], answer["verdicts"].keys() & {"slower", "faster"}) == (
        sum(row["detectable_slowdown"] is not None for row in rows),
        set(),
    )
    assert not [row for row in rows if row["verdict"] in ("changed", "faster", "slower")]


def test_events_tell_every_trial_once_and_then_the_end(client: httpx.Client, gate: Gate) -> None:
    run_id = submitted(client, suite=suite("add", "mul", variants=("cleartext", "planted-waits")))["id"]
    wait_until(lambda: gate.arrived() == 1, "the run is under way")
    with client.stream("GET", f"/v1/runs/{run_id}/events") as live:
        lines = live.iter_lines()
        assert next(lines) == "event: state"
        assert json.loads(next(lines).removeprefix("data: "))["state"] in ("queued", "running")
        gate.let_pass(*range(10))
        rest = list(lines)
    assert sum(line == "event: trial" for line in rest) == 4
    replayed = events_of(client, run_id)
    trials = [(number, data) for number, kind, data in replayed if kind == "trial"]
    assert len({data["trial_id"] for _, data in trials}) == len(trials) == 4
    assert (replayed[-1][1], replayed[-1][2]["state"]) == ("state", "done")
    numbers = [number for number, _ in trials]
    behind = events_of(client, run_id, **{"Last-Event-ID": str(numbers[1])})
    assert [number for number, kind, _ in behind if kind == "trial"] == numbers[2:]


def test_a_running_run_is_cancelled(client: httpx.Client, gate: Gate) -> None:
    before = gate.arrived()
    for name in gate.folder.glob("pass-*"):
        name.unlink()
    run_id = submitted(client, suite=suite("mul", variants=("planted-waits",)))["id"]
    wait_until(lambda: gate.arrived() > before, "the run is under way")
    refused = client.delete(f"/v1/runs/{run_id}")
    assert (refused.status_code, "cancel it first" in refused.json()["detail"]) == (422, True)
    assert client.post(f"/v1/runs/{run_id}/cancel").status_code == 202
    run = when(client, run_id, "cancelled")
    assert run["reason"] == "cancelled on request"
    again = client.post(f"/v1/runs/{run_id}/cancel")  # what has ended stays as it is
    assert (again.status_code, again.json()["state"]) == (202, "cancelled")
    assert events_of(client, run_id)[-1][2]["state"] == "cancelled"
    assert client.delete(f"/v1/runs/{run_id}").status_code == 204
    assert client.get(f"/v1/runs/{run_id}").status_code == 404


def test_a_queued_run_says_what_it_waits_for(client: httpx.Client) -> None:
    run = submitted(client, suite=suite(), needs={"isa": ["a_flag_that_no_cpu_has"]})
    assert run["state"] == "queued"
    assert "lacks CPU flag a_flag_that_no_cpu_has" in str(run["waits_for"])
    cancelled = client.post(f"/v1/runs/{run['id']}/cancel").json()
    assert cancelled["state"] == "cancelled"


def test_suites_by_name_and_as_yaml(client: httpx.Client) -> None:
    names = client.get("/v1/suites").json()["suites"]
    assert "smoke" in names
    assert names == sorted(names)
    assert "smoke" in client.get("/v1/suites").json()["suites"]
    named = submitted(client, suite="smoke", needs={"isa": ["none"]})
    assert named["suite"] == "smoke"
    matrix = "{kind: arithmetic, variants: [cleartext], schemes: [bfv], ring_dimension: [1024]}"
    text = f"name: written\nexperiments:\n  - {matrix}\n"
    written = submitted(client, suite_yaml=text, needs={"isa": ["none"]})
    assert written["suite"] == "written"
    for run in (named, written):
        client.post(f"/v1/runs/{run['id']}/cancel")


def test_who_chooses_what_the_suite_has_not_is_refused(client: httpx.Client) -> None:
    refused = client.post("/v1/runs", json={"suite": suite(), "variants": ["seal"]})
    assert refused.status_code == 422
    assert "the suite has no variant 'seal'" in refused.json()["detail"]


def test_hosts_and_adapters_are_told(client: httpx.Client) -> None:
    (host,) = client.get("/v1/hosts").json()["hosts"]
    assert host["is_alive"]
    assert "cleartext" in host["variants"]
    adapters = {item["variant"]: item for item in client.get("/v1/adapters").json()["adapters"]}
    assert adapters["cleartext"]["is_installed"]
    assert "a_module_that_nobody_has" in adapters["planted-missing"]["reason"]


def test_readiness_tells_of_worker_and_disk(client: httpx.Client) -> None:
    fine = {"ready": True, "checks": {"database": None}, "notes": {"worker": None, "disk": None}}
    wait_until(lambda: client.get("/readyz").json() == fine, "a worker is there")


def test_a_service_without_worker_and_disk_is_ready_and_says_so(
    tmp_path: Path, new_url: Callable[[], str]
) -> None:
    (tmp_path / "file").write_text("")
    service = started(tmp_path, new_url(), CIPHERMARK_DATA=str(tmp_path / "file" / "data"))
    with service.client(None) as anyone:
        answer = anyone.get("/readyz")
    ended(service)
    assert answer.status_code == 200
    assert "no benchmark worker is there" in answer.json()["notes"]["worker"]
    assert answer.json()["notes"]["disk"] == "nothing can be written to the data directory: Not a directory"


def test_more_processes_than_any_host_holds_are_refused_with_the_figure(client: httpx.Client) -> None:
    (host,) = client.get("/v1/hosts").json()["hosts"]
    labels = tuple(f"cleartext@l{number}" for number in range(PER_CORE * host["cores"] + 1))
    refused = client.post("/v1/runs", json={"suite": suite("add", variants=labels)})
    assert refused.status_code == 422
    assert refused.json()["type"] == "urn:ciphermark:unsupported"
    assert f"{len(labels)} variants side by side need" in refused.json()["detail"]
    halves = suite("add", variants=labels[::2])
    halves["experiments"] = [*halves["experiments"], *suite("add", variants=labels[1::2])["experiments"]]
    assert client.post("/v1/runs", json={"suite": halves}).json()["detail"] == refused.json()["detail"]
    few = {"suite": suite("add", variants=labels), "variants": list(labels[:2])}
    client.post(f"/v1/runs/{submitted(client, **few, needs={'isa': ['none']})['id']}/cancel")


def test_metrics_tell_of_jobs_workers_and_trials(
    client: httpx.Client, service: Service, finished: str
) -> None:
    told = client.get("/metrics").text.splitlines()
    assert "ciphermark_database_is_there 1.0" in told
    assert "ciphermark_workers 1.0" in told
    with psycopg.connect(service.database_url) as connection:
        jobs = connection.execute("select state, count(*) from job group by state").fetchall()
        trials = connection.execute("select status, count(*) from trial group by status").fetchall()
    assert "done" in dict(jobs)
    assert "ok" in dict(trials)
    for state, count in jobs:
        assert f'ciphermark_jobs{{state="{state}"}} {count:.1f}' in told
    for status, count in trials:
        assert f'ciphermark_trials{{status="{status}"}} {count:.1f}' in told


def test_runs_of_the_command_line_are_there_too(
    client: httpx.Client, service: Service, tmp_path: Path
) -> None:
    command = Ciphermark(tmp_path / "data", service.database_url)
    command("run", str(command.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]})))
    run = client.get(f"/v1/runs/{command.run_id()}").json()
    assert (run["state"], run["recorded"]) == ("recorded", {"ok": 1})
    assert events_of(client, run["id"])[-1][2]["state"] == "recorded"
    assert client.post(f"/v1/runs/{run['id']}/cancel").status_code == 422


def test_the_list_goes_page_by_page(client: httpx.Client, finished: str) -> None:
    everything = [run["id"] for run in client.get("/v1/runs", params={"limit": 500}).json()["runs"]]
    assert finished in everything
    found: list[str] = []
    before = None
    while True:
        page = client.get("/v1/runs", params={"limit": 2} | ({"before": before} if before else {})).json()
        found += [run["id"] for run in page["runs"]]
        before = page["next"]
        if before is None:
            break
    assert found == everything


def test_a_service_without_a_token_does_not_start(ciphermark: Ciphermark) -> None:
    done = ciphermark("serve", code=2)
    assert "benchmark has no token" in done.err


def test_advice_without_a_cost_table_names_the_calibration(client: httpx.Client) -> None:
    assert "logistic" in client.get("/v1/advice").json()["workloads"]
    asked = {"workload": "logistic", "options": {"degree": 15}, "latency": "2s", "libraries": ["seal"]}
    answer = client.post("/v1/advice", json=asked).json()
    Advised.model_validate(answer)
    assert (answer["points"], answer["limits"]["latency"]) == ([], 2.0)
    reasons = {item["reason"] for item in answer["left_out"] if item["against"] == "uncovered"}
    assert any("ciphermark calibrate --variant seal" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"workload": "logistik"}, "did you mean 'logistic'?"),
        ({"workload": "./mine.py"}, "services execute no files"),
        ({"workload": "logistic", "latency": "soon"}, "write a number with a unit"),
        ({"workload": "logistic", "latencyy": 2}, "latencyy"),
        ({"workload": "logistic", "price": 1}, "core_hour"),
        ({"workload": "logistic", "options": {"degree": "many"}}, "degree"),
    ],
)
def test_a_request_for_advice_that_is_wrong_says_why(
    client: httpx.Client, body: dict[str, object], words: str
) -> None:
    answer = client.post("/v1/advice", json=body)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:ciphermark:invalid")
    assert words in answer.text
