"""What a newcomer does first: one command, and the ranked table with everything behind it in PostgreSQL."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path

import installed
import pytest
import warm
from processes import PATIENCE_OF_RUNS_S, environment
from warm import PROGRAM

from ciphermark_db import embedded

REPOSITORY = Path(__file__).parents[2]
VARIANTS = ("seal", "seal-hexl", "tenseal", "pyfhel", "lattigo")
# Why those are missing that a host may lack: by its CPU, or without Go.
MISSING = {name: reason for name in VARIANTS if (reason := installed.availability(name).reason)}
ABLE = set(VARIANTS) - set(MISSING)
OPERATIONS = {
    "bfv": ("add", "mul_plain", "mul", "rotate(1)", "rotate(-1)", "rotate_columns"),
    "ckks": ("add", "mul_plain", "mul"),
}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """Runs the suite as the README says; yields a function for further commands, what was printed, and outcomes."""
    data_directory = tmp_path_factory.mktemp("smoke") / "data"

    def ciphermark(*arguments):
        forked = warm.command(arguments, environment(CIPHERMARK_DATA=str(data_directory)), REPOSITORY)
        out, err = forked.communicate(PATIENCE_OF_RUNS_S)
        assert forked.returncode == 0, err
        return out.decode()

    outcomes = data_directory.parent / "outcomes.jsonl"
    done = subprocess.run(
        [PROGRAM, "run", "smoke", "--json", str(outcomes)],
        cwd=REPOSITORY,
        env=environment(CIPHERMARK_DATA=str(data_directory)),
        capture_output=True,
        text=True,
        timeout=PATIENCE_OF_RUNS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # where no terminal watches, a line per comparison and nothing else
    assert all(re.match(r"\d+/\d+: ", line) for line in done.stderr.splitlines()), done.stderr
    yield (
        ciphermark,
        done.stdout,
        [json.loads(line) for line in outcomes.read_text().splitlines()],
        data_directory,
    )
    embedded.stop(data_directory)


@pytest.fixture(scope="module")
def ask(smoke):
    return lambda query: json.loads(smoke[0]("sql", query, "--format", "json"))


@pytest.fixture(scope="module")
def printed(smoke):
    """What ``results`` writes for programs: (scheme, operation, variant) -> the row of the operation's time."""
    rows = csv.DictReader(io.StringIO(smoke[0]("results", "last", "--format", "csv")))
    timed = [row for row in rows if (row["phase"], row["metric"]) == ("evaluate", "time") and row["n"]]
    places = {(row["scheme"], row["operation"], row["variant"]): row for row in timed}
    assert len(places) == len(timed)
    return places


def place(outcome):
    case = outcome["trial"]["case"]
    return case["experiment"], case["parameters"]["scheme"], case["variant"], case["operation"]


def test_everything_is_right_or_says_why_not(smoke):
    outcomes = smoke[2]
    refused = {("rotation", "bfv", "tenseal", operation): "rotat" for operation in OPERATIONS["bfv"][3:]} | {
        ("serialization", "bfv", "tenseal", "none"): "without compression"
    }
    for outcome in outcomes:
        if place(outcome) in refused:
            assert outcome["status"] == "unsupported"
            assert refused[place(outcome)] in outcome["error"]
        elif reason := MISSING.get(outcome["trial"]["case"]["variant"]):
            assert outcome["status"] == "unsupported"
            assert reason in outcome["error"]
        else:
            assert (place(outcome), outcome["status"], outcome["error"]) == (place(outcome), "ok", None)
    assert len({place(outcome) for outcome in outcomes}) == len(outcomes) == 57
    assert refused.keys() <= {place(outcome) for outcome in outcomes}


def test_every_result_was_compared_with_cleartext(smoke):
    for outcome in smoke[2]:
        if outcome["status"] == "ok":
            accuracy = outcome["accuracy"]
            assert accuracy["incorrect_slots"] == 0
            is_exact = outcome["trial"]["case"]["parameters"]["scheme"] == "bfv"
            assert (accuracy["tolerance"] == 0) is is_exact
            assert accuracy["max_abs_error"] == 0 or not is_exact


def test_every_operation_has_a_time_of_every_variant(smoke, printed):
    for scheme, operations in OPERATIONS.items():
        for operation in operations:
            expected = ABLE - {"tenseal"} if operation.startswith("rotate") else ABLE
            assert {variant for *at, variant in printed if at == [scheme, operation]} == expected
    table = smoke[0]("results", "last", "--details")
    assert {name for names in OPERATIONS.values() for name in names} | ABLE <= {*table.split()}


@pytest.mark.skipif("seal-hexl" in MISSING, reason="this CPU lacks what HEXL needs")
def test_the_speed_up_of_hexl_is_the_ratio_of_two_builds(ask):
    rows = ask("select * from speedup where phase = 'evaluate'")
    assert {(row["scheme"], row["operation"]) for row in rows} == {
        (scheme, name) for scheme, names in OPERATIONS.items() for name in names
    }
    assert {(row["variant_off"], row["variant_on"]) for row in rows} == {("seal", "seal-hexl")}
    assert all(row["ratio"] > 0 for row in rows)


def test_sql_agrees_with_what_results_writes(printed, ask):
    rows = ask("select * from results where phase = 'evaluate' and metric = 'time' and n is not null")
    assert {(row["scheme"], row["operation"], row["variant"]) for row in rows} == set(printed)
    for row in rows:
        written = printed[row["scheme"], row["operation"], row["variant"]]
        for name in ("n", "median", "ci_low", "ci_high", "min", "max"):
            assert written[name] == ("" if row[name] is None else str(row[name])), name
        # Nothing corrects samples that are all disturbed, and fewer than six make no interval.
        if row["n"] >= 6 and row["slowdown"] is not None:
            assert row["ci_low"] <= row["median"] <= row["ci_high"]
        else:
            assert row["ci_low"] is row["ci_high"] is None
            assert row["undisturbed_share"] < 1


def test_sql_has_every_outcome_and_sample(smoke, ask):
    outcomes = smoke[2]
    (counts,) = ask("select (select count(*) from trial) as trials, (select count(*) from sample) as samples")
    assert counts == {
        "trials": len(outcomes),
        "samples": sum(len(outcome["samples"]) for outcome in outcomes),
    }


def test_the_parameters_are_the_same_for_all_that_are_compared(ask):
    rows = ask(
        "select scheme, array_agg(distinct log_qp) as log_qp, array_agg(distinct security_2018) as security "
        "from results where library is not null and experiment = 'arithmetic' group by scheme"
    )
    for row in rows:
        assert max(row["log_qp"]) - min(row["log_qp"]) < 1
        assert row["security"] == [128]
    assert {row["scheme"] for row in rows} == {"bfv", "ckks"}


def test_build_and_host_of_every_figure_are_known(ask):
    assert (
        ask("select 1 from results where status = 'ok' and (library_version is null or host is null)") == []
    )
    builds = ask(
        "select distinct i.variant, i.library_version as version, b.facts, i.is_debug from build as b "
        "join case_info as i on i.build_id = b.id"
    )
    assert {row["variant"] for row in builds} == ABLE
    assert not any(row["is_debug"] for row in builds)
    assert all(row["facts"] for row in builds)


def test_the_end_tells_where_the_data_are(smoke):
    ciphermark, out, outcomes, data_directory = smoke
    run_id = outcomes[0]["trial"]["run_id"]
    assert f"Data: run {run_id} in the embedded PostgreSQL of {data_directory}" in out
    assert f"ciphermark results {run_id} --format csv" in out
    shown = ciphermark("results", run_id, "--format", "csv")
    assert "run_id" in shown.splitlines()[0].split(",")
    assert len(shown.splitlines()) > 200


def test_a_run_is_told_in_a_screenful(smoke):
    ciphermark, _, outcomes, _ = smoke
    summary = ciphermark("summary", "last")
    lines = summary.splitlines()
    assert max(map(len, lines)) <= 80
    demo = subprocess.run(
        ["make", "--dry-run", "demo"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    after = demo.stdout.split("ciphermark run quick")[1]
    assert "ciphermark summary last" in after
    assert "ciphermark report last -o .ciphermark/report.html" in after
    assert len(lines) + len(after.splitlines()) <= 40
    run_id = outcomes[0]["trial"]["run_id"]
    assert f"Run {run_id[:8]} of suite smoke" in lines[0]
    assert f"ciphermark results {run_id[:8]}" in lines[-1]
    parts = summary.split("\n\n")
    assert [part.splitlines()[0] for part in parts[1:-1]] == [
        "Fastest variants",
        "HEXL speedup",
        "Highlights",
    ]
    leaders, hexl, highlights = (
        [line for line in part.splitlines() if re.match(r"  \w", line)] for part in parts[1:-1]
    )
    assert [line.split(",")[0].strip() for line in leaders] == ["BFV", "CKKS"]
    assert [line.split()[0:3] for line in hexl] == (
        [["HEXL", "in", "BFV"], ["HEXL", "in", "CKKS"]] if "seal-hexl" in ABLE else [["This", "run", "has"]]
    )
    assert 1 <= len(highlights) <= 3  # up to three: a busy host leaves fewer sure ones


def test_depth_noise_and_sizes_are_there(ask):
    rows = ask(
        "select experiment, variant, metric, phase, max(median) as most from results group by 1, 2, 3, 4"
    )
    found = {(row["experiment"], row["variant"], row["metric"], row["phase"]): row["most"] for row in rows}
    for variant in ("seal", "pyfhel"):
        assert found["depth", variant, "depth", "evaluate"] == 64  # max_repetitions, by additions
        assert 30 < found["noise", variant, "noise_budget", "evaluate"] < 109
    for variant in ("seal", "pyfhel", "tenseal"):
        assert found["serialization", variant, "size", "ciphertext"] > 0
        assert found["serialization", variant, "time", "dump"] > 0
