"""Long programs go on after kill -9, of the server's party and of the whole run, on the libraries that bootstrap."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import installed
import psutil
import pytest
from command import Ciphermark, kill
from processes import PATIENCE_S

pytestmark = pytest.mark.extended

SMALL = """
from ciphermark_circuits import helr
from ciphermark_workloads.deep.bootstrapped import Ring
from ciphermark_workloads.deep.helr import Helr


class Small(Helr):
    name = "small-helr"
    title = "logistic regression in a small ring"
    ring = Ring(helr.DEPTH + 1, 512, level_budget=(2, 2))
"""
STAGES = [f"iteration-{number}" for number in range(1, 6)]


@pytest.fixture
def ciphermark(tmp_path, new_url):
    return Ciphermark(tmp_path / "data", new_url())


def stopped_amid(ciphermark, folder, variant):
    """A run that is stopped after two stages or more, by a signal that it can be continued from."""
    if not installed.availability(variant).is_installed:
        pytest.skip(f"{variant} is not built here")
    (folder / "small.py").write_text(SMALL)
    options = {"features": [7], "samples": [60], "iterations": [5]}
    suite = ciphermark.suite(
        {
            "kind": "deep",
            "variants": [variant],
            "workloads": ["./small.py"],
            "options": options,
            "security": "none",
        },
        min_samples=1,
        warmups=0,
        memory_mb=1500,
    )
    process, deadline = ciphermark.start("run", str(suite)), time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        assert process.poll() is None
        for path in ciphermark.data_directory.glob("checkpoints/*/*/checkpoint.json"):
            if json.loads(path.read_bytes())["ended"] >= 2:
                os.kill(process.pid, signal.SIGSTOP)
                return process, path
        time.sleep(0.002)
    raise AssertionError("there was no checkpoint")


def require_resumed(ciphermark):
    (outcome,) = ciphermark.outcomes()
    assert (outcome["status"], outcome["facts"]["resumptions"]) == ("ok", 1)
    assert outcome["accuracy"]["incorrect_slots"] == 0
    times = [s for s in outcome["samples"] if s["metric"] == "time" and s["stage"] in STAGES]
    stages = [s for s in times if not s.get("step") and not s.get("party")]
    assert sorted(s["stage"] for s in stages) == STAGES
    assert all(s["is_disturbed"] for s in stages)
    assert [
        *ciphermark.data_directory.glob("checkpoints/*"),
        *ciphermark.data_directory.glob("secret-keys/*"),
    ] == []


def of_role(process, role):
    for child in psutil.Process(process.pid).children(recursive=True):
        if child.status() != psutil.STATUS_ZOMBIE and ["--role", role] == child.cmdline()[3:5]:
            yield child


@pytest.mark.parametrize("variant", ["lattigo", "openfhe"])
def test_a_killed_server_costs_one_stage(ciphermark, tmp_path, variant):
    process, _ = stopped_amid(ciphermark, tmp_path, variant)
    killed = list(of_role(process, "server"))
    assert killed
    keys = str(ciphermark.data_directory / "secret-keys")
    assert not [child for child in killed if keys in child.cmdline()]
    assert [child for child in of_role(process, "client") if keys in child.cmdline()]
    for child in killed:
        child.kill()
    os.kill(process.pid, signal.SIGCONT)
    out, err = process.communicate(timeout=PATIENCE_S)
    ciphermark.ended(process.returncode, out, err, 0)
    require_resumed(ciphermark)


@pytest.mark.parametrize("variant", ["lattigo", "openfhe"])
def test_a_killed_run_costs_one_stage(ciphermark, tmp_path, variant):
    process, path = stopped_amid(ciphermark, tmp_path, variant)
    run, ended = path.parent.parent.name, json.loads(path.read_bytes())["ended"]
    kept = json.loads(path.read_bytes())["pass_samples"]
    kill(process)
    ciphermark("run", "--resume", run)
    require_resumed(ciphermark)
    (outcome,) = ciphermark.outcomes()
    values = {
        (s["metric"], s["stage"], s.get("step"), s.get("party")): s["value"] for s in outcome["samples"]
    }
    old = {(s["metric"], s["stage"], s.get("step"), s.get("party")): s["value"] for s in kept}
    assert {stage for _, stage, *_ in old} == set(STAGES[:ended])
    assert {key: values[key] for key in old} == old  # not repeated


def test_a_checkpoint_of_another_program_is_refused(ciphermark, tmp_path):
    process, path = stopped_amid(ciphermark, tmp_path, "lattigo")
    kill(process)
    edited = json.loads(path.read_bytes())
    edited["basis"]["programs"][0] = "0" * 64
    path.write_text(json.dumps(edited))
    ciphermark("run", "--resume", Path(path).parent.parent.name)
    (outcome,) = ciphermark.outcomes()
    assert outcome["status"] == "ok"
    assert outcome["error"].endswith("it belongs to another program")
    assert "resumptions" not in outcome["facts"]
