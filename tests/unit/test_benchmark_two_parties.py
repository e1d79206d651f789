from __future__ import annotations

import errno
import io
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from phases import place
from tiny_workload import WORKLOADS, no_data

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli import run
from ciphermark_benchmark.parties import stage_costs
from ciphermark_benchmark.parties.party import NoPlace, Parties
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner import trial_runner
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.two_parties import Advance, TwoParties
from ciphermark_benchmark.suite import estimate, plan
from ciphermark_benchmark.suite.fields import BudgetText
from ciphermark_benchmark.suite.form import Suite
from ciphermark_contract.bound import Collections
from ciphermark_contract.program import Program
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, Parameters, Sample, Trial
from ciphermark_measure.interference.host_state import Gate
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob, BlobStore
from ciphermark_measure.parties.client import Client
from ciphermark_measure.parties.party import HostWatch
from ciphermark_measure.parties.server import Server
from ciphermark_measure.processes import Confinement, WorkerDied
from ciphermark_measure.protocol import Refused
from ciphermark_present.console import Terminal
from ciphermark_workloads.catalogue import WORKLOADS as SHIPPED


class Here:
    """A party in this process, which does what it is told to before it answers."""

    def __init__(self, party, deeds):
        self.party = party
        self.deeds = deeds

    def ask(self, request, timeout_s):
        assert timeout_s > 0
        deed = self.deeds.get(type(request))
        changed = deed() if deed else None
        return changed or self.party.answer(request)


class PartiesHere(Parties):
    """The two parties of the tiny workload, both in this process."""

    made = 0

    def __init__(self, folder, deeds, hosts=(None, None)):
        store = self.store = BlobStore(folder)
        self.client = Here(Client(store, WORKLOADS, no_data, hosts[0]), deeds)
        self.server = Here(Server(store, WORKLOADS, hosts[1]), deeds)
        self.is_ended = False
        PartiesHere.made += 1

    def meet(self, trial):
        pass

    @property
    def is_pinned(self):
        return True

    def tidy(self):
        self.store.sweep(0)

    def kill(self):
        pass

    def end(self):
        self.is_ended = True


def a_trial(workload="tiny", scheme="ckks", **budget):
    spec = WORKLOADS[workload].parameters(scheme)
    case = Case("seal", "learning", workload, spec, 0, "real", dimensions={"data_set": "any"})
    return Trial("t", "r", case, 0, 2**61 + 5, Budget(**({"min_samples": 3, "min_time_s": 0.0} | budget)))


def a_seat(tmp_path, deeds=None, timeout_s=60.0):
    made = []

    def make(needs):
        made.append(PartiesHere(tmp_path, deeds or {}))
        return made[-1]

    needs = WorkerNeeds("seal", a_trial().case.parameters, ("tiny",), Confinement((), 1, 1000), timeout_s)
    return TwoParties(needs, make), made


def test_every_stage_is_reported_with_the_time_of_the_others(tmp_path):
    """A pass for correctness, then three that are timed; two stages each."""
    advances = []
    needs = WorkerNeeds("seal", a_trial().case.parameters, ("tiny",), Confinement((), 1, 1000), 60.0)
    seat = TwoParties(needs, lambda _: PartiesHere(tmp_path, {}), on_stage=advances.append)
    assert executed(seat, a_trial()).status == "ok"
    stages = [stage.name for stage in WORKLOADS["tiny"].server_stages]
    assert [item.stage for item in advances] == stages * 4
    assert [item.done for item in advances] == list(range(1, 4 * len(stages) + 1))
    assert {item.total for item in advances} == {4 * len(stages)}
    assert all(item.left_s > 0 for item in advances[:-1])
    assert advances[-1].left_s == 0


def test_stages_of_long_trials_are_printed(monkeypatch):
    console = Terminal(file=io.StringIO(), width=200)
    lines = run._Lines(console, SimpleNamespace(plan=SimpleNamespace(blocks=())))
    advance = Advance(a_trial(), "iteration-2", 2, 6, 130.0)
    lines.on_stage(advance)
    assert console.file.getvalue() == ""
    monkeypatch.setattr(run, "_BETWEEN_LINES_S", 0)
    lines.on_stage(advance)
    assert console.file.getvalue() == "  seal, tiny: iteration-2 (2 of 6 stages), 2.2 min left\n"


def executed(seat, trial):
    seat.start()
    if seat.open(trial):
        while not seat.turn():
            pass
    return seat.close()


def test_a_party_that_reports_what_cannot_be_measured_costs_the_trial(tmp_path):
    def loaded():
        told = registry.load("seal").info(), Parameters(a_trial().case.parameters, 8192, (97,), (), 4096)
        return messages.Loaded(*told, (Sample("time", 1e308, "prepare", "server"),))

    seat, _ = a_seat(tmp_path, {messages.Load: loaded})
    outcome = executed(seat, a_trial())
    assert (outcome.status, outcome.error) == (
        "crashed",
        "the server answers nonsense: prepare.server: time is 1e+308 s; it must be from 0 to 1e+10",
    )
    assert not [sample for sample in outcome.samples if sample.value == 1e308]


def phases(outcome, metric, *, is_warmup=False):
    return [s.phase for s in outcome.samples if s.metric == metric and s.is_warmup == is_warmup]


def test_a_trial_in_three_passes(tmp_path):
    seat, made = a_seat(tmp_path)
    outcome = executed(seat, a_trial())
    assert (outcome.status, outcome.error) == ("ok", None)
    assert outcome.accuracy.incorrect_slots == 0
    assert outcome.library.variant == "seal"
    assert {*outcome.facts} == {"is_pinned", "run_delay_s", "steal_s"}
    for phase in ("train", "infer", "train.evaluate", "infer.decrypt", "train.transfer", "infer.serialize"):
        of_phase = [s for s in outcome.samples if s.metric == "time" and s.phase == phase]
        assert [(s.ordinal, s.is_warmup) for s in of_phase] == [(0, True), (0, False), (1, False), (2, False)]
    assert phases(outcome, "time").count("prepare") == 1
    assert phases(outcome, "agreement") == ["infer"] * 3
    assert sorted(phases(outcome, "peak_memory")) == [
        f"{stage}.{role}" for stage in ("infer", "prepare", "train") for role in ("client", "server")
    ]
    assert phases(outcome, "size", is_warmup=True) == ["train", "train.returned", "infer", "infer.returned"]
    assert made[0].is_ended


def test_without_warmups_the_first_pass_counts(tmp_path):
    seat, _ = a_seat(tmp_path)
    outcome = executed(seat, a_trial(min_samples=2, warmups=0))
    assert (outcome.status, len(outcome.programs)) == ("ok", 2)
    of_phase = [s for s in outcome.samples if (s.metric, s.phase) == ("time", "infer")]
    assert [(s.ordinal, s.is_warmup) for s in of_phase] == [(0, False), (1, False)]
    assert phases(outcome, "peak_memory").count("infer.server") == 1
    assert phases(outcome, "time").count("infer.encode") == 1


class Busy:
    """A host on which the reference kernel takes 50 µs, and others have the core whenever ``is_taken``."""

    def __init__(self):
        self.is_taken, self.start_ns = False, time.perf_counter_ns()

    def now_ns(self):
        return time.perf_counter_ns()

    def read_ns(self):
        return 50_000

    def run_delay_ns(self):
        return self.now_ns() - self.start_ns if self.is_taken else 0

    def watch(self, baseline_ns=None):
        return HostWatch(Gate(self, self, self.run_delay_ns), baseline_ns)


def test_a_stage_of_disturbed_passes_says_so(tmp_path):
    """The server's core is taken all the time, the client's never."""
    taken, idle = Busy(), Busy()
    taken.is_taken = True
    levels = []

    def make(needs):
        levels.append(needs.baseline_ns)
        parties = PartiesHere(tmp_path, {}, (idle.watch(needs.baseline_ns), taken.watch(needs.baseline_ns)))
        parties.is_local = True
        return parties

    needs = WorkerNeeds("seal", a_trial().case.parameters, ("tiny",), Confinement((), 1, 1000), 60.0)
    level = ReferenceKernelBaseline(40_000.0)
    outcome = executed(TwoParties(needs, make, level), a_trial())
    assert (outcome.status, levels) == ("ok", [40_000.0])
    by_phase = {}
    for sample in outcome.samples:
        if sample.metric == "time" and not sample.is_warmup:
            by_phase.setdefault(sample.phase, []).append(sample)
    assert all(sample.is_disturbed for sample in by_phase["train.evaluate"] + by_phase["infer.server"])
    assert not any(sample.is_disturbed for sample in by_phase["infer.decrypt"] + by_phase["infer.client"])
    # 50 µs where 40 are the reference-kernel baseline: corrected by 1 + 1.25 · 0.25.
    assert {round(sample.slowdown, 9) for sample in by_phase["infer.client"]} == {1.3125}
    assert outcome.facts["reference_kernel_s"] == 4e-5
    assert outcome.facts["disturbed_phases"] >= 2
    spent_s = sum(sample.value for sample in by_phase["train"] + by_phase["infer"])
    assert outcome.facts["sampling_s"] == pytest.approx(spent_s)
    assert level.ns == 40_000.0


class Collecting(HostWatch):
    """A host on which a collection of a millisecond falls into the next step, whenever one ``is_due``."""

    def __init__(self):
        super().__init__(Gate())
        self.is_due, self.readings, self.cycles = False, 0, 0

    def collections(self):
        self.readings += 1
        if self.is_due and self.readings % 2 == 0:  # after a step
            self.is_due, self.cycles = False, self.cycles + 1
        return Collections(self.cycles, self.cycles * 1_000_000)


@pytest.mark.parametrize(("due", "disturbed"), [({2, 6}, [True, False, True]), ({2, 4, 6}, [False] * 3)])
def test_a_stage_sample_with_a_garbage_collection_is_disturbed_unless_each_has_one(tmp_path, due, disturbed):
    """Two evaluations a pass; pass 0 is for correctness, and its collection is in no fact."""
    host, evaluations = Collecting(), []

    def evaluate():
        host.is_due = len(evaluations) in {0, *due}
        evaluations.append(host.is_due)

    needs = WorkerNeeds("seal", a_trial().case.parameters, ("tiny",), Confinement((), 1, 1000), 60.0)
    made = partial(PartiesHere, tmp_path, {messages.Evaluate: evaluate}, (None, host))
    outcome = executed(TwoParties(needs, lambda _: made()), a_trial())
    assert outcome.status == "ok"
    times = {}
    for sample in outcome.samples:
        if sample.metric == "time" and not sample.is_warmup:
            times.setdefault(sample.phase, []).append(sample.is_disturbed)
    for phase in ("train", "train.server", "train.deserialize"):
        assert times[phase] == disturbed
    for phase in ("train.client", "train.evaluate", "infer", "infer.server"):
        assert times[phase] == [False] * 3
    assert outcome.facts["collections_train"] == len(due)
    assert outcome.facts["collection_pauses_train_s"] == pytest.approx(len(due) * 1e-3)
    assert "collections_infer" not in outcome.facts


def test_the_programs_of_a_trial_are_kept(tmp_path):
    outcome = executed(a_seat(tmp_path)[0], a_trial())
    assert [use.stage for use in outcome.programs] == ["train", "infer"]
    for use in outcome.programs:
        program = Program.from_bytes(use.content)
        assert (program.digest, program.scheme, program.depth) == (use.digest, "ckks", use.depth)
        assert {(count.operation, count.level): count.n for count in use.counts} == program.counts


def of_layers(outcome, metric):
    return [(s.phase, s.ordinal) for s in outcome.samples if s.metric == metric]


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_layers_are_executed_when_the_passes_are_over(tmp_path, scheme):
    outcome = executed(a_seat(tmp_path)[0], a_trial("tiny-layers", scheme))
    assert (outcome.status, outcome.error) == ("ok", None)
    (program,) = outcome.programs
    assert [layer.name for layer in program.layers] == ["products", "sums"]
    counted = sum(count.n for layer in program.layers for count in layer.counts)
    assert counted == sum(count.n for count in program.counts)
    phases_of_layers = ["infer.products", "infer.sums"]
    assert of_layers(outcome, "layer_time") == [(p, i) for i in range(3) for p in phases_of_layers]
    sizes = [] if scheme == "bfv" else [(phase, 0) for phase in phases_of_layers]
    assert of_layers(outcome, "layer_error") == of_layers(outcome, "layer_largest") == sizes
    # Values are hundreds, and a layer on wrong operands is off by as much; at a scale of 2^40 errors are some
    # 10^-7.
    assert all(0 < s.value < 0.01 for s in outcome.samples if s.metric == "layer_error")
    assert len({s.value for s in outcome.samples if s.metric == "layer_largest"}) == (scheme == "ckks")
    # Passes are what they are without layers.
    assert phases(outcome, "time").count("infer.evaluate") == 3


def test_a_workload_of_one_layer_executes_none(tmp_path):
    outcome = executed(a_seat(tmp_path)[0], a_trial("tiny-plain"))
    assert [use.layers for use in outcome.programs] == [()]
    assert of_layers(outcome, "layer_time") == []


@pytest.mark.parametrize("request_", [messages.EvaluateLayers, messages.CompareLayers])
def test_layers_that_fail_are_told_and_the_passes_kept(tmp_path, request_):
    deeds = {request_: lambda: Refused("out_of_memory", "no room for layers")}
    seat, made = a_seat(tmp_path, deeds)
    outcome = executed(seat, a_trial("tiny-layers"))
    assert (outcome.status, phases(outcome, "time").count("infer")) == ("ok", 3)
    assert outcome.error == "the passes are right, but its layers have no times: no room for layers"
    assert of_layers(outcome, "layer_time") == []
    assert made[0].is_ended


def test_layers_of_a_run_that_is_interrupted_are_executed_again(tmp_path):
    seat = None

    def abandon():
        seat.abandon()
        raise WorkerDied("crashed", "it was killed")

    seat, _ = a_seat(tmp_path, {messages.EvaluateLayers: abandon})
    outcome = executed(seat, a_trial("tiny-layers"))
    assert outcome.status != "ok"


def parts(outcome, metric, stage):
    """What is told of a stage that no pass repeats, or of its counting pass: by step or party, and the whole."""
    values = {s.phase: s.value for s in outcome.samples if s.metric == metric and not s.is_warmup}
    found = {phase.partition(".")[2]: v for phase, v in values.items() if phase.partition(".")[0] == stage}
    return {
        part: value for part, value in found.items() if part not in {"trace", "encode", "check", ""}
    }, found[""]


@pytest.mark.parametrize("warmups", [0, 1])
def test_a_stage_is_the_sum_of_its_steps_and_of_its_parties(tmp_path, warmups):
    """Also in a first pass that counts, whose one-time work is in no sum."""
    outcome = executed(a_seat(tmp_path)[0], a_trial(min_samples=1, warmups=warmups))
    for stage in ("prepare", "train", "infer"):
        for metric in ("time", "cpu_time"):
            found, whole = parts(outcome, metric, stage)
            transfer = found.pop("transfer", 0.0)
            assert (transfer > 0) == (metric == "time")
            by_party = [found.pop(role) for role in ("client", "server")]
            assert len(found) > 2
            assert sum(found.values()) + transfer == pytest.approx(whole)
            assert sum(by_party) + transfer == pytest.approx(whole)


def test_a_model_in_the_clear_has_a_stage_of_training_in_which_nothing_is_sent(tmp_path):
    outcome = executed(a_seat(tmp_path)[0], a_trial("tiny-plain"))
    assert outcome.status == "ok"
    for phase in ("train", "train.fit", "train.client", "infer"):
        of_phase = [s for s in outcome.samples if s.metric == "time" and s.phase == phase]
        assert [(s.ordinal, s.is_warmup) for s in of_phase] == [(0, True), (0, False), (1, False), (2, False)]
    values = {(s.metric, s.phase): s.value for s in outcome.samples}
    assert values["time", "train"] == values["time", "train.fit"] > 0
    assert ("time", "train.transfer") not in values
    assert values["cpu_time", "train"] == values["cpu_time", "train.fit"]
    assert ("time", "train.server") not in values
    assert ("size", "train") not in values
    assert phases(outcome, "peak_memory").count("train.client") == 1


def test_every_trial_has_parties_of_its_own(tmp_path):
    seat, made = a_seat(tmp_path)
    outcomes = [executed(seat, a_trial()) for _ in range(2)]
    assert [outcome.status for outcome in outcomes] == ["ok", "ok"]
    assert len(made) == 2
    assert all(parties.is_ended for parties in made)


def test_no_blob_outlives_a_pass(tmp_path):
    executed(a_seat(tmp_path)[0], a_trial())
    assert list(tmp_path.iterdir()) == []


def test_the_material_is_gone_when_the_passes_begin(tmp_path):
    found = []
    executed(
        a_seat(tmp_path, {messages.Encrypt: lambda: found.append(list(tmp_path.iterdir()))})[0], a_trial()
    )
    assert found[0] == []


def test_more_passes_until_there_was_enough_time(tmp_path):
    outcome = executed(a_seat(tmp_path)[0], a_trial(min_samples=1, min_time_s=0.5))
    times = [
        s.value
        for s in outcome.samples
        if s.metric == "time" and s.phase in ("train", "infer") and not s.is_warmup
    ]
    assert sum(times) >= 0.5
    assert sum(times[:-2]) < 0.5


def fails(status, text):
    def deed():
        return Refused(status, text)

    return deed


# Replies that nobody asked for: the first, or to ``Evaluate`` the second.
STRANGE = (messages.Evaluated((), "", ()), messages.Encrypted((), Blob("0" * 64, 0), 0, ()))


def dies():
    raise WorkerDied("crashed", "the worker died of SIGSEGV")


@pytest.mark.parametrize(
    "request_type",
    [messages.MakeKeys, messages.Load, messages.Encrypt, messages.Evaluate, messages.Score],
)
def test_a_failure_of_either_party_costs_its_trial_alone(tmp_path, request_type):
    for deed, status, error in (
        (fails("unsupported", "no such thing"), "unsupported", "no such thing"),
        (dies, "crashed", "the worker died of SIGSEGV"),
        (lambda: STRANGE[request_type is messages.Evaluate], "crashed", "a process answers with"),
    ):
        deeds = {request_type: deed}
        seat, made = a_seat(tmp_path, deeds)
        outcome = executed(seat, a_trial(min_samples=1))
        assert outcome.status == status
        assert outcome.error.startswith(error)
        deeds.clear()
        assert executed(seat, a_trial(min_samples=1)).status == "ok"
        assert [parties.is_ended for parties in made] == [True, True]


def test_a_failure_in_a_later_pass_keeps_the_samples_before_it(tmp_path):
    counted = []

    def later():
        counted.append(1)
        return Refused("crashed", "late") if len(counted) > 3 else None

    outcome = executed(a_seat(tmp_path, {messages.Score: later})[0], a_trial())
    assert (outcome.status, outcome.error) == ("crashed", "late")
    assert phases(outcome, "agreement") == ["infer"] * 2


def test_rows_that_do_not_agree_end_the_trial_before_anything_counts(tmp_path):
    class Swapped(PartiesHere):
        def __init__(self, needs):
            super().__init__(tmp_path, {})
            ask = self.server.ask
            self.server.ask = lambda request, timeout_s: ask(
                msgspec_swapped(request) if isinstance(request, messages.Evaluate) else request, timeout_s
            )

    def msgspec_swapped(request):
        store, (rows,) = BlobStore(tmp_path), request.inputs
        swapped = store.put_parts([*store.get_parts(rows)][::-1])
        return messages.Evaluate(request.stage, (swapped,), request.public)

    needs = WorkerNeeds("seal", a_trial().case.parameters, ("tiny",), Confinement((), 1, 1000), 60.0)
    outcome = executed(TwoParties(needs, Swapped), a_trial())
    assert outcome.status == "incorrect"
    assert "rows agree with the plaintext run of the same algorithm" in outcome.error
    assert phases(outcome, "agreement") == []
    assert phases(outcome, "agreement", is_warmup=True) == ["infer"]
    assert outcome.accuracy.incorrect_slots > 0


def test_an_abandoned_seat_does_nothing_more(tmp_path):
    seat, made = a_seat(tmp_path)
    seat.abandon()
    assert executed(seat, a_trial()).status == "cancelled"
    assert all(parties.is_ended for parties in made)


def test_a_trial_that_takes_too_long_is_told_so(tmp_path, monkeypatch):
    now_s = [0.0]
    monkeypatch.setattr(trial_runner, "monotonic", lambda: now_s[0])

    def late():
        now_s[0] += 1.1
        raise WorkerDied("timeout", "no answer within 1 s")

    outcome = executed(a_seat(tmp_path, {messages.Evaluate: late}, timeout_s=1.0)[0], a_trial())
    assert outcome.status == "timeout"
    assert outcome.error == "the trial took longer than the 1 s that budget.timeout_s allows"


def times(**spent):
    """Samples of wall time, and of half as much CPU time, by phase (``__`` for the dot)."""
    return [
        Sample(metric, value * share, *place(phase.replace("__", ".")))
        for phase, value in spent.items()
        for metric, share in (("time", 1.0), ("cpu_time", 0.5))
    ]


def of(samples, metric):
    return {s.phase: s.value for s in samples if s.metric == metric}


def test_what_is_left_of_a_stage_is_the_transfer():
    told = [
        *times(train__serialize=1.0, train__client=1.0),
        *times(train__serialize=2.0, train__evaluate=3.0, train__server=5.0),
        Sample("peak_memory", 10.0, "train", "client"),
        Sample("peak_memory", 30.0, "train", "client"),
        Sample("peak_memory", 20.0, "train", "server"),
    ]
    found = stage_costs.stage_samples("train", 7.0, told)
    parties = {"train.client": 1.0, "train.server": 5.0}
    steps = {"train.serialize": 3.0, "train.evaluate": 3.0}
    assert of(found, "time") == {"train": 7.0, "train.transfer": 1.0} | parties | steps
    halves = {phase: value / 2 for phase, value in (parties | steps).items()}
    assert of(found, "cpu_time") == {"train": 3.0} | halves
    assert of(found, "peak_memory") == {"train.client": 30.0, "train.server": 20.0}
    assert len(found) == 4 + 2 + 4 + 1 + 2


@pytest.mark.parametrize(
    ("evaluate", "whole"),
    [
        ({}, (1.0, False)),
        ({"slowdown": 2.0}, (8 / 5, False)),
        ({"slowdown": 4.0, "is_disturbed": True}, (1.0, True)),
    ],
)
def test_a_stage_is_slowed_as_its_parts_are_and_disturbed_with_max_of_its_time(evaluate, whole):
    told = [
        Sample("time", 1.0, "infer", step="encrypt"),
        Sample("time", 6.0, "infer", step="evaluate", **evaluate),
        Sample("time", 6.0, "infer", party="server", **evaluate),
        Sample("noise_budget", -3.0, "infer"),
    ]
    found = {(s.metric, s.phase): s for s in stage_costs.stage_samples("infer", 8.0, told)}
    total = found["time", "infer"]
    assert (total.value, total.slowdown, total.is_disturbed) == (8.0, pytest.approx(whole[0]), whole[1])
    assert found["time", "infer.transfer"].slowdown == 1.0
    assert found["time", "infer.evaluate"].is_disturbed == evaluate.get("is_disturbed", False)
    assert found["noise_budget", "infer"].value == -3.0
    assert stage_costs.elapsed_s(found.values()) == 8.0
    assert stage_costs.corrected_s(found.values()) == pytest.approx(8.0 / whole[0])


def test_a_stage_of_which_less_than_half_is_disturbed_is_not():
    told = [
        Sample("time", 4.0, "infer", step="encrypt", slowdown=10.0, is_disturbed=True),
        Sample("time", 5.0, "infer", step="evaluate"),
    ]
    found = {s.phase: s for s in stage_costs.stage_samples("infer", 9.0, told)}
    assert not found["infer"].is_disturbed
    assert found["infer"].slowdown == pytest.approx(9.0 / 5.4)
    assert (found["infer.encrypt"].is_disturbed, found["infer.encrypt"].slowdown) == (True, 1.0)


def test_what_is_not_of_a_stage_is_taken_off_it():
    told = [
        *times(infer__check=10.0, train__fit=100.0, train__client=100.0),
        *times(infer__encrypt=1.0, infer__client=1.0),
        *times(infer__check=20.0),
        Sample("peak_memory", 10.0, "train", "client"),
        Sample("mse", 0.25, "infer"),
    ]
    found = stage_costs.stage_samples("infer", 133.0, told)
    infer = {"infer": 3.0, "infer.transfer": 2.0, "infer.encrypt": 1.0, "infer.client": 1.0}
    train = {"train": 100.0, "train.fit": 100.0, "train.client": 100.0}
    assert of(found, "time") == infer | train | {"infer.check": 30.0}
    assert of(found, "cpu_time")["infer"] == 0.5
    assert of(found, "cpu_time")["train"] == 50.0
    assert of(found, "peak_memory") == {"train.client": 10.0}
    assert of(found, "mse") == {"infer": 0.25}
    assert stage_costs.elapsed_s(found) == 103.0


def test_sizes_are_those_of_the_blobs():
    sent = [Blob("0" * 64, 300), Blob("1" * 64, 500)]
    found = stage_costs.size_samples("infer", sent, [Blob("2" * 64, 50)], 16)
    assert [(s.metric, s.phase, s.value) for s in found] == [
        ("size", "infer", 800.0),
        ("size", "infer.returned", 50.0),
        ("plaintext_size", "infer", 16.0),
        ("expansion", "infer", 50.0),
    ]


RUN = "00000000-0000-0000-0000-000000000001"


def an_experiment(**changes):
    given = {"kind": "learning", "variants": ["seal"], "workloads": ["lmc-plain"], "data_sets": ["boston"]}
    return given | changes


def planned(*experiments, here=None, **budget):
    suite = Suite(name="test", budget=BudgetText(**budget), experiments=list(experiments))
    names = {name for item in suite.experiments for name in item.variants}
    available = {name: Availability(registry.declaration(name)) for name in names} | (here or {})
    return suite, plan.cases(suite, available)


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 3),  # all schemes that the workload offers
        ({"schemes": ["ckks"]}, 1),
        ({"variants": ["seal", "pyfhel"], "schemes": ["ckks"]}, 2),
        ({"data_sets": ["boston", "breast-cancer"], "schemes": ["ckks"]}, 2),
        ({"workloads": ["lmc-plain", "lr-k3-plain"], "schemes": ["bfv", "ckks"]}, 3),
        ({"variants": ["openfhe"], "threads": [1, 2], "schemes": ["bfv"]}, 2),
    ],
)
def test_every_combination_that_a_workload_offers_is_a_case(changes, count):
    _, cases = planned(an_experiment(**changes))
    assert len(cases) == count
    for item in cases:
        case = item.case
        assert item.reason is None
        assert (case.experiment, case.data_pattern) == ("learning", "real")
        assert case.parameters.security == 128
        assert (
            case.vector_length
            == {"boston": 506 * 13, "breast-cancer": 569 * 30}[case.dimensions.get("data_set")]
        )


def test_parameters_are_those_of_the_workload():
    _, cases = planned(
        an_experiment(workloads=["lmc-encrypted"], variants=["seal", "openfhe"], security="none")
    )
    for item in cases:
        workload, spec = SHIPPED["lmc-encrypted"], item.case.parameters
        asked = workload.roomy_parameters if item.case.variant == "openfhe" else workload.parameters
        assert replace(asked(spec.scheme), security=0) == spec


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"variants": ["tenseal"], "workloads": ["lmc-encrypted"], "schemes": ["ckks"]},
            "lmc-encrypted needs rotate: TenSEAL's vectors offer sums and matrix products",
        ),
        ({"variants": ["tenseal"], "schemes": ["bgv"]}, "TenSEAL offers no bgv here"),
        (
            {"variants": ["pyfhel"], "threads": [4], "schemes": ["ckks"]},
            "Pyfhel cannot be given 4 threads here",
        ),
    ],
)
def test_what_a_variant_cannot_do_is_told_before_it_begins(changes, reason):
    (item,) = planned(an_experiment(**changes))[1]
    assert item.reason.startswith(reason)


def test_a_variant_that_is_not_there_is_told():
    away = {"seal": Availability(registry.declaration("seal"), "it is away", "fetch it")}
    _, cases = planned(an_experiment(), here=away)
    assert {item.reason for item in cases} == {"it is away; fetch it"}


def test_learning_has_blocks_of_its_own_and_one_split_for_all():
    spec = SHIPPED["lmc-encrypted"].parameters("ckks")
    arithmetic = {
        "kind": "arithmetic",
        "variants": ["seal"],
        "schemes": ["ckks"],
        "ring_dimension": [spec.ring_dimension],
        "modulus_bits": list(spec.modulus_bits),
        "scale_bits": spec.scale_bits,
    }
    several = an_experiment(workloads=["lmc-plain", "lmc-encrypted"], variants=["seal", "cleartext"])
    suite, cases = planned(arithmetic, several, processes=2)
    made = plan.make(RUN, suite, cases)
    for block in made.blocks:
        kinds = {trial.case.experiment for item in block.comparison_groups for trial in item.trials}
        assert kinds == ({"learning"} if block.has_workloads else {"arithmetic"})
    learning = [trial for trial in made.trials if trial.case.dimensions.get("data_set")]
    for process in range(2):
        assert len({trial.seed for trial in learning if trial.process == process}) == 1
    assert len({trial.seed for trial in learning}) == 2
    assert any(block.has_workloads for block in made.blocks)
    rest = plan.without(
        made, {trial.id for trial in made.trials if not trial.case.dimensions.get("data_set")}
    )
    assert len(rest.trials) == len(learning)
    assert all(block.has_workloads for block in rest.blocks)


def test_longer_workloads_are_estimated_to_take_longer():
    def seconds(**changes):
        suite, cases = planned(an_experiment(schemes=["ckks"], **changes))
        return estimate.of_plan(cases, suite.budget.budget).seconds

    assert seconds(workloads=["lmc-encrypted"]) < seconds(workloads=["lr-k3-encrypted"])
    assert seconds(workloads=["lr-k3-encrypted"]) < seconds(workloads=["lr-k5-encrypted"])


def test_an_estimate_counts_layers_that_are_executed_alone():
    """A sample more is a pass more, with messages around it; where the workload names layers another through them, of
    one input.
    """

    def more_s(workload, scheme, **keys):
        given = {"kind": SHIPPED[workload].family, "variants": ["seal"], "workloads": [workload]}
        several = [
            planned(given | {"schemes": [scheme]} | keys, min_samples=n, min_time_s=0) for n in (19, 20)
        ]
        fewer_s, more_s = (estimate.of_plan(cases, suite.budget.budget).seconds for suite, cases in several)
        return more_s - fewer_s

    assert more_s("lmc-plain", "bfv", data_sets=["boston"]) > 0
    one_s, two_s, four_s = (more_s("digits", "ckks", inputs_per_pass=[batch]) for batch in (1, 2, 4))
    sample_s = two_s - one_s
    layers_s = one_s - sample_s
    assert four_s == pytest.approx(4 * sample_s + layers_s)
    assert 0.5 * sample_s < layers_s < sample_s


def test_what_layers_take_is_of_the_trial(tmp_path):
    moments_s = []

    def noted():
        time.sleep(0.1)
        moments_s.append(time.monotonic())

    seat, _ = a_seat(tmp_path, {messages.MakeKeys: noted, messages.EvaluateLayers: noted})
    outcome = executed(seat, a_trial("tiny-layers", min_samples=1))
    began_s, in_layers_s = moments_s
    assert outcome.error is None
    assert outcome.duration_s > in_layers_s - began_s


@pytest.mark.parametrize("request_kind", [messages.MakeKeys, messages.Evaluate, messages.EvaluateLayers])
def test_a_full_disk_is_no_outcome(tmp_path, request_kind):
    """Whoever runs the trial is told, whatever was asked, and runs it again."""
    told = "DiskFull: a blob could not be written to /blobs: No space left on device (in _kept)"
    full = Refused("crashed", told, "DiskFull")
    seat, _ = a_seat(tmp_path, {request_kind: lambda: full})
    with pytest.raises(
        OSError, match=r"a blob could not be written to /blobs: No space left on device$"
    ) as error:
        executed(seat, a_trial("tiny-layers"))
    assert error.value.errno == errno.ENOSPC
    seat.leave()


def no_place(after_s, times):
    """A deed that finds no place so many times."""
    left = [None] * times

    def deed():
        if left:
            left.pop()
            raise NoPlace("the server service has no place", after_s)

    return deed


def test_a_trial_waits_for_a_place_and_starts_again(tmp_path):
    """What it has at the other party is given back meanwhile, and no time tells of the waiting."""
    seat, made = a_seat(tmp_path, {messages.Load: no_place(0.3, 2)})
    outcome = executed(seat, a_trial(min_samples=1))
    assert (outcome.status, outcome.error) == ("ok", None)
    assert len(made) == 3
    assert all(parties.is_ended for parties in made)
    (prepare,) = [s.value for s in outcome.samples if (s.metric, s.phase) == ("time", "prepare")]
    assert prepare < outcome.duration_s - 0.6


@pytest.mark.parametrize("after_s", [None, 90.0])
def test_a_trial_that_finds_no_place_in_time_is_not_held_against_the_library(tmp_path, after_s):
    seat, made = a_seat(tmp_path, {messages.Load: no_place(after_s, 1)}, timeout_s=60)
    outcome = executed(seat, a_trial())
    assert (outcome.status, outcome.error) == ("cancelled", "the server service has no place")
    assert [parties.is_ended for parties in made] == [True]
