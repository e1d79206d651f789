"""The server: evaluates on ciphertexts. It holds only public material and cannot decrypt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ciphermark_adapters import registry
from ciphermark_contract import layers
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Evaluator, Handle, Prepared
from ciphermark_contract.operations import Shape
from ciphermark_contract.program import Program
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, Sample
from ciphermark_measure import confinement
from ciphermark_measure.layered import Layered, time_samples, timed
from ciphermark_measure.parties import messages, party
from ciphermark_measure.parties.blobs import Blobs
from ciphermark_measure.parties.party import HostWatch, OutOfOrder, Party, Steps, Watch, equal_parts
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.programs import Call, StageProgram, traced
from ciphermark_workloads.workload import Stage


@dataclass(frozen=True, slots=True)
class _Ready:
    """The program of a stage with its plaintext operands, for one call. It is ``executed`` for ``at_once`` inputs.

    ``prepared`` is ``None`` after a pass of a workload that does not keep constants.
    """

    call: Call
    made: StageProgram
    at_once: int
    executed: Program
    prepared: Prepared | None


@dataclass(frozen=True, slots=True)
class Session:
    """The result of ``Load``; and for each stage its program, and its results: the handles of each input of a pass, and
    their shapes in the program.
    """

    workload: AnyWorkload
    declared: Declaration
    evaluator: Evaluator
    inputs_per_pass: int
    threads: int
    ready: dict[str, _Ready] = field(default_factory=dict)
    states: dict[str, list[list[Handle]]] = field(default_factory=dict)
    shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)

    @property
    def at_once(self) -> int:
        """The number of inputs of a pass that are executed together: all where threads share independent work."""
        return self.inputs_per_pass if self.threads > 1 and self.declared.programs_have_threads else 1

    def before(self, stage: Stage) -> str | None:
        """The preceding stage with the server; ``None`` for the first. Raises ``OutOfOrder`` where it was not
        evaluated.
        """
        before = self.preceding(stage)
        if before is not None and before not in self.states:
            raise OutOfOrder(f"{stage.name} needs what {before} returns: evaluate that first")
        return before

    def preceding(self, stage: Stage) -> str | None:
        """The preceding stage with the server; ``None`` for the first."""
        stages = self.workload.server_stages
        return None if stage == stages[0] else stages[stages.index(stage) - 1].name


class Server(Party):
    """Answers ``Load``, ``Evaluate``, ``Describe`` and ``EvaluateLayers``."""

    def __init__(
        self, store: Blobs, workloads: Mapping[str, AnyWorkload], host: HostWatch | None = None
    ) -> None:
        super().__init__(store, workloads, host)
        self._loaded: Session | None = None

    @property
    def answers(self) -> Mapping[type, Callable[[Any], messages.Reply]]:
        return {
            messages.Load: self._load,
            messages.Evaluate: self._evaluate,
            messages.Describe: self._describe,
            messages.EvaluateLayers: self._evaluate_layers,
        }

    def _load(self, request: messages.Load) -> messages.Loaded:
        self._loaded = None
        workload = self.configured(request.workload, request.options)
        material = self.store.get_parts(request.material)
        self.host.begin_trial()
        steps = Steps(messages.PREPARE, "server", self.host)
        with steps.step("load"):
            declared, adapter = registry.declaration(request.variant), registry.load(request.variant)
        self.host.listen(adapter)
        with steps.step("deserialize"):
            evaluator = adapter.evaluator(steps.without("deserialize", material))
        _require_memory(workload, evaluator.parameters)
        samples, check = steps.samples(), Watch(messages.PREPARE)
        with check.step(messages.CHECK):
            library = replace(adapter.info(), is_reference=declared.is_reference)
        self._loaded = Session(workload, declared, evaluator, request.inputs_per_pass, request.threads or 1)
        samples += check.samples()
        return messages.Loaded(library, evaluator.parameters, samples, self.host.facts, steps.collected)

    def _evaluate(self, request: messages.Evaluate) -> messages.Evaluated:
        loaded = self.loaded
        evaluator, stage = loaded.evaluator, self.server_stage(loaded.workload, request.stage)
        check = Watch(stage.name)
        if request.state is not None:
            with check.step(messages.CHECK):
                self._take(stage, request.state)
        before = loaded.before(stage)
        states = [[] for _ in range(loaded.inputs_per_pass)] if before is None else loaded.states[before]
        _require_count(loaded, stage, sum(blob.parts for blob in request.inputs))
        dumped, public = self.parts(request.inputs), party.load_arrays(self.store.get(request.public))
        # The first pass measures the peak of memory, which must not include the memory kernel's buffer.
        steps = Steps(stage.name, "server", self.host, reads_memory=stage.name in loaded.states)
        once = Watch(stage.name, self.host)
        inputs = equal_parts(steps.of_each("deserialize", evaluator.load, dumped), loaded.inputs_per_pass)
        shapes = () if before is None else _shapes(loaded, before)
        cache_entry = loaded.ready.get(stage.name)
        call = Call(stage.name, len(inputs[0]), shapes, public)
        ready = _ready(loaded, call, once if loaded.workload.keeps_constants else steps)
        with steps.step("evaluate"):
            outputs = _executed(loaded, ready, [[*a, *b] for a, b in zip(inputs, states, strict=True)])
        mode = loaded.declared.compressions[0]
        with steps.step("serialize"):
            results = [evaluator.dump(item, mode) for part in outputs for item in part]
        loaded.states[stage.name], loaded.shapes[stage.name] = outputs, ready.made.returned
        if not loaded.workload.keeps_constants:
            traced_alone = replace(ready.made, traced=replace(ready.made.traced, constants={}))
            loaded.ready[stage.name] = replace(ready, made=traced_alone, prepared=None)
        samples = steps.samples() + (() if ready is cache_entry else _own_results(loaded, ready))
        return messages.Evaluated(
            outputs=self.kept(results),
            program=ready.made.program.digest,
            samples=check.samples() + samples,
            once=once.samples(),
            host_facts=self.host.facts,
            collected=steps.collected,
            shapes=ready.made.returned,
        )

    def _take(self, stage: Stage, state: messages.State) -> None:
        """Take the results of the stage before from the requester; raises ``UserError`` where there is none."""
        loaded, before = self.loaded, self.loaded.preceding(stage)
        if before is None:
            raise UserError(f"{stage.name} takes no state: it is the first stage of {loaded.workload.name}")
        handles = [loaded.evaluator.load(item) for item in self.parts(state.outputs)]
        each = equal_parts(handles, loaded.inputs_per_pass)
        loaded.states[before], loaded.shapes[before] = [[*part] for part in each], state.shapes

    def _describe(self, request: messages.Describe) -> messages.Described:
        stage_program = self._ready_of(request.stage).made
        parts = (
            layers.split(stage_program.program, stage_program.layers) if len(stage_program.layers) > 1 else []
        )
        return messages.Described(stage_program.program.to_bytes(), tuple(layer.facts for layer in parts))

    def _evaluate_layers(self, request: messages.EvaluateLayers) -> messages.LayersEvaluated:
        loaded = self.loaded
        evaluator, stage = loaded.evaluator, loaded.workload.server_stages[-1]
        stage_program = self._ready_of(stage.name).made
        before = loaded.before(stage)
        state = [] if before is None else loaded.states[before][0]
        first = equal_parts(self.got(request.inputs), loaded.inputs_per_pass)[0]
        del loaded.ready[stage.name]
        layered = Layered(evaluator, stage_program, loaded.threads)
        bounds = layered.bound([*map(evaluator.load, first), *state])
        gate = self.host.gate
        times = [*timed(bounds, request.passes, gate)]
        gate.settle()
        mode = loaded.declared.compressions[0]
        ends = layered.ends(bounds) if request.returns_ends else []
        return messages.LayersEvaluated(
            ends=tuple(self.kept([evaluator.dump(item, mode) for item in layer]) for layer in ends),
            samples=tuple(time_samples(stage.name, [*stage_program.layers], times, gate)),
        )

    def _ready_of(self, stage: str) -> _Ready:
        ready = self.loaded.ready.get(stage)
        if ready is None:
            raise OutOfOrder(f"{stage} has no program yet: evaluate it first")
        return ready

    @property
    def loaded(self) -> Session:
        """The session; raises ``OutOfOrder`` where nothing was loaded."""
        if self._loaded is None:
            raise OutOfOrder("there is no evaluator yet: load a client's material first (load)")
        return self._loaded


def _shapes(loaded: Session, stage: str) -> tuple[Shape, ...]:
    """The shapes of a stage's results, with the scales that the library computed: products double the rounding errors
    of traced ones, and many stages would add up to a difference that the library refuses.
    """
    returned, handles = loaded.shapes[stage], loaded.states[stage][0]
    if not loaded.declared.drives_levels(loaded.evaluator.parameters.spec.scheme):
        return returned
    pairs = zip(returned, handles, strict=True)
    return tuple(replace(shape, scale=loaded.evaluator.scale(handle)) for shape, handle in pairs)


def _require_memory(workload: AnyWorkload, parameters: Parameters) -> None:
    """Raise ``MemoryError`` for a workload that is known to exceed this process's memory limit, before it is made."""
    needed_bytes, limit_bytes = workload.server_bytes(parameters), confinement.memory_limit()
    if limit_bytes is not None and needed_bytes > limit_bytes:
        raise MemoryError(
            f"{workload.name} keeps {-(-needed_bytes >> 20)} MB on the server with these options, and "
            f"{limit_bytes >> 20} MB are all that it may have"
        )


def _require_count(loaded: Session, stage: Stage, found: int) -> None:
    """Raise ``UserError`` for an unexpected number of ciphertexts, before any work."""
    each = loaded.workload.input_ciphertexts(stage.name, loaded.evaluator.parameters)
    if each is not None and found != each * loaded.inputs_per_pass:
        raise UserError(
            f"{loaded.workload.name} takes {each * loaded.inputs_per_pass} ciphertexts in the stage {stage.name}, not "
            f"{found}"
        )


def _ready(loaded: Session, call: Call, steps: Watch) -> _Ready:
    """The program of a stage and its plaintext operands, rebuilt only for another number of inputs or other plaintext
    data.
    """
    ready = loaded.ready.get(call.stage)
    if ready is None or not ready.call.equals(call) or ready.prepared is None:
        with steps.step("trace"):
            stage_program = traced(loaded.workload, call, loaded.evaluator.parameters, loaded.declared)
        with steps.step("encode"):
            at_once = loaded.at_once
            executed = stage_program.program.repeated(at_once) if at_once > 1 else stage_program.program
            prepared = loaded.evaluator.prepare_constants(
                executed, stage_program.traced.constants, loaded.threads
            )
        loaded.ready[call.stage] = ready = _Ready(call, stage_program, at_once, executed, prepared)
    return ready


def _own_results(loaded: Session, ready: _Ready) -> tuple[Sample, ...]:
    """The workload's own results about a program that was just made, outside of the request's time and memory."""
    stage, check = ready.call.stage, Watch(ready.call.stage)
    with check.step(messages.CHECK):
        results = loaded.workload.server_results(ready.made.program, loaded.threads)
    samples = tuple(Sample(name, value, stage) for name, value in results.items())
    return samples + check.samples() if samples else ()


def _executed(loaded: Session, ready: _Ready, inputs: list[list[Handle]]) -> list[list[Handle]]:
    """The outputs for each input of a pass: as many at once as one execution takes."""
    several = [
        [handle for given in inputs[i : i + ready.at_once] for handle in given]
        for i in range(0, len(inputs), ready.at_once)
    ]
    outputs: list[Handle] = []
    for handles in several:
        bound = loaded.evaluator.bind_program(ready.executed, handles, ready.prepared, loaded.threads)
        bound.run(1)
        outputs += bound.results()
    return [list(part) for part in equal_parts(outputs, len(inputs))]
