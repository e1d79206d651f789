"""The client: the only holder of the secret key. It makes the input, encrypts, decrypts and judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ciphermark_adapters import registry
from ciphermark_contract import bootstrapping_memory
from ciphermark_contract.declaration import SEEDED_CIPHERTEXT, Declaration
from ciphermark_contract.interfaces import (
    Adapter,
    Exhausted,
    Handle,
    KeyOwner,
    KeyRequest,
    Unsupported,
    Vector,
)
from ciphermark_contract.program import Program
from ciphermark_core import host
from ciphermark_core.encryption import SECRET_KEY
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import MAX_ERROR
from ciphermark_core.model import Parameters, ParameterSpec, Sample, Scheme
from ciphermark_measure import confinement, layered, parameter_selection
from ciphermark_measure.parties import messages, party
from ciphermark_measure.parties.blobs import Blobs
from ciphermark_measure.parties.inputs import Finder, Subject, inputs_of, judged, shared_public, subject
from ciphermark_measure.parties.party import HostWatch, OutOfOrder, Party, Steps, Watch, equal_parts
from ciphermark_measure.parties.secret_keys import SecretKeys
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.parameters import recommended, sends_seeded
from ciphermark_workloads.programs import all_traced, alone_before, keys_of
from ciphermark_workloads.workload import Arrays, Judgement, Stage, Truth


@dataclass(frozen=True, slots=True)
class Keys:
    """The result of ``MakeKeys``. The secret key is in ``owner``."""

    workload: AnyWorkload
    inputs_per_pass: int
    owner: KeyOwner
    declared: Declaration

    @property
    def compression(self) -> str:
        """The compression of ciphertexts in transit."""
        return self.declared.compressions[0]

    @property
    def sends_seeded(self) -> bool:
        """Whether a transmitted ciphertext has a seed in place of one half."""
        return sends_seeded(self.workload, self.declared)


class Client(Party):
    """Answers ``MakeKeys``, ``Encrypt``, ``Score`` and ``CompareLayers``. ``find`` finds data sets by name. Evaluation
    keys are released once written, since a server may hold them on the same host. Secret keys are written to
    ``secret_keys`` alone, for workloads with checkpoints, and else die with the process.
    """

    writes_keys_again = False

    def __init__(
        self,
        store: Blobs,
        workloads: Mapping[str, AnyWorkload],
        find: Finder,
        host: HostWatch | None = None,
        secret_keys: SecretKeys | None = None,
    ) -> None:
        super().__init__(store, workloads, host)
        self._find = find
        self._secret_keys = secret_keys
        self._keys: Keys | None = None
        self._subject: Subject | None = None

    @property
    def answers(self) -> Mapping[type, Callable[[Any], messages.Reply]]:
        return {
            messages.MakeKeys: self._make_keys,
            messages.Encrypt: self._encrypt,
            messages.Score: self._score,
            messages.CompareLayers: self._compare_layers,
        }

    def _make_keys(self, request: messages.MakeKeys) -> messages.KeysMade:
        self._keys = self._subject = None
        workload = self.configured(request.workload, request.options)
        self.host.begin_trial()
        steps = Steps(messages.PREPARE, "client", self.host)
        with steps.step("load"):
            declared, adapter = registry.declaration(request.variant), registry.load(request.variant)
        self.host.listen(adapter)
        with steps.step("keygen"):
            parameters = _resolved(adapter, _spec(workload, declared, request))
            keys, programs = self._key_request(workload, request, parameters, declared)
            owner, is_kept = self._owner(workload, request, adapter, parameters, keys)
        material = self.store.put_parts(steps.each("keygen", owner.public_material()))
        samples, check = steps.samples(), Watch(messages.PREPARE)
        with check.step(messages.CHECK):
            library = replace(adapter.info(), is_reference=declared.is_reference)
            if not self.writes_keys_again:
                owner.release_evaluation_keys()
                confinement.trim()
        self._keys = Keys(workload, request.inputs_per_pass, owner, declared)
        if self._keys.sends_seeded:
            parameters = replace(parameters, encryption=SECRET_KEY)
        return messages.KeysMade(
            stages=workload.stages,
            library=library,
            parameters=parameters,
            material=material,
            samples=samples + check.samples(),
            host_facts=self.host.facts,
            collected=steps.collected,
            programs=programs if is_kept else (),
        )

    def _owner(
        self,
        workload: AnyWorkload,
        request: messages.MakeKeys,
        adapter: Adapter,
        parameters: Parameters,
        keys: KeyRequest,
    ) -> tuple[KeyOwner, bool]:
        """The owner of new keys, or of a kept secret key; and whether its secret key is kept."""
        name, kept = request.kept_as, self._secret_keys
        if name is None or kept is None or not workload.has_checkpoints or len(workload.server_stages) < 2:
            return adapter.key_owner(parameters, keys), False
        secret = kept.of(name)
        if secret is not None:
            return adapter.restored_owner(parameters, keys, secret), True
        owner = adapter.key_owner(parameters, keys)
        try:
            kept.keep(name, owner.dump_secret())
        except Unsupported:  # without checkpoints then
            return owner, False
        return owner, True

    def _encrypt(self, request: messages.Encrypt) -> messages.Encrypted:
        keys = self.keys
        owner, workload = keys.owner, keys.workload
        stage, check = self.server_stage(workload, request.stage), Watch(request.stage)
        with check.step(messages.CHECK):
            given = self.subject_of(request.source)
        public, alone = _told(workload, stage, given, owner.parameters, self.host)
        steps = Steps(stage.name, "client", self.host)
        with steps.step("pack"):
            vectors = [
                vector
                for item in given.inputs
                for vector in workload.vectors(stage.name, item, owner.parameters)
            ]
        dumped = _sent(keys, vectors, steps)
        samples = steps.samples()
        with check.step(messages.CHECK):
            size = sum(workload.plaintext_bytes(stage.name, item, owner.parameters) for item in given.inputs)
        return messages.Encrypted(
            inputs=self.kept(dumped),
            public=self.store.put(party.dump_arrays(public)),
            plaintext_bytes=size,
            samples=check.samples() + alone + samples,
            host_facts=self.host.facts,
            collected=steps.collected,
        )

    def _score(self, request: messages.Score) -> messages.Scored:
        keys = self.keys
        owner, workload, last = keys.owner, keys.workload, keys.workload.stages[-1].name
        check = Watch(last)
        with check.step(messages.CHECK):
            given = self.subject_of(request.source)
        dumped = self.parts(request.outputs)
        steps = Steps(last, "client", self.host)
        ciphertexts = steps.of_each("deserialize", owner.load, dumped)
        with steps.step("decrypt"):
            decrypted = workload.decrypted(owner, ciphertexts)
        with steps.step("unpack"):
            outputs = [
                workload.output(part, item, owner.parameters)
                for part, item in zip(equal_parts(decrypted, keys.inputs_per_pass), given.inputs, strict=True)
            ]
        samples = steps.samples()
        with check.step(messages.CHECK):
            judgment = self.judged(workload, outputs, given.truths)
            left = _remaining_bits(owner, workload.opened(owner, ciphertexts))
        if judgment.complaint and 0 in left.values():
            raise Exhausted("no noise budget is left in what the server returned")
        own = {MAX_ERROR.name: judgment.accuracy.max_abs_error, **judgment.results, **left}
        results = tuple(Sample(name, value, last) for name, value in own.items())
        rounded_output = None if request.source.given is None else _to_two_digits(outputs[0])
        return messages.Scored(
            accuracy=judgment.accuracy,
            complaint=judgment.complaint,
            samples=samples + check.samples() + results,
            found=rounded_output,
            host_facts=self.host.facts,
            collected=steps.collected,
        )

    def _compare_layers(self, request: messages.CompareLayers) -> messages.LayersCompared:
        keys = self.keys
        owner, workload = keys.owner, keys.workload
        given = self.subject_of(request.source).inputs[0]
        programs = all_traced(workload, given, owner.parameters, keys.declared)
        clear = layered.in_the_clear(workload, programs, given, owner.parameters)
        samples: list[Sample] = []
        for (name, expected), blobs in zip(clear.items(), request.ends, strict=True):
            vectors = [owner.decrypt(owner.load(item)) for item in self.got(blobs)]
            sizes = layered.largest_of(vectors, expected)
            samples += layered.size_samples(workload.stages[-1].name, name, *sizes)
        return messages.LayersCompared(tuple(samples))

    def _key_request(
        self,
        workload: AnyWorkload,
        request: messages.MakeKeys,
        parameters: Parameters,
        declared: Declaration,
    ) -> tuple[KeyRequest, tuple[str, ...]]:
        """The keys that the workload declares, or else those of its programs; and the digests of these, if traced."""
        keys = workload.keys(parameters)
        if keys is not None and not workload.has_checkpoints:
            return keys, ()
        if request.source is None:
            raise UserError(f"the keys of {workload.name} depend on its input: give its source, too")
        given = self.inputs(workload, request.source, 1)[0]
        programs = all_traced(workload, given, parameters, declared).values()
        if keys is None:
            keys = keys_of(programs)
            if keys.bootstrapping is not None:
                _require_memory([item.program for item in programs], keys, declared)
        return keys, tuple(item.program.digest for item in programs)

    @property
    def keys(self) -> Keys:
        """The keys; raises ``OutOfOrder`` where none were requested."""
        if self._keys is None:
            raise OutOfOrder("there are no keys yet: ask for them first (make_keys)")
        return self._keys

    def inputs(self, workload: AnyWorkload, source: messages.Source, inputs_per_pass: int) -> list[Any]:
        """The inputs of a pass."""
        return inputs_of(workload, source, inputs_per_pass, self._find)

    def judged(
        self, workload: AnyWorkload, outputs: Sequence[Any], truths: Sequence[Truth[Any, Any]]
    ) -> Judgement:
        """The judgement of the last stage's results."""
        return judged(workload, outputs, truths)

    def subject_of(self, source: messages.Source) -> Subject:
        """The subject of a source, made once; raises ``Unsupported`` for an input that does not fit the parameters."""
        if self._subject is None or self._subject.source != source:
            keys = self.keys
            inputs = self.inputs(keys.workload, source, keys.inputs_per_pass)
            self._subject = subject(keys.workload, source, inputs, keys.owner.parameters)
        return self._subject


def _require_memory(programs: Sequence[Program], keys: KeyRequest, declared: Declaration) -> None:
    """Raise ``MemoryError`` for programs that bootstrap whose parties exceed what each may have, or, confined to this
    host, what it has.
    """
    limit = confinement.memory_limit()
    found = declared.footprint and bootstrapping_memory.needs(declared.footprint, programs, keys)
    if limit is None or not found:
        return
    client, server, together, key_mb, diagonal_mb = (-(-size >> 20) for size in found)
    limit_mb, host_mb = limit >> 20, host.memory_bytes() >> 20
    contents = f"keys take {key_mb:,} MB and diagonals of bootstrapping {diagonal_mb:,} MB"
    if max(client, server) > limit_mb:
        party, most = ("server", server) if server > client else ("client", client)
        raise MemoryError(
            f"the {party} needs about {most:,} MB ({contents}); the budget allows {limit_mb:,} MB per party (memory_mb)"
        )
    if together > host_mb:
        raise MemoryError(
            f"client and server need about {together:,} MB ({contents}); the host has {host_mb:,} MB"
        )


def _to_two_digits(output: Any) -> tuple[float, ...]:
    """An output rounded to hide its noise: the exact results of ckks reveal the key (Li and Micciancio, EUROCRYPT
    2021).
    """
    return tuple(np.round(np.asarray(output, dtype=np.float64).ravel(), 2).tolist())


def _sent(keys: Keys, vectors: Sequence[Vector], steps: Steps) -> list[bytes]:
    """The transmitted ciphertexts of vectors. Those with a seed in place of a half are written when encrypted."""
    if keys.sends_seeded:
        with steps.step("encrypt"):
            return [keys.owner.dump_seeded(SEEDED_CIPHERTEXT, item, keys.compression) for item in vectors]
    with steps.step("encrypt"):
        ciphertexts = [keys.owner.encrypt(vector) for vector in vectors]
    with steps.step("serialize"):
        return [keys.owner.dump(item, keys.compression) for item in ciphertexts]


def _told(
    workload: AnyWorkload, stage: Stage, given: Subject, parameters: Parameters, host: HostWatch
) -> tuple[Arrays, tuple[Sample, ...]]:
    """The plaintext data of a stage for the server, and samples of the client-only stages right before it, which are
    executed again.
    """
    public, samples = given.public[stage.name], list[Sample]()
    for alone in alone_before(workload.stages, stage):
        steps = Steps(alone.name, "client", host)
        with steps.step("fit"):
            arrays = shared_public(workload, alone.name, given.inputs, parameters)
        public, samples = {**arrays, **public}, [*samples, *steps.samples()]
    return public, tuple(samples)


def _spec(workload: AnyWorkload, declared: Declaration, request: messages.MakeKeys) -> ParameterSpec:
    """The requested parameters, or else the workload's own."""
    if request.parameters is None:
        scheme = request.scheme or _first_common(workload.schemes, declared.schemes)
        return recommended(workload, scheme, declared)
    if request.scheme is not None:
        raise UserError("give scheme or parameters, not both: parameters name their scheme")
    return request.parameters


def _first_common(wanted: Sequence[Scheme], offered: Sequence[Scheme]) -> Scheme:
    """The workload's first scheme that the variant supports; its very first where there is none."""
    return next((scheme for scheme in wanted if scheme in offered), wanted[0])


def _resolved(adapter: Adapter, spec: ParameterSpec) -> Parameters:
    """The library's parameters for a request; raises ``Unsupported`` where they are less secure than requested."""
    parameters = adapter.resolve(spec)
    reason = parameter_selection.reason_against(
        spec, parameters.ring_dimension, parameters.log_qp, parameters.secret_distribution
    )
    if reason is not None:
        raise Unsupported(reason)
    return parameters


def _remaining_bits(owner: KeyOwner, ciphertexts: Sequence[Handle]) -> Mapping[str, float]:
    """The minimum noise budget, by the name of the metric; empty where the library reports none."""
    readings = [owner.noise_budget_bits(item) for item in ciphertexts]
    budgets = [float(bits) for bits in readings if bits is not None]
    return {"noise_budget": min(budgets)} if budgets else {}
