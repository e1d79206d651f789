"""Trials by two parties: every trial has its own client and server, with its own keys.

The parties never work at the same time: each is asked after the other has answered. The first pass also measures peak
memory. If the workload names layers, they are executed after the passes.

A workload with checkpoints keeps its state on disk after each stage. If a party dies, or the whole run, the trial goes
on from there with new parties, which make evaluation keys from the client's kept secret key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic, sleep
from typing import Any, TypeAlias, TypeVar

from ciphermark_analysis import stopping
from ciphermark_benchmark.parties import stage_costs
from ciphermark_benchmark.parties.party import LocalParties, NoPlace, Parties
from ciphermark_benchmark.parties.stage_costs import CollectedIn
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.checkpoints import Basis, Checkpoint, Checkpoints, OtherProgram
from ciphermark_benchmark.runner.durations import in_words
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.trial_runner import TrialFailed, TrialRunner
from ciphermark_contract.program import Program
from ciphermark_core.descriptor import DATA_SET
from ciphermark_core.metrics import reason_against
from ciphermark_core.model import Accuracy, OperationCount, Outcome, ProgramUse, Sample, Trial
from ciphermark_measure import protocol
from ciphermark_measure.interference import host_state
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.messages import Described, Role
from ciphermark_measure.parties.passes import Driver, StagePass, Subject
from ciphermark_measure.processes import WorkerDied
from ciphermark_workloads.options import INPUTS_PER_PASS
from ciphermark_workloads.options import of_case as options_of

R = TypeVar("R")
_SEEDS = 1 << 32  # the range that the client service accepts


@dataclass(frozen=True, slots=True)
class Advance:
    """A stage of a trial has ended: number ``done`` of ``total`` stages, for the minimum number of passes. ``left_s``
    are the seconds of the others, by the latest duration of each, or the mean of all before there is one.
    """

    trial: Trial
    stage: str
    done: int
    total: int
    left_s: float

    @property
    def words(self) -> str:
        """The stage that has ended, and the time of the others."""
        stages = f"{self.stage} ({self.done} of {self.total} stages)"
        return (
            f"{self.trial.case.variant}, {self.trial.case.operation}: {stages}, {in_words(self.left_s)} left"
        )

    @property
    def facts(self) -> dict[str, str | float]:
        """The advance as it is recorded."""
        case = self.trial.case
        return {
            "words": self.words,
            "variant": case.variant,
            "workload": case.operation,
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "left_s": self.left_s,
        }


OnStage: TypeAlias = Callable[[Advance], None]


@dataclass(slots=True)
class _Progress:
    """The stages of a trial that have ended, and the latest duration of each in seconds."""

    trial: Trial
    stages: tuple[str, ...]
    done: int = 0
    durations_s: dict[str, float] = field(default_factory=dict)

    def after(self, stage: str, elapsed_s: float) -> Advance:
        """The trial's advance, with one more stage."""
        self.done += 1
        self.durations_s[stage] = elapsed_s
        budget = self.trial.budget
        total = len(self.stages) * (budget.warmups + budget.min_samples)
        mean_s = sum(self.durations_s.values()) / len(self.durations_s)
        left = (self.stages[number % len(self.stages)] for number in range(self.done, total))
        left_s = sum(self.durations_s.get(name, mean_s) for name in left)
        return Advance(self.trial, stage, self.done, max(self.done, total), left_s)


@dataclass(slots=True)
class _Passes:
    """The results of a trial's passes so far."""

    trial: Trial
    progress: _Progress | None = None
    keys: messages.KeysMade | None = None
    samples: list[Sample] = field(default_factory=list)
    programs: dict[str, ProgramUse] = field(default_factory=dict)
    warmups: int = 0
    elapsed_s: list[float] = field(default_factory=list)
    corrected_s: list[float] = field(default_factory=list)
    host_facts: dict[Role, messages.HostReadings] = field(default_factory=dict)
    collected: list[CollectedIn] = field(default_factory=list)
    accuracy: Accuracy | None = None
    complaint: str | None = None
    # Of the pass under way: its stages that have ended, and the state that the server lacks.
    ended: int = 0
    state: messages.State | None = None
    pass_samples: list[Sample] = field(default_factory=list)
    is_interrupted: bool = False
    resumptions: int = 0
    died_at: tuple[int, int] | None = None
    note: str | None = None

    @property
    def position(self) -> tuple[int, int]:
        """The passes and the stages of the next one that have ended."""
        return self.warmups + len(self.elapsed_s), self.ended

    def checkpoint(self, basis: Basis, state: messages.State | None) -> Checkpoint:
        """The trial as it is, with the results of the last stage of a pass under way."""
        assert self.progress is not None
        return Checkpoint(
            basis=basis,
            ended=self.ended,
            state=state,
            samples=tuple(self.samples),
            pass_samples=tuple(self.pass_samples),
            executed=tuple(self.programs.values()),
            warmups=self.warmups,
            elapsed_s=tuple(self.elapsed_s),
            corrected_s=tuple(self.corrected_s),
            durations_s=self.progress.durations_s,
            resumptions=self.resumptions,
            collected=tuple(self.collected),
        )

    def resume(self, checkpoint: Checkpoint) -> None:
        """Return to a checkpoint."""
        assert self.progress is not None
        self.ended, self.state = checkpoint.ended, checkpoint.state
        self.is_interrupted = checkpoint.ended > 0
        self.note = (
            f"it was interrupted after {self.position[0]} passes and {self.ended} stages, and resumed: the times of an "
            "interrupted pass are marked, and not ranked"
        )
        self.samples, self.pass_samples = [*checkpoint.samples], [*checkpoint.pass_samples]
        self.programs = {use.stage: use for use in checkpoint.executed}
        self.warmups = checkpoint.warmups
        self.elapsed_s, self.corrected_s = [*checkpoint.elapsed_s], [*checkpoint.corrected_s]
        self.resumptions = checkpoint.resumptions + 1
        self.collected = [*checkpoint.collected]
        passes, ended = self.position
        self.progress.done = passes * len(self.progress.stages) + ended
        self.progress.durations_s = dict(checkpoint.durations_s)

    def collect(self, stage: str, *replies: tuple[Role, messages.Watched | None]) -> None:
        """Note the collections of each party's reply about a stage; those of passes that do not count are left out."""
        if stage == messages.PREPARE or self.warmups >= self.trial.budget.warmups:
            self.collected += [
                CollectedIn(stage, role, len(self.elapsed_s), reply.collected)
                for role, reply in replies
                if reply is not None and reply.collected.cycles
            ]

    @property
    def source(self) -> messages.Source:
        """The source of the input: the trial's seed, which all variants of a comparison group share."""
        data_set = DATA_SET.of(self.trial.case.dimensions)
        return messages.Source(self.trial.seed % _SEEDS, data_set)

    @property
    def inputs_per_pass(self) -> int:
        """The number of inputs of a pass."""
        return INPUTS_PER_PASS.of(self.trial.case.dimensions) or 1

    @property
    def has_layers(self) -> bool:
        """Whether the workload names layers in the program of its last stage."""
        return any(use.layers for use in self.programs.values())

    @property
    def is_done(self) -> bool:
        """Whether the passes suffice, each counted as a whole."""
        spent_ns = round(sum(self.elapsed_s) * 1e9)
        return stopping.is_enough(stopping.rule(self.trial.budget), self.corrected_s, spent_ns)


class TwoParties(TrialRunner):
    """Executes trials by two parties. A turn is one pass: all stages of the workload after the keys, with fresh
    encryptions. ``make`` creates the parties of each trial. Parties on this host receive the run's reference-kernel
    baseline, ``level``, and their measurements refine it. ``on_stage`` is called after every stage. Trials
    of workloads with checkpoints resume from ``checkpoints``, if given.
    """

    def __init__(
        self,
        needs: WorkerNeeds,
        make: Callable[[WorkerNeeds], Parties] = LocalParties,
        level: ReferenceKernelBaseline | None = None,
        on_stage: OnStage = lambda _: None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        super().__init__(needs.timeout_s)
        self.needs = needs
        self._checkpoints = checkpoints
        self._on_stage = on_stage
        self._make = make
        self._level = level or ReferenceKernelBaseline()
        self._parties: Parties | None = None
        self._passes: _Passes | None = None
        self._driver: Driver | None = None

    def start(self) -> None:
        if self._parties is None:
            self._parties = self._make(replace(self.needs, baseline_ns=self._level.ns))

    def ready(self) -> None:
        """See :meth:`TrialRunner.ready`. Does not wait, since services may be at capacity."""

    def leave(self) -> None:
        if self._parties is not None:
            self._parties.end()
        self._parties = None

    def _kill(self) -> None:
        if self._parties is not None:
            self._parties.kill()

    def _begin(self, trial: Trial) -> None:
        """Make keys, load them, and execute the passes whose times do not count."""
        self._passes = passes = _Passes(trial)
        if not self._resumed(passes):
            passes.samples += self._prepared_in_time(passes)
        while passes.warmups < trial.budget.warmups:
            self._take_pass(passes, is_warmup=True)

    def _take_turn(self) -> bool:
        """One pass, with fresh encryptions."""
        passes = self._passes
        assert passes is not None
        self._take_pass(passes, is_warmup=False)
        return passes.is_done

    def _take_pass(self, passes: _Passes, *, is_warmup: bool) -> None:
        """Execute a pass and keep its samples; of the first one, also memory, one-time work and programs."""
        samples = self._passed(passes)
        ordinal = passes.warmups if is_warmup else len(passes.elapsed_s)
        passes.samples += stage_costs.repeated(samples, ordinal, is_warmup=is_warmup)
        if passes.position[0] == 0:
            passes.samples += stage_costs.first(samples)
            self._describe(passes)
        if is_warmup:
            passes.warmups += 1
        else:
            passes.elapsed_s.append(stage_costs.elapsed_s(samples))
            passes.corrected_s.append(stage_costs.corrected_s(samples))
        _require_agreement(passes)
        if not passes.is_done:
            self._keep(passes, None)

    def _completed(self, outcome: Outcome) -> Outcome:
        """The outcome with the layers of the last stage. A failure of the layers is reported, and does not fail the
        trial.
        """
        passes, start = self._passes, monotonic()
        reason = None if passes is None else passes.note
        if passes is not None and passes.has_layers:
            try:
                passes.samples += self._layers(passes)
            except (TrialFailed, WorkerDied) as failure:
                if self.requests.is_abandoned:
                    raise
                reason = f"the passes are right, but its layers have no times: {failure}"
        duration_s = outcome.duration_s + monotonic() - start
        return self._ended(replace(outcome, error=reason, duration_s=duration_s))

    def _failed(self, outcome: Outcome) -> Outcome:
        """See :meth:`TrialRunner._failed`. The samples of completed passes are kept."""
        return self._ended(outcome)

    def _ended(self, outcome: Outcome) -> Outcome:
        """The outcome with all known results; ends the parties."""
        passes, parties, facts = self._passes, self._parties, _facts(self._parties)
        self.leave()
        if passes is None:
            return outcome
        passes.samples = stage_costs.with_collections(passes.samples, passes.collected)
        facts |= stage_costs.collection_facts(passes.collected)
        facts |= _host_facts(passes) | (
            {"resumptions": float(passes.resumptions)} if passes.resumptions else {}
        )
        if self._checkpoints is not None:
            self._checkpoints.remove(passes.trial)
        if parties is not None and parties.is_local:
            self._level.learn(facts)
        return replace(
            outcome,
            samples=tuple(passes.samples),
            accuracy=passes.accuracy,
            parameters=passes.keys.parameters if passes.keys else None,
            library=passes.keys.library if passes.keys else None,
            facts=facts,
            programs=tuple(passes.programs.values()),
        )

    def _prepared_in_time(self, passes: _Passes) -> list[Sample]:
        """:meth:`_prepared`, once both parties have capacity for the trial. A waiting trial occupies no party and
        restarts, so that no measured time includes the wait, which is limited to a trial's time.
        """
        deadline_s = monotonic() + self.needs.timeout_s
        while True:
            self.requests.require_interest()
            self.start()
            assert self._parties is not None
            self._parties.meet(passes.trial)
            try:
                return self._prepared(passes, self._parties)
            except NoPlace as refusal:
                if refusal.after_s is None or monotonic() + refusal.after_s > deadline_s:
                    raise
                self.leave()
                self.requests.begin()
                sleep(refusal.after_s)

    def _prepared(self, passes: _Passes, parties: Parties) -> list[Sample]:
        """Make keys at the client and an evaluator at the server."""
        kept_as = None
        if self._checkpoints is not None and parties.store is not None:
            self._checkpoints.begin(passes.trial)
            kept_as = passes.trial.id
        self._driver = driver = Driver(self._asked, replace(_subject(passes), kept_as=kept_as))
        prepared = driver.prepare()
        passes.keys = keys = prepared.keys
        passes.collect(messages.PREPARE, ("client", keys), ("server", prepared.loaded))
        passes.progress = _Progress(passes.trial, tuple(stage.name for stage in driver.stages))
        parties.tidy()
        samples = keys.samples + prepared.loaded.samples
        costs = stage_costs.stage_samples(messages.PREPARE, prepared.elapsed_s, samples)
        return [*costs, Sample("size", float(keys.material.size_bytes), messages.PREPARE)]

    def _passed(self, passes: _Passes) -> list[Sample]:
        """Execute all stages of the workload once: encrypt, evaluate, finally decrypt and check. If a party dies, new
        ones go on from the last checkpoint, unless a party died in the same stage before.
        """
        while True:
            try:
                self._execute_stages(passes)
                break
            except WorkerDied as death:
                if (
                    death.status == "timeout"
                    or passes.died_at == passes.position
                    or self.requests.is_abandoned
                ):
                    raise
                passes.died_at = passes.position
                if not self._resumed(passes):
                    raise
        assert self._parties is not None
        self._parties.tidy()
        samples = passes.pass_samples
        if passes.is_interrupted:
            samples = [stage_costs.interrupted(sample) for sample in samples]
        passes.pass_samples, passes.is_interrupted, passes.ended = [], False, 0
        return [*samples, *stage_costs.amortized(samples, passes.inputs_per_pass)]

    def _execute_stages(self, passes: _Passes) -> None:
        """Execute the stages of a pass that have not ended."""
        assert self._driver is not None
        assert passes.progress is not None
        state, passes.state = passes.state, None
        for stage_pass in self._driver.passed(passes.ended, state):
            passes.ended += 1
            passes.pass_samples += _costs(stage_pass)
            stage = stage_pass.stage.name
            passes.collect(stage, ("client", stage_pass.sent), ("server", stage_pass.back))
            passes.collect(stage, ("client", stage_pass.scored))
            if stage_pass.scored is not None:
                passes.accuracy, passes.complaint = stage_pass.scored.accuracy, stage_pass.scored.complaint
            advance = passes.progress.after(stage_pass.stage.name, stage_pass.elapsed_s)
            if stage_pass.scored is None:
                self._keep(passes, messages.State(stage_pass.back.outputs, stage_pass.back.shapes))
            self._on_stage(advance)

    def _keep(self, passes: _Passes, state: messages.State | None) -> None:
        """Keep a checkpoint, after a stage with its state, or after a pass."""
        keys, parties = passes.keys, self._parties
        if self._checkpoints is None or keys is None or not keys.programs:
            return
        assert parties is not None
        assert parties.store is not None
        self._describe(passes)
        self._checkpoints.keep(passes.checkpoint(Basis.of(passes.trial, keys), state), parties.store)

    def _resumed(self, passes: _Passes) -> bool:
        """Whether the trial was returned to its checkpoint, with new parties. One that does not fit is removed, and the
        outcome notes the reason.
        """
        if self._checkpoints is None:
            return False
        try:
            checkpoint = self._checkpoints.of(passes.trial)
            if checkpoint is None:
                return False
            self.leave()
            self._prepared_in_time(passes)
            assert passes.keys is not None
            assert self._parties is not None
            assert self._parties.store is not None
            checkpoint.basis.require(Basis.of(passes.trial, passes.keys))
            self._checkpoints.restore(checkpoint, self._parties.store)
            passes.resume(checkpoint)
        except (OtherProgram, TrialFailed) as reason:
            self.requests.require_interest()
            passes.note = f"the checkpoint was refused, and the trial restarted: {reason}"
            self._checkpoints.remove(passes.trial)
            self.leave()
            return False
        return True

    def _layers(self, passes: _Passes) -> tuple[Sample, ...]:
        assert self._driver is not None
        return self._driver.layers(passes.trial.budget.min_samples)

    def _describe(self, passes: _Passes) -> None:
        """Add the programs of the stages that have ended, where they are unknown."""
        driver = self._driver
        assert driver is not None
        for stage in driver.stages[: passes.ended or None]:
            if stage.name not in passes.programs:
                passes.programs[stage.name] = program_use(stage.name, driver.described(stage.name))

    def _asked(self, role: Role, request: Any, kind: type[R]) -> R:
        assert self._parties is not None
        assert self._passes is not None
        party = self._parties.client if role == "client" else self._parties.server
        reply = self.requests.ask(party, request, kind)
        if isinstance(reply, messages.Measured):
            _require_possible(role, messages.samples_of(reply))
        if isinstance(reply, messages.Watched):
            self._passes.host_facts[role] = reply.host_facts
        return reply


def _subject(passes: _Passes) -> Subject:
    case = passes.trial.case
    return Subject(
        variant=case.variant,
        workload=case.operation,
        source=passes.source,
        parameters=case.parameters,
        options=options_of(case.dimensions),
        inputs_per_pass=passes.inputs_per_pass,
        threads=case.threads,
    )


def _costs(stage_pass: StagePass) -> list[Sample]:
    stage, sent, back = stage_pass.stage.name, stage_pass.sent, stage_pass.back
    return [
        *stage_costs.stage_samples(stage, stage_pass.elapsed_s, stage_pass.samples, back.once),
        *stage_costs.size_samples(stage, sent.inputs, back.outputs, sent.plaintext_bytes),
    ]


def _require_possible(role: Role, samples: Sequence[Sample]) -> None:
    """Raise :class:`TrialFailed` for impossible samples, since another operator may run the party's service."""
    for sample in samples:
        if (reason := reason_against(sample.metric, sample.value)) is not None:
            raise TrialFailed(
                protocol.Refused("crashed", f"the {role} answers nonsense: {sample.phase}: {reason}")
            )


def _require_agreement(passes: _Passes) -> None:
    """End the trial if a pass's result differs from the unencrypted one; its samples are kept."""
    if passes.complaint is not None:
        raise TrialFailed(protocol.Refused("incorrect", passes.complaint))


def _facts(parties: Parties | None) -> dict[str, float]:
    """The known facts of the parties, for an outcome."""
    if parties is None:
        return {}
    facts = {"is_pinned": parties.is_pinned, "is_elsewhere": parties.is_elsewhere}
    return {name: float(value) for name, value in facts.items() if value is not None}


def _host_facts(passes: _Passes) -> dict[str, float]:
    """The host facts of both parties, for an outcome: the minimum of baselines, the maximum of disturbances, the sum of
    a party's own costs and waits.
    """
    both = [readings.by_name for readings in passes.host_facts.values()]
    facts: dict[str, float] = {}
    for name in dict.fromkeys(name for own in both for name in own):
        values = [own[name] for own in both if name in own]
        facts[name] = _TOGETHER.get(name, max)(values)
    if not both or not all("reference_kernel_s" in own for own in both):
        return {name: value for name, value in facts.items() if name != "reference_kernel_s"}
    timed = [item for item in passes.samples if item.step not in (messages.CHECK, messages.TRANSFER)]
    return facts | {"sampling_s": sum(passes.elapsed_s)} | host_state.counts(timed)


_TOGETHER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "reference_kernel_s": min,
    **dict.fromkeys(
        ("reference_kernel_readings", "reference_kernel_cost_s", "memory_cost_s", "run_delay_s"), sum
    ),
}


def program_use(stage: str, described: Described) -> ProgramUse:
    """The record of the program that a server executed in ``stage``, from the server's description.

    Raises ``ValueError`` for bytes that hold no program.
    """
    program = Program.from_bytes(described.program)
    counts = sorted(program.counts.items())
    return ProgramUse(
        stage=stage,
        digest=program.digest,
        scheme=program.scheme,
        depth=program.depth,
        constants=len(program.constants),
        live_ciphertexts=program.live_ciphertexts,
        counts=tuple(OperationCount(operation, level, n) for (operation, level), n in counts),
        content=described.program,
        layers=described.layers,
    )
