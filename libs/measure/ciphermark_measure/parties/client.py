"""The client: the only one that holds the secret key. It encrypts, decrypts and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Adapter, Exhausted, KeyOwner, Unsupported
from ciphermark_core.model import Parameters, Sample
from ciphermark_measure import security_check
from ciphermark_measure.blobs import BlobStore
from ciphermark_measure.parties import messages, plain_model
from ciphermark_measure.parties.party import OutOfOrder, Party, compression_of
from ciphermark_measure.parties.quality import quality
from ciphermark_measure.parties.steps import Steps, Watch
from ciphermark_workloads.learning.workload import PlainModel, Result, Task, Workload

Tasks = Callable[[messages.DataSet], Task]


@dataclass(frozen=True, slots=True)
class _Keys:
    """What ``MakeKeys`` made. The secret key is in ``owner``: it is never written, and dies with the process."""

    workload: Workload
    owner: KeyOwner
    compression: str


@dataclass(frozen=True, slots=True)
class _Subject:
    """A data set, split, with what is computed of it in the clear to judge by.

    ``public`` is what the server is told of data whose model is encrypted; ``None`` where the model is what it is told.
    """

    data: messages.DataSet
    task: Task
    reference: Result
    expected: Result
    public: PlainModel | None


class Client(Party):
    """Answers ``MakeKeys``, ``Encrypt`` and ``Score``. ``tasks`` finds the rows of a data set."""

    def __init__(self, store: BlobStore, workloads: Mapping[str, Workload], tasks: Tasks) -> None:
        super().__init__(store, workloads)
        self._tasks = tasks
        self._keys: _Keys | None = None
        self._subject: _Subject | None = None

    @property
    def answers(self) -> Mapping[type, Callable[[Any], messages.Reply]]:
        """See :class:`Party`."""
        return {
            messages.MakeKeys: self._make_keys,
            messages.Encrypt: self._encrypt,
            messages.Score: self._score,
        }

    def _make_keys(self, request: messages.MakeKeys) -> messages.KeysMade:
        self._keys = self._subject = None
        workload = self.workload_named(request.workload)
        steps = Steps("prepare", "client")
        with steps.step("load"):
            declared, adapter = registry.declaration(request.variant), registry.load(request.variant)
        with steps.step("keys"):
            parameters = _resolved(adapter, request)
            owner = adapter.key_owner(parameters, workload.keys(parameters))
        with steps.step("serialize"):
            material = owner.public_material()
        samples, check = steps.samples(), Watch("prepare")
        with check.step(messages.CHECK):
            library = replace(adapter.info(), is_reference=declared.is_reference)
        self._keys = _Keys(workload, owner, compression_of(request.variant))
        return messages.KeysMade(
            phases=workload.phases,
            library=library,
            parameters=parameters,
            material=self.store.put(material),
            samples=samples + check.samples(),
        )

    def _encrypt(self, request: messages.Encrypt) -> messages.Encrypted:
        keys = self._made_keys()
        owner, check = keys.owner, Watch(request.phase)
        with check.step(messages.CHECK):
            subject = self._subject_of(request.data, keys)
        plain, trained = _plain_model(keys.workload, subject)
        steps = Steps(request.phase, "client")
        with steps.step("pack"):
            vectors = keys.workload.inputs(request.phase, subject.task, owner.parameters)
        with steps.step("encrypt"):
            ciphertexts = [owner.encrypt(vector) for vector in vectors]
        with steps.step("serialize"):
            dumped = [owner.dump(item, keys.compression) for item in ciphertexts]
        return messages.Encrypted(
            inputs=self.kept(dumped),
            plain=self.store.put(plain_model.dump(plain)),
            plaintext_bytes=_plaintext_bytes(request.phase, subject.task),
            samples=check.samples() + trained + steps.samples(),
        )

    def _score(self, request: messages.Score) -> messages.Scored:
        keys = self._made_keys()
        owner, check = keys.owner, Watch("infer")
        with check.step(messages.CHECK):
            subject = self._subject_of(request.data, keys)
        dumped = self.got(request.outputs)
        steps = Steps("infer", "client")
        with steps.step("deserialize"):
            ciphertexts = [owner.load(item) for item in dumped]
        with steps.step("decrypt"):
            outputs = [owner.decrypt(item) for item in ciphertexts]
        with steps.step("unpack"):
            result = keys.workload.result(outputs, subject.task, owner.parameters)
        samples = steps.samples()
        with check.step(messages.CHECK):
            labels, scheme = subject.task.test.labels, owner.parameters.spec.scheme
            found = quality(result, subject.reference, subject.expected, labels, scheme)
        if found.complaint and 0 in [owner.noise_budget_bits(item) for item in ciphertexts]:
            raise Exhausted("no noise budget is left in what the server returned")
        return messages.Scored(found.accuracy, found.complaint, samples + check.samples() + found.samples)

    def _made_keys(self) -> _Keys:
        if self._keys is None:
            raise OutOfOrder("there are no keys yet: ask for them first (make_keys)")
        return self._keys

    def _subject_of(self, data: messages.DataSet, keys: _Keys) -> _Subject:
        """Found once; raises ``Unsupported`` for data that do not fit the parameters."""
        if self._subject is None or self._subject.data != data:
            task, workload, parameters = self._tasks(data), keys.workload, keys.owner.parameters
            workload.require_room(task, parameters)
            self._subject = _Subject(
                data,
                task,
                reference=workload.reference(task),
                expected=workload.expected(task, parameters),
                public=workload.plain_model(task) if "train" in workload.phases else None,
            )
        return self._subject


def _plain_model(workload: Workload, subject: _Subject) -> tuple[PlainModel, tuple[Sample, ...]]:
    """What the server is told in the clear; a model is trained for it anew, in a stage of its own."""
    if subject.public is not None:
        return subject.public, ()
    steps = Steps("train", "client")
    with steps.step("fit"):
        model = workload.plain_model(subject.task)
    return model, steps.samples()


def _resolved(adapter: Adapter, request: messages.MakeKeys) -> Parameters:
    """What the library makes of the request; raises ``Unsupported`` for what is less secure than asked."""
    parameters = adapter.resolve(request.parameters)
    asked = request.parameters.security
    reason = security_check.reason_against(parameters.ring_dimension, parameters.log_qp, asked)
    if reason is not None:
        raise Unsupported(reason)
    return parameters


def _plaintext_bytes(phase: str, task: Task) -> int:
    if phase == "train":
        return task.train.features.nbytes + task.train.labels.nbytes
    return task.test.features.nbytes
