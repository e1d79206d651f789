"""Trials of several stages go on from their last stage, when a party dies or the whole run."""

from __future__ import annotations

import json
import stat

import pytest
from test_benchmark_two_parties import PartiesHere, a_trial, executed
from tiny_workload import WORKLOADS, no_data

from ciphermark_adapters.seal import adapter as seal
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner import checkpoints
from ciphermark_benchmark.runner.checkpoints import Checkpoints
from ciphermark_benchmark.runner.two_parties import TwoParties
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.client import Client
from ciphermark_measure.parties.secret_keys import SecretKeys
from ciphermark_measure.processes import Confinement, WorkerDied


class Stop(BaseException):
    """The whole run is killed."""


class Place:
    """A data directory, and the stages that servers evaluated. ``deeds`` are done before an evaluation, by number."""

    def __init__(self, folder):
        self.directory = DataDirectory(folder / "data", None)
        self.evaluated, self.deeds, self.folder, self.made = [], {}, folder, 0

    def parties(self, needs):
        self.made += 1
        parties = PartiesHere(self.folder / f"blobs-{self.made}", {})
        keys = SecretKeys(self.directory.secret_keys)
        parties.client.party = Client(parties.store, WORKLOADS, no_data, secret_keys=keys)
        ask = parties.server.ask

        def counted(request, timeout_s):
            if isinstance(request, messages.Evaluate):
                self.evaluated.append(request.stage)
                self.deeds.get(len(self.evaluated), lambda: None)()
            return ask(request, timeout_s)

        parties.server.ask = counted
        return parties

    def executed(self, trial):
        needs = WorkerNeeds("seal", trial.case.parameters, ("tiny",), Confinement((), 1, 1000), 60.0)
        return executed(TwoParties(needs, self.parties, checkpoints=Checkpoints(self.directory)), trial)

    @property
    def checkpoint(self):
        (path,) = self.directory.checkpoints.glob("*/*/checkpoint.json")
        return path

    @property
    def leftovers(self):
        folders = (self.directory.checkpoints, self.directory.secret_keys)
        return [path for folder in folders for path in folder.glob("*")]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """SEAL's owner is restored here as the object that it is."""
    owners = {}

    def dumped(owner):
        owners[b"secret"] = owner
        return b"secret"

    monkeypatch.setattr(type(WORKLOADS["tiny"]), "has_checkpoints", True)
    monkeypatch.setattr(seal.SealKeyOwner, "dump_secret", dumped)
    monkeypatch.setattr(
        seal.SealAdapter, "restored_owner", lambda self, parameters, keys, secret: owners[secret]
    )
    return Place(tmp_path)


def dies():
    raise WorkerDied("crashed", "the worker died of SIGKILL")


def stops():
    raise Stop


def times(outcome):
    found = [s for s in outcome.samples if s.metric == "time" and s.phase in ("train", "infer")]
    return [(s.phase, s.ordinal, s.is_warmup, s.is_disturbed) for s in found]


def test_a_trial_whose_server_dies_goes_on_after_its_last_stage(place):
    place.deeds[4] = dies  # in the second stage of the second pass
    outcome = place.executed(a_trial(min_samples=2, warmups=1))
    assert (outcome.status, outcome.facts["resumptions"]) == ("ok", 1)
    assert place.evaluated == ["train", "infer", "train", "infer", "infer", "train", "infer"]
    assert times(outcome) == [
        (stage, ordinal, is_warmup, is_interrupted)
        for ordinal, is_warmup, is_interrupted in ((0, True, False), (0, False, True), (1, False, False))
        for stage in ("train", "infer")
    ]
    assert [use.stage for use in outcome.programs] == ["train", "infer"]
    assert "not ranked" in outcome.error
    assert place.leftovers == []


def test_a_trial_without_an_ended_stage_fails_as_before(place):
    place.deeds[1] = dies
    outcome = place.executed(a_trial())
    assert (outcome.status, outcome.error) == ("crashed", "the worker died of SIGKILL")
    assert place.leftovers == []


def test_a_second_death_in_the_same_stage_is_the_outcome(place):
    place.deeds |= {2: dies, 3: dies}
    outcome = place.executed(a_trial())
    assert (outcome.status, outcome.error) == ("crashed", "the worker died of SIGKILL")
    assert place.evaluated == ["train", "infer", "infer"]
    assert place.leftovers == []


@pytest.mark.parametrize("passes", [0, 1])
def test_a_run_that_is_killed_goes_on_after_its_last_stage(place, passes):
    """And after its last pass, whose times count."""
    trial = a_trial(min_samples=2, warmups=0)
    place.deeds[2 if passes == 0 else 3] = stops
    with pytest.raises(Stop):
        place.executed(trial)
    (key,) = place.directory.secret_keys.iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    Checkpoints(place.directory).sweep(lambda: [trial.run_id])
    outcome = place.executed(trial)
    assert (outcome.status, outcome.facts["resumptions"]) == ("ok", 1)
    assert place.evaluated.count("train") == 2 + (passes == 1)
    assert [is_disturbed for *_, is_disturbed in times(outcome)] == [passes == 0] * 2 + [False] * 2
    assert place.leftovers == []


def interrupted(place):
    trial = a_trial(min_samples=1, warmups=0)
    place.deeds[2] = stops
    with pytest.raises(Stop):
        place.executed(trial)
    return trial


EDITS = {
    "case": lambda basis: basis["trial"]["case"].update(threads=7),
    "version of Ciphermark": lambda basis: basis.update(software="0.0.1"),
    "build of the library": lambda basis: basis["library"].update(version="0.0.1"),
    "parameter set": lambda basis: basis["parameters"].update(moduli=[97]),
    "program": lambda basis: basis["programs"].__setitem__(1, "0" * 64),
}


@pytest.mark.parametrize("part", EDITS)
def test_a_checkpoint_of_something_else_is_refused(place, part):
    trial = interrupted(place)
    edited = json.loads(place.checkpoint.read_bytes())
    EDITS[part](edited["basis"])
    place.checkpoint.write_text(json.dumps(edited))
    outcome = place.executed(trial)
    assert outcome.status == "ok"
    assert outcome.error == (
        f"the checkpoint was refused, and the trial restarted: it belongs to another {part}"
    )
    assert place.evaluated == ["train", "infer", "train", "infer"]
    assert "resumptions" not in outcome.facts
    assert place.leftovers == []


@pytest.mark.parametrize("name", [checkpoints._FILE, "blake3-*"])
def test_a_damaged_checkpoint_is_refused(place, name):
    trial = interrupted(place)
    (path,) = place.checkpoint.parent.glob(name)
    path.write_bytes(path.read_bytes()[:-10])
    outcome = place.executed(trial)
    assert (outcome.status, outcome.facts.get("resumptions")) == ("ok", None)
    assert "the checkpoint was refused" in outcome.error


def test_the_key_of_a_running_trial_without_a_checkpoint_outlives_the_sweep_of_another_run(place):
    trial = a_trial(min_samples=1, warmups=0)
    place.deeds[1] = lambda: Checkpoints(place.directory).sweep(lambda: [trial.run_id])  # in its first stage
    place.deeds[2] = stops
    with pytest.raises(Stop):
        place.executed(trial)
    assert [path.name for path in place.directory.secret_keys.iterdir()] == [trial.id]
    outcome = place.executed(trial)
    assert (outcome.status, outcome.facts["resumptions"]) == ("ok", 1)
    assert place.evaluated == ["train", "infer", "infer"]
    assert place.leftovers == []


def test_a_run_that_begins_during_a_sweep_keeps_its_keys(place):
    def begun():
        interrupted(place)
        return []

    Checkpoints(place.directory).sweep(begun)
    assert len(place.leftovers) == 2


def test_checkpoints_of_other_runs_and_their_keys_are_removed(place):
    interrupted(place)
    assert len(place.leftovers) == 2
    Checkpoints(place.directory).sweep(lambda: ["another"])
    assert place.leftovers == []
