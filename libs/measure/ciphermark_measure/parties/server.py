"""The server: evaluates on ciphertexts. It is made of public material and cannot decrypt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_measure.blobs import Blob, BlobStore
from ciphermark_measure.parties import messages, plain_model
from ciphermark_measure.parties.party import OutOfOrder, Party, compression_of
from ciphermark_measure.parties.steps import Steps, Watch
from ciphermark_workloads.learning.workload import Phase, Prepared, Workload


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What ``Load`` made; what each phase returned; and what was encoded, by phase and plain model."""

    workload: Workload
    evaluator: Evaluator
    compression: str
    states: dict[Phase, list[Handle]] = field(default_factory=dict)
    encoded: dict[tuple[Phase, Blob], Prepared] = field(default_factory=dict)

    def state_before(self, phase: Phase) -> list[Handle]:
        """What the phase before returned; nothing before the first one."""
        phases = self.workload.phases
        if phase not in phases:
            raise OutOfOrder(f"{self.workload.name} has no phase {phase}, only {', '.join(phases)}")
        if phase == phases[0]:
            return []
        before = phases[phases.index(phase) - 1]
        if before not in self.states:
            raise OutOfOrder(f"{phase} needs what {before} returns: evaluate that first")
        return self.states[before]


class Server(Party):
    """Answers ``Load`` and ``Evaluate``."""

    def __init__(self, store: BlobStore, workloads: Mapping[str, Workload]) -> None:
        super().__init__(store, workloads)
        self._loaded: _Loaded | None = None

    @property
    def answers(self) -> Mapping[type, Callable[[Any], messages.Reply]]:
        """See :class:`Party`."""
        return {messages.Load: self._load, messages.Evaluate: self._evaluate}

    def _load(self, request: messages.Load) -> messages.Loaded:
        self._loaded = None
        workload = self.workload_named(request.workload)
        material = self.store.get(request.material)
        steps = Steps("prepare", "server")
        with steps.step("load"):
            declared, adapter = registry.declaration(request.variant), registry.load(request.variant)
        with steps.step("deserialize"):
            evaluator = adapter.evaluator(material)
        samples, check = steps.samples(), Watch("prepare")
        with check.step(messages.CHECK):
            library = replace(adapter.info(), is_reference=declared.is_reference)
        self._loaded = _Loaded(workload, evaluator, compression_of(request.variant))
        return messages.Loaded(library, evaluator.parameters, samples + check.samples())

    def _evaluate(self, request: messages.Evaluate) -> messages.Evaluated:
        loaded = self._loaded
        if loaded is None:
            raise OutOfOrder("there is no evaluator yet: load a client's material first (load)")
        evaluator, phase = loaded.evaluator, request.phase
        state = loaded.state_before(phase)
        dumped = self.got(request.inputs)
        steps = Steps(phase, "server")
        with steps.step("deserialize"):
            inputs = [evaluator.load(item) for item in dumped]
        prepared = self._encoded(loaded, request, inputs, steps)
        with steps.step("evaluate"):
            outputs = loaded.workload.compute(phase, evaluator, inputs, state, prepared)
        with steps.step("serialize"):
            results = [evaluator.dump(item, loaded.compression) for item in outputs]
        loaded.states[phase] = outputs
        return messages.Evaluated(self.kept(results), steps.samples())

    def _encoded(
        self, loaded: _Loaded, request: messages.Evaluate, inputs: list[Handle], steps: Steps
    ) -> Prepared:
        """What the server knows in the clear, as the phase needs it: encoded once for one model."""
        key = request.phase, request.plain
        if key not in loaded.encoded:
            plain = plain_model.load(self.store.get(request.plain))
            with steps.step("encode"):
                loaded.encoded[key] = loaded.workload.prepare(request.phase, loaded.evaluator, inputs, plain)
        return loaded.encoded[key]
