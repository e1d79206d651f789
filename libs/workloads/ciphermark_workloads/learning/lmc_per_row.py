"""Linear means as published: one ciphertext per row, squared distances to both class means.

It needs no rotation, so TenSEAL supports all of it: the client adds up the columns of the decrypted result. Labels are
in the clear for the server, which adds up the classes. This is the baseline for the gains of the other workloads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from ciphermark_circuits.layout import Floats, centred, require_real_room, require_room, residues
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Operator, Unsupported, Vector
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.classifier import (
    TRAINED_ENCRYPTED,
    TRAINED_IN_THE_CLEAR,
    Classifier,
    Result,
    Task,
)
from ciphermark_workloads.workload import Arrays, Handles, Stage

_RING = 8192
_PLAIN_MODULUS_BITS = 50
# The value of a feature of 1 in bfv, by model: undivided means leave less room.
_PLAIN_UNIT, _ENCRYPTED_UNIT = 256.0, 22.0
_ROOM = 2.0**19  # above the scale in the first prime of the ckks modulus chain, less the sign


@dataclass(frozen=True, slots=True)
class PerRowLinearMeans(Classifier):
    """The score is the squared distance to the mean of class 0 minus that to the mean of class 1."""

    name: str
    title: str
    stages: tuple[Stage, ...]
    pass_s: float
    schemes: tuple[Scheme, ...] = ("bfv", "ckks")

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        squared = "square" if scheme == "ckks" else "mul"
        return ("add", "sub", "sub_plain", "mul_plain", squared)

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        if scheme not in self.schemes:
            raise Unsupported(
                f"{self.name} is made for {', '.join(self.schemes)}, as published, not {scheme}"
            )
        if scheme == "ckks":
            return ParameterSpec("ckks", _RING, (60, 40, 40, 60), scale_bits=40)
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, _RING)
        return ParameterSpec(scheme, _RING, (43, 43, 44, 44, 44), plain_modulus=modulus)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """See :class:`Workload`: primes of one size."""
        if scheme != "bfv":
            return self.parameters(scheme)
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, 2 * _RING)
        return ParameterSpec("bfv", 2 * _RING, (56, 56, 56, 56, 60), plain_modulus=modulus)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """The relinearization key of the squares."""
        return KeyRequest.of(relinearization=True)

    def require_room(self, task: Task, parameters: Parameters) -> None:
        if parameters.spec.scheme == "ckks":
            require_real_room(self._squares(task), _ROOM, "a squared distance")
        else:
            require_room(self._whole_squares(task, parameters), parameters)

    def public(self, stage: str, task: Task, parameters: Parameters) -> Arrays:
        """The sizes of the classes; with training in the clear, also their means."""
        one, zero = training.by_class(task.train)
        sizes = {"sizes": np.array([len(one), len(zero)], dtype=np.float64)}
        if self._hides_model:
            return sizes
        means = np.stack([one.mean(axis=0), zero.mean(axis=0)])
        return sizes | {"means": means} if stage == "train" else {}

    def vectors(self, stage: str, task: Task, parameters: Parameters) -> list[Vector]:
        """A vector per row; in training, rows of class 1 come first."""
        rows = np.concatenate(training.by_class(task.train)) if stage == "train" else task.test.features
        if parameters.spec.scheme == "ckks":
            return list(rows)
        return [residues(row * self._feature_unit, parameters) for row in rows]

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """Both class means; then a difference of squared distances for each row, column by column."""
        managed, parameters = evaluator.managed(), evaluator.parameters
        sizes = [int(size) for size in public["sizes"]]
        if stage == "train":
            classes = inputs[: sizes[0]], inputs[sizes[0] :]
            return [_mean(managed, parameters, rows, sizes) for rows in classes]
        if state:
            common = _filled(parameters, _common(parameters, sizes))
            rows = [managed.apply("mul_plain", row, common) for row in inputs]
            return [_difference(managed, parameters, "sub", row, state) for row in rows]
        means = list(public["means"])
        if parameters.spec.scheme != "ckks":
            means = [residues(mean * self._feature_unit, parameters) for mean in means]
        return [_difference(managed, parameters, "sub_plain", row, means) for row in inputs]

    def output(self, outputs: Sequence[Vector], task: Task, parameters: Parameters) -> Result:
        """See :class:`Workload`. The client learns only the scores of an encrypted model."""
        columns = task.test.features.shape[1]
        differences = np.stack([output[:columns] for output in outputs])
        if parameters.spec.scheme != "ckks":
            differences = centred(differences, parameters)
        return Result(differences.sum(axis=1) / self._unit(task, parameters) ** 2)

    def reference(self, task: Task) -> Result:
        """Twice the score of linear means: the same classes."""
        linear = training.predicted(training.linear_means(task.train), task)
        return Result(2 * linear.scores)

    def expected(self, task: Task, parameters: Parameters) -> Result:
        """See :class:`Workload`: in bfv, with rows and plain means rounded."""
        if parameters.spec.scheme == "ckks":
            return self.reference(task)
        one, zero = self._whole_squares(task, parameters).sum(axis=2)
        return Result((zero - one) / self._unit(task, parameters) ** 2)

    def _squares(self, task: Task) -> Floats:
        """Squared differences to both class means, of shape (2, rows, columns)."""
        means = [rows.mean(axis=0) for rows in training.by_class(task.train)]
        return np.stack([(task.test.features - mean) ** 2 for mean in means])

    def _whole_squares(self, task: Task, parameters: Parameters) -> Floats:
        """Squared differences to both class means, of shape (2, rows, columns), as the circuit computes them."""
        classes, factor = training.by_class(task.train), 1
        if self._hides_model:
            factor = _common(parameters, [len(rows) for rows in classes])
            means = [
                np.rint(rows * self._feature_unit).sum(axis=0) * (factor // len(rows)) for rows in classes
            ]
        else:
            means = [np.rint(rows.mean(axis=0) * self._feature_unit) for rows in classes]
        tests = np.rint(task.test.features * self._feature_unit) * factor
        return np.stack([(tests - mean) ** 2 for mean in means])

    @property
    def _hides_model(self) -> bool:
        return self.stage("train").has_server

    @property
    def _feature_unit(self) -> float:
        return _ENCRYPTED_UNIT if self._hides_model else _PLAIN_UNIT

    def _unit(self, task: Task, parameters: Parameters) -> float:
        if parameters.spec.scheme == "ckks":
            return 1.0
        if not self._hides_model:
            return self._feature_unit
        return self._feature_unit * _common(parameters, [len(rows) for rows in training.by_class(task.train)])


def _common(parameters: Parameters, sizes: Sequence[int]) -> int:
    """The factor of test rows for undivided means: the least common multiple of the sizes; 1 in ckks."""
    one, zero = sizes
    return 1 if parameters.spec.scheme == "ckks" else one * zero // gcd(one, zero)


def _mean(managed: Operator, parameters: Parameters, rows: Handles, sizes: Sequence[int]) -> Handle:
    total = rows[0]
    for row in rows[1:]:
        total = managed.apply("add", total, row)
    common = _common(parameters, sizes)
    factor = common / len(rows) if parameters.spec.scheme == "ckks" else common // len(rows)
    return managed.apply("mul_plain", total, _filled(parameters, factor))


def _difference(
    managed: Operator, parameters: Parameters, operation: str, row: Handle, means: Handles
) -> Handle:
    one, zero = (_squared(managed, parameters, managed.apply(operation, row, mean)) for mean in means)
    return managed.apply("sub", zero, one)


def _squared(managed: Operator, parameters: Parameters, a: Handle) -> Handle:
    return managed.apply("square", a) if parameters.spec.scheme == "ckks" else managed.apply("mul", a, a)


def _filled(parameters: Parameters, value: float) -> Vector:
    return np.full(
        parameters.slots, value, dtype=np.float64 if parameters.spec.scheme == "ckks" else np.int64
    )


WORKLOADS = (
    PerRowLinearMeans(
        "lmc-per-row-plain", "linear means as published, trained in the clear", TRAINED_IN_THE_CLEAR, 0.5
    ),
    PerRowLinearMeans(
        "lmc-per-row-encrypted",
        "linear means as published, trained on encrypted data",
        TRAINED_ENCRYPTED,
        1.2,
    ),
)
