"""Data sets of users in runs: from a file to its figures, by local parties, by services, and as jobs over REST."""

from __future__ import annotations

import csv
import json

import benchmark_service
import numpy as np
import pytest
from benchmark_service import submitted, when
from command import CHEAP, Ciphermark, forget_all_but
from processes import PATIENCE_S
from running_services import done

OWN = "own.csv"


def table(rows=120, columns=4, seed=1):
    """CSV of two classes that a linear model tells apart in most rows."""
    numbers = np.random.default_rng(seed)
    features = numbers.normal(size=(rows, columns)) * 10.0 ** np.arange(columns)
    labels = features[:, 0] + numbers.normal(size=rows) / 2 > 0
    head = ",".join(f"c{index}" for index in range(columns)) + ",label\n"
    lines = (
        ",".join(map(repr, [*map(float, row), int(label)]))
        for row, label in zip(features, labels, strict=True)
    )
    return head + "\n".join(lines) + "\n"


def experiment(*data_sets, workloads=("lmc-encrypted",), schemes=("ckks",), variants=("cleartext",)):
    return {
        "kind": "learning",
        "variants": list(variants),
        "workloads": list(workloads),
        "schemes": list(schemes),
        "data_sets": list(data_sets),
    }


def data_sets_of(outcomes):
    return {outcome["trial"]["case"]["dimensions"]["data_set"] for outcome in outcomes}


def test_a_file_is_measured(ciphermark):
    suite = ciphermark.suite(
        experiment(OWN, schemes=["bfv"], variants=["seal"]),
        experiment(OWN, workloads=["lmc-plain"]),
        memory_mb=2048,
    )
    (suite.parent / OWN).write_text(table())
    explained = ciphermark("suite", "explain", str(suite)).out
    out = ciphermark("run", str(suite)).out
    outcomes = ciphermark.outcomes()
    assert len(outcomes) == 2
    assert {(item["status"], item["error"]) for item in outcomes} == {("ok", None)}
    assert {item["accuracy"]["incorrect_slots"] for item in outcomes} == {0}
    (name,) = data_sets_of(outcomes)
    assert name.startswith("own@")
    assert name in explained
    assert f"linear means, trained on encrypted data, {name}" in " ".join(out.split())
    assert {row["data_set"] for row in ciphermark.rows("select distinct data_set from results")} == {name}
    again = ciphermark("results", "last").out
    assert f", {name}" in " ".join(again.split())


def test_a_run_goes_on_without_the_file(ciphermark):
    scores = {"file": "scores.csv", "label": "median"}
    suite = ciphermark.suite(experiment(OWN, scores))
    (suite.parent / OWN).write_text(table())
    (suite.parent / "scores.csv").write_text(
        "a,b,score\n" + "".join(f"{i},{i % 7},{i * i}\n" for i in range(60))
    )
    ciphermark("run", str(suite))
    before = ciphermark.outcomes()
    journal = ciphermark.journals()[0]
    header, first, *_ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(header + first)
    forget_all_but(ciphermark.database_url, [item["trial"]["id"] for item in ciphermark.outcomes()])
    (suite.parent / OWN).write_text("moved")
    (suite.parent / "scores.csv").unlink()
    ciphermark("run", "--resume", ciphermark.run_id(), str(suite))
    after = ciphermark.outcomes()
    assert len(after) == len(before) == 2
    assert {item["trial"]["id"] for item in after} == {item["trial"]["id"] for item in before}
    assert data_sets_of(after) == data_sets_of(before)
    assert {item["status"] for item in after} == {"ok"}
    told = ciphermark("run", str(suite), code=2).err
    assert "own.csv, line 1: a header of two columns or more is needed" in told


def constant():
    return "a,b,label\n" + "".join(f"3,0.1,{i % 2}\n" for i in range(30))


def outlying():
    """Every column has a huge value in a row of its own: some of those rows are test rows in any split."""
    columns, rows = 40, 80
    head = ",".join(f"c{index}" for index in range(columns)) + ",label\n"
    table = np.random.default_rng(1).normal(size=(rows, columns))
    table[np.arange(columns) * 2, np.arange(columns)] = 1e90
    return head + "".join(",".join(map(repr, row.tolist())) + f",{i % 2}\n" for i, row in enumerate(table))


def test_what_cannot_be_learned_from_is_unsupported_before_anything_is_encrypted(ciphermark):
    suite = ciphermark.suite(
        experiment("constant.csv"), experiment("outlying.csv", workloads=["lr-k3-plain"])
    )
    (suite.parent / "constant.csv").write_text(constant())
    (suite.parent / "outlying.csv").write_text(outlying())
    reasons = {
        "constant": ["no column has two different values in the 24 training rows of seed"],
        "outlying": ["look for outliers in the data", "or data with smaller outliers"],
    }
    ciphermark("run", str(suite), code=2)
    found = ciphermark.outcomes()
    assert len(found) == 2
    for outcome in found:
        assert outcome["status"] == "unsupported", outcome["error"]
        (name,) = data_sets_of([outcome])
        assert any(reason in outcome["error"] for reason in reasons[name.partition("@")[0]]), outcome["error"]
        assert not any(sample["step"] == "encrypt" for sample in outcome["samples"])


@pytest.fixture(scope="module")
def named(services):
    for name in ("client", "server"):
        services.start(name)
    return services.variables


def give(services, name, text):
    """Give the client service a data set, as curl would; returns its name."""
    headers = {"Content-Type": "text/csv"}
    answer = services.running[0].http.post(f"/v1/data-sets?name={name}", content=text, headers=headers)
    return done(answer)["name"]


def test_a_file_is_given_to_the_client_service(named, services, tmp_path, new_url):
    ciphermark = Ciphermark(tmp_path / "data", new_url(), named)
    suite = ciphermark.suite(experiment({"file": OWN, "label": "binary"}))
    (suite.parent / OWN).write_text(table(seed=2))
    ciphermark("run", str(suite))
    outcomes = ciphermark.outcomes()
    assert {(item["status"], item["error"]) for item in outcomes} == {("ok", None)}
    assert "is_pinned" not in outcomes[0]["facts"]  # which the services' host would know
    (name,) = data_sets_of(outcomes)
    there = {item["name"]: item for item in services.running[0].http.get("/v1/data-sets").json()}
    assert there[name] == {"name": name, "rows": 120, "features": 4}
    assert (services.private / "data-sets" / f"{name}.csv").read_text() == table(seed=2)
    by_name = ciphermark.suite(experiment(name), name="by-name")
    assert name in ciphermark("suite", "explain", str(by_name)).out


@pytest.fixture(scope="module")
def benchmark(named, tmp_path_factory, new_url):
    made = benchmark_service.started(tmp_path_factory.mktemp("benchmark"), new_url(), **named)
    yield made
    benchmark_service.ended(made)


def asked(*data_sets):
    return {"name": "asked", "budget": CHEAP | {"memory_mb": 2048}, "experiments": [experiment(*data_sets)]}


def test_a_job_names_what_the_client_service_has(benchmark, services):
    """It is accepted; the test above executes such a data set, and other tests such jobs."""
    name = give(services, "sent", table(seed=3))
    with benchmark.client() as http:
        run = submitted(http, suite=asked(name, "boston"), needs={"isa": ["none"]})
        assert http.post(f"/v1/runs/{run['id']}/cancel").json()["state"] == "cancelled"


@pytest.mark.extended
def test_a_job_computes_on_what_the_client_service_has(named, services, tmp_path, new_url):
    name = give(services, "sent", table(seed=3))
    service = benchmark_service.started(tmp_path, new_url(), "--worker", **named)
    with service.client() as http:
        run = when(http, submitted(http, suite=asked(name))["id"], "done")
        answer = http.get(f"/v1/runs/{run['id']}/results", params={"format": "csv"})
    benchmark_service.ended(service)
    assert {row["data_set"] for row in csv.DictReader(answer.text.splitlines())} == {name}


def test_a_job_with_an_unknown_name_is_refused_with_what_is_there(benchmark):
    with benchmark.client() as http:
        answer = http.post("/v1/runs", json={"suite": asked("nowhere@00000000")})
    assert answer.status_code == 422
    assert "unknown data set 'nowhere@00000000'" in answer.json()["detail"]
    assert "boston, breast-cancer" in answer.json()["detail"]


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_paths_are_refused_over_rest_and_not_looked_at(benchmark, tmp_path, form):
    """Whether there is such a file makes no difference: nobody learns what the server's disk holds."""
    (tmp_path / "there.csv").write_text(table())
    answers = set()
    for file in ("there", "nowhere"):
        for entry in (
            str(tmp_path / f"{file}.csv"),
            {"file": str(tmp_path / f"{file}.csv"), "label": "median"},
        ):
            body = (
                {"suite": asked(entry)}
                if form == "json"
                else {"suite_yaml": json.dumps(asked(entry), indent=1)}
            )
            with benchmark.client() as http:
                answer = http.post("/v1/runs", json=body)
            assert answer.status_code == 422, answer.text
            assert "files are read by the command line alone" in answer.json()["detail"]
            answers.add(answer.json()["detail"].replace(file, "…"))
    assert len(answers) == 1


@pytest.mark.extended
def test_a_worker_without_the_data_set_refuses_the_job(services, named, tmp_path, new_url):
    """Its parties are processes of its own host, which the client service's data sets are not on."""
    name = give(services, "lost", table(seed=4))
    service = benchmark_service.started(tmp_path, new_url(), **named)
    worker = Ciphermark(tmp_path / "another-data", service.database_url).start("worker")
    try:
        with service.client() as http:
            run = when(http, submitted(http, suite=asked(name))["id"], "failed")
        assert f"unknown data set '{name}'" in run["reason"]
        assert "known: boston, breast-cancer" in run["reason"]
        assert run["recorded"] == {}
    finally:
        worker.terminate()
        worker.communicate(timeout=PATIENCE_S)
        benchmark_service.ended(service)


def test_a_client_service_that_is_away_is_told(tmp_path, new_url, named):
    away = named | {"CIPHERMARK_CLIENT_URL": "http://127.0.0.1:9"}
    service = benchmark_service.started(tmp_path, new_url(), **away)
    try:
        with service.client() as http:
            answer = http.post("/v1/runs", json={"suite": asked("mine@00000000")})
            assert answer.status_code == 503
            assert (
                "the client service at http://127.0.0.1:9, which has the data sets" in answer.json()["detail"]
            )
            assert http.post("/v1/runs", json={"suite": asked("boston")}).status_code == 202
    finally:
        benchmark_service.ended(service)
