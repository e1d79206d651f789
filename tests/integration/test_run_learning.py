"""Workloads in runs: two real processes per trial, real blobs between them, whatever happens to either."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import httpx
import psutil
import pytest
from command import Ciphermark
from ports import free_port
from processes import PATIENCE_S, command_line, wait_until
from running_services import Services

from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.parties.party import LocalParties, Scratch
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.two_parties import TwoParties
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, Trial
from ciphermark_measure.parties import messages
from ciphermark_measure.processes import Confinement
from ciphermark_workloads.catalogue import WORKLOADS

LEARNING = {"kind": "learning", "data_sets": ["boston"]}
PARTY = "ciphermark_measure.parties.worker"


@pytest.fixture(scope="module")
def learned(tmp_path_factory, new_url):
    """One run of linear means, in the clear and encrypted, by two variants and refused by one."""
    folder = tmp_path_factory.mktemp("learning")
    (folder / "scratch").mkdir()
    extra = {"TMPDIR": str(folder / "scratch")}
    ciphermark, ckks = Ciphermark(folder / "data", new_url(), extra), LEARNING | {"schemes": ["ckks"]}
    suite = ciphermark.suite(
        ckks | {"variants": ["seal", "cleartext"], "workloads": ["lmc-plain", "lmc-encrypted"]},
        ckks | {"variants": ["tenseal"], "workloads": ["lmc-encrypted"]},
        LEARNING | {"variants": ["seal"], "workloads": ["lmc-plain"], "schemes": ["bfv"]},
        min_samples=2,
        memory_mb=2048,
    )
    done = ciphermark("run", str(suite))
    return ciphermark, done, ciphermark.outcomes()


def by_place(outcomes):
    cases = [outcome["trial"]["case"] for outcome in outcomes]
    places = [(case["operation"], case["parameters"]["scheme"], case["variant"]) for case in cases]
    assert len(set(places)) == len(places)
    return dict(zip(places, outcomes, strict=True))


def test_every_case_has_its_outcome(learned):
    found = by_place(learned[2])
    assert len(found) == 6
    for (workload, _, variant), outcome in found.items():
        if (workload, variant) == ("lmc-encrypted", "tenseal"):
            assert outcome["status"] == "unsupported"
            assert outcome["error"].startswith("lmc-encrypted needs rotate: TenSEAL's vectors")
            continue
        assert (outcome["status"], outcome["error"]) == ("ok", None)
        assert outcome["accuracy"]["incorrect_slots"] == 0
        assert outcome["trial"]["case"]["dimensions"]["data_set"] == "boston"
        assert outcome["trial"]["case"]["data_pattern"] == "real"


def test_all_variants_have_the_same_rows(learned):
    """A data set is split by the suite's seed alone: so accuracies can be compared, too."""
    seeds = {outcome["trial"]["seed"] for outcome in learned[2]}
    assert len(seeds) == 1
    rows = learned[0].rows("select distinct operation, max from results where metric = 'accuracy'")
    assert {row["operation"]: row["max"] for row in rows}.keys() == {"lmc-plain", "lmc-encrypted"}
    assert len(rows) == 2


def test_the_database_has_every_stage_and_step(learned):
    rows = learned[0].rows(
        "select distinct metric, phase from results where variant = 'seal' and operation = 'lmc-encrypted'"
    )
    found = {(row["metric"], row["phase"]) for row in rows}
    for stage in ("prepare", "train", "infer"):
        assert {("time", stage), ("cpu_time", stage), ("time", f"{stage}.transfer")} <= found
        for party in (f"{stage}.client", f"{stage}.server"):
            assert {("time", party), ("cpu_time", party), ("peak_memory", party)} <= found
    assert {("time", "prepare.load"), ("time", "infer.check")} <= found
    steps = ("pack", "encrypt", "serialize", "deserialize", "evaluate", "decrypt", "unpack")
    assert {("time", f"infer.{step}") for step in steps} <= found
    assert {(metric, "infer") for metric in ("accuracy", "mse", "agreement", "noise_error")} <= found
    assert {("size", "train"), ("size", "infer"), ("expansion", "infer"), ("size", "prepare")} <= found


def test_a_stage_is_the_sum_of_its_parties_and_the_transfer(learned):
    """Sample by sample, over all variants and workloads: so the parties are in no sum of steps, nor are checks."""
    rows = learned[0].rows(
        """
        select stage,
            sum(value) filter (where phase not like '%.%') as whole,
            sum(value) filter (where phase ~ '[.](client|server|transfer)$') as parties,
            sum(value) filter (where phase like '%.%' and phase !~ '[.](client|server|check|trace|encode)$') as steps
        from samples
        where metric = 'time' and not is_warmup
        group by trial_id, stage, ordinal
        """
    )
    assert {row["stage"] for row in rows} == {"prepare", "train", "infer"}
    for row in rows:
        assert row["parties"] == pytest.approx(row["whole"])
        assert row["steps"] == pytest.approx(row["whole"])


def test_a_model_in_the_clear_is_trained_by_the_client(learned):
    rows = learned[0].rows(
        "select phase, n, median from results where variant = 'seal' and operation = 'lmc-plain' and scheme = 'ckks' "
        "and metric = 'time' and phase like 'train%'"
    )
    found = {row["phase"]: row for row in rows}
    assert found.keys() == {"train", "train.fit", "train.client", "train.check"}
    assert {row["n"] for row in rows} == {2}
    assert found["train"]["median"] == found["train.fit"]["median"] > 0


def test_noise_and_rounding_are_told_apart(learned):
    rows = learned[0].rows(
        "select scheme, metric, max from results where metric in ('noise_error', 'rounding_error') "
        "and variant <> 'cleartext'"
    )
    largest = {}
    for row in rows:
        key = row["scheme"], row["metric"]
        largest[key] = max(row["max"], largest.get(key, 0.0))
    assert largest.keys() == {("bfv", "noise_error"), ("bfv", "rounding_error"), ("ckks", "noise_error")}
    assert largest["bfv", "noise_error"] == 0
    assert largest["bfv", "rounding_error"] > 1e-6
    assert 0 < largest["ckks", "noise_error"] < 1e-3


def test_the_report_has_a_table_per_workload_and_scheme(learned):
    out = learned[1].out
    for heading in ("lmc-plain: ", "lmc-encrypted: "):
        assert f"{heading}{WORKLOADS[heading[:-2]].title}, boston" in out
    assert "BFV, N = 4096" in out
    line = next(line for line in out.splitlines() if line.startswith("seal "))
    assert "100.0%" in line
    assert "cleartext" in out
    again = learned[0]("results", "last").out
    assert max(map(len, again[: again.index("Times: medians of one pass")].splitlines())) <= 80
    details = learned[0]("results", "last", "--details").out
    assert "lmc-encrypted: " in details
    assert "CPU" in details
    trained = [line.split() for line in details.splitlines() if line.startswith("train ")]
    # In the clear the server has no part, and nothing is serialized or sent.
    assert {line.count("–") for line in trained} == {0, 4}


def test_no_blob_is_left(learned):
    assert list(Path(learned[0].extra["TMPDIR"]).glob("ciphermark-blobs-*")) == []


def test_mistakes_in_a_learning_experiment_are_told(ciphermark):
    def told(**keys):
        suite = ciphermark.suite(LEARNING | {"variants": ["seal"], "workloads": ["lmc-plain"]} | keys)
        return ciphermark("suite", "explain", str(suite), code=2).err

    mistaken = told(workloads=["lmc-plan"])
    assert "unknown workload 'lmc-plan'; did you mean 'lmc-plain'?; known: " in mistaken
    assert f"known: {', '.join(sorted(WORKLOADS))}" in mistaken
    assert "unknown data set 'bostn'; did you mean 'boston'?" in told(data_sets=["bostn"])
    assert "the workload lr-k3-plain offers none of these, only ckks" in told(
        workloads=["lr-k3-plain"], schemes=["bfv"]
    )
    assert "'repetitions' belongs to" in told(repetitions=[3])
    assert "keys here: kind, variants, workloads, data_sets, options" in told(repetitions=[3])
    assert (
        "lacks the key 'workloads'"
        in ciphermark(
            "suite", "explain", str(ciphermark.suite(LEARNING | {"variants": ["seal"]})), code=2
        ).err
    )


def a_trial(variant="seal", workload="lmc-encrypted", scheme="ckks", samples=2):
    spec = WORKLOADS[workload].parameters(scheme)
    case = Case(variant, "learning", workload, spec, 6578, "real", dimensions={"data_set": "boston"})
    return Trial("t", "r", case, 0, 5, Budget(min_samples=samples, min_time_s=0.0))


class Tampering:
    """A seat whose parties can be got at: ``deed`` is called with them before each request to the server."""

    def __init__(self, deed, variant="seal"):
        self.made = []
        self.deed = deed
        needs = WorkerNeeds(variant, a_trial().case.parameters, (), Confinement((), 1, 2048), 60.0)
        self.seat = TwoParties(needs, self._make)

    def _make(self, needs):
        parties = LocalParties(needs)
        self.made.append(parties)
        server = parties.server
        ask, deed = server.ask, self.deed

        def asked(request, timeout_s):
            deed(len(self.made), parties, request)
            return ask(request, timeout_s)

        server.ask = asked
        return parties

    def executed(self, trial):
        self.seat.start()
        if self.seat.open(trial):
            while not self.seat.turn():
                pass
        try:
            return self.seat.close()
        finally:
            assert not self.made[-1].folder.exists()


@pytest.mark.parametrize("role", [pytest.param("client", marks=pytest.mark.extended), "server"])
def test_a_party_that_is_killed_costs_its_trial_and_no_other(role):
    def kill_it(number, parties, request):
        if number == 1 and isinstance(request, messages.Evaluate) and request.stage == "infer":
            process = parties._client if role == "client" else parties._server
            os.kill(process._process.pid, signal.SIGSEGV)

    tampering = Tampering(kill_it)
    outcome = tampering.executed(a_trial())
    assert (outcome.status, outcome.error) == ("crashed", "the worker died of SIGSEGV")
    assert tampering.executed(a_trial()).status == "ok"
    assert len(tampering.made) == 2


def test_a_blob_that_is_damaged_on_the_way_is_refused():
    def damage(number, parties, request):
        if number == 1 and isinstance(request, messages.Evaluate):
            path = parties.folder / request.inputs[0].digest
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)

    tampering = Tampering(damage)
    outcome = tampering.executed(a_trial())
    assert outcome.status == "crashed"
    assert outcome.error.startswith("BlobError: blob ")
    assert "is corrupted: its digest is" in outcome.error


def test_ciphertexts_of_another_client_are_never_ok():
    """Same parameters, another key: the store vouches for bytes, the comparison with the plaintext run for the rest."""
    other = LocalParties(WorkerNeeds("seal", a_trial().case.parameters, (), Confinement((), 1, 2048), 60.0))
    try:
        trial = a_trial()
        made = other.client.ask(messages.MakeKeys("seal", "lmc-encrypted", trial.case.parameters), 60.0)
        assert isinstance(made, messages.KeysMade)
        foreign = other.client.ask(messages.Encrypt("train", messages.Source(5, "boston")), 60.0)
        contents = {blob.digest: (other.folder / blob.digest).read_bytes() for blob in foreign.inputs}

        class Swapping(Tampering):
            def _make(self, needs):
                parties = super()._make(needs)
                ask = parties.server.ask

                def swapped(request, timeout_s):
                    if isinstance(request, messages.Evaluate) and request.stage == "train":
                        for digest, data in contents.items():
                            (parties.folder / digest).write_bytes(data)
                        request = messages.Evaluate("train", foreign.inputs, request.public)
                    return ask(request, timeout_s)

                parties.server.ask = swapped
                return parties

        outcome = Swapping(lambda *_: None).executed(trial)
    finally:
        other.end()
    assert outcome.status == "incorrect"
    assert (
        "rows agree with the plaintext run of the same algorithm; ckks must agree in at least 101"
        in outcome.error
    )


def test_a_run_that_is_interrupted_leaves_no_party(ciphermark):
    suite = ciphermark.suite(
        LEARNING | {"variants": ["seal"], "workloads": ["lmc-encrypted"], "schemes": ["ckks"]},
        min_samples=100_000,
        memory_mb=2048,
    )
    process = ciphermark.start("run", str(suite))

    def parties():
        children = psutil.Process(process.pid).children(recursive=True)
        return [child for child in children if PARTY in command_line(child)]

    wait_until(lambda: len(parties()) == 2, "two parties")
    found = parties()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    gone, alive = psutil.wait_procs(found, timeout=PATIENCE_S)
    assert (len(gone), alive) == (2, [])


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine, abandoned, young = Scratch(), tmp_path / "ciphermark-blobs-old", tmp_path / "ciphermark-blobs-young"
    for folder in (abandoned, young):
        folder.mkdir()
        (folder / ("0" * 64)).touch()
    for folder in (mine.folder, abandoned):
        os.utime(folder, (1, 1))
    other = Scratch()
    assert mine.folder.exists()
    assert other.folder.exists()
    assert young.exists()
    assert not abandoned.exists()
    other.end()
    mine.end()
    assert [path.name for path in tmp_path.iterdir()] == ["ciphermark-blobs-young"]


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    """The client and the server service, as processes with a volume between them: the variables that name them."""
    made = Services(tmp_path_factory.mktemp("services"))
    for name in ("client", "server"):
        made.start(name)
    yield made.variables
    made.stop()


def http_seat(services, variant="seal", timeout_s=PATIENCE_S):
    needs = WorkerNeeds(variant, a_trial().case.parameters, (), Confinement((), 1, 2048), timeout_s)
    return TwoParties(needs, http_party.chosen(services))


def executed(seat, trial):
    if seat.open(trial):
        while not seat.turn():
            pass
    return seat.close()


@pytest.mark.parametrize("scheme", [pytest.param("bgv", marks=pytest.mark.extended), "ckks"])
def test_services_answer_as_local_parties_do(services, scheme):
    trial = a_trial(scheme=scheme)
    remote = executed(http_seat(services), trial)
    local = Tampering(lambda *_: None).executed(trial)
    assert (remote.status, remote.error) == ("ok", None)
    assert remote.parameters == local.parameters
    assert remote.library == local.library

    def told(outcome):
        return [(s.metric, s.phase, s.ordinal, s.is_warmup) for s in outcome.samples]

    assert told(remote) == told(local)
    assert remote.facts["is_elsewhere"] == 0
    assert min(remote.facts["reference_kernel_s"], local.facts["reference_kernel_s"]) > 0
    with httpx.Client(trust_env=False) as http:
        for name in ("CLIENT", "SERVER"):
            headers = {"Authorization": f"Bearer {services[f'CIPHERMARK_{name}_TOKEN']}"}
            left = http.get(services[f"CIPHERMARK_{name}_URL"] + "/v1/sessions", headers=headers)
            assert left.json() == []


def test_what_services_refuse_is_an_outcome(services):
    unsupported = a_trial(variant="tenseal", scheme="bgv")
    outcome = executed(http_seat(services, "tenseal"), unsupported)
    assert outcome.status == "unsupported"
    unknown = a_trial(variant="seel")
    outcome = executed(http_seat(services, "seel"), unknown)
    assert outcome.status == "crashed"
    assert "unknown variant 'seel'" in outcome.error


def test_a_service_that_is_not_there_or_takes_no_token_is_told(services, monkeypatch):
    monkeypatch.setattr(http_party, "_RESTART_S", 1.0)  # for so long it might be starting again
    wrong = services | {"CIPHERMARK_SERVER_TOKEN": "y" * 30}
    outcome = executed(http_seat(wrong), a_trial())
    assert outcome.status == "crashed"
    assert "token" in outcome.error
    away = services | {"CIPHERMARK_CLIENT_URL": f"http://127.0.0.1:{free_port()}"}
    outcome = executed(http_seat(away), a_trial())
    assert outcome.status == "crashed"
    assert "the client service at http://127.0.0.1:" in outcome.error
    assert "refused" in outcome.error


def test_one_service_without_the_other_is_a_mistake(ciphermark):
    extra = {"CIPHERMARK_CLIENT_URL": "http://127.0.0.1:1"}
    alone = Ciphermark(ciphermark.data_directory, ciphermark.database_url, extra)
    suite = alone.suite(LEARNING | {"variants": ["seal"], "workloads": ["lmc-encrypted"]})
    assert "CIPHERMARK_SERVER_URL is not set" in alone("run", str(suite), code=2).err
    both = Ciphermark(
        ciphermark.data_directory,
        ciphermark.database_url,
        extra | {"CIPHERMARK_SERVER_URL": "http://127.0.0.1:2"},
    )
    assert "the client service needs its token" in both("run", str(suite), code=2).err
