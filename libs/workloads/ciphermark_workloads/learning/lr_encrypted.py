"""Logistic regression, trained and applied on encrypted data: in ckks, and with a linear sigmoid in exact fixed point.

See :mod:`ciphermark_circuits.logistic_regression` and :mod:`ciphermark_circuits.fixed_point` for the circuits and the
meaning of their factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ciphermark_circuits import fixed_point, logistic_regression
from ciphermark_circuits.layout import (
    Blocks,
    Floats,
    centred,
    power_of_two,
    require_real_room,
    require_room,
    residues,
    with_ones,
)
from ciphermark_circuits.logistic_regression import RHO, SCALE_BITS, Descent, Rows
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector
from ciphermark_core import primes
from ciphermark_core.metrics import Metric, register
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.classifier import Result, Task, TrainedInBlocks
from ciphermark_workloads.workload import Arrays, Handles, Judgement, Truth

TRAINING_LOSS = register(
    Metric(
        "training_loss",
        "absolute",
        "lower",
        1.05,
        "loss of training rows",
        "Mean logistic loss of the decrypted model on the rows that it was trained on.",
    )
)
PUBLISHED_LOSS = register(
    Metric(
        "published_loss",
        "absolute",
        None,
        1.0,
        "loss of the published training",
        "Mean logistic loss, on the same rows, of ten steps as CryptOracle bootstraps them, in the clear.",
    )
)


@dataclass(frozen=True, slots=True)
class EncryptedLogisticRegression(TrainedInBlocks):
    """Gradient steps and inference on ciphertexts; labels are encrypted, too, as signs of the rows."""

    name: str
    title: str
    descent: Descent
    ring_dimension: int
    # For one prime per product: the first prime exceeds the others by the bits that scores need.
    roomy_bits: tuple[int, int]
    schemes: tuple[Scheme, ...] = ("ckks",)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "sub_plain", "mul_plain", "mul", "square", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """Two primes for each step after the first: see :attr:`Descent.chain`."""
        self._require_reals(scheme)
        return ParameterSpec("ckks", self.ring_dimension, self.descent.chain, scale_bits=SCALE_BITS)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """A prime of the scale's size for each product, as libraries choose them."""
        self._require_reals(scheme)
        first, others = self.roomy_bits
        chain = (first, *[others] * (self.descent.products + 1), 60)
        return ParameterSpec("ckks", self.ring_dimension, chain, scale_bits=others)

    def _require_reals(self, scheme: Scheme) -> None:
        if scheme != "ckks":
            raise Unsupported(f"{self.name} needs approximate numbers: ckks, not {scheme}")

    def require_room(self, task: Task, parameters: Parameters) -> None:
        room = parameters.moduli[0] / (parameters.scale or 1.0) / 2
        require_real_room(self.reference(task).scores, room, "a score")

    def vectors(self, stage: str, task: Task, parameters: Parameters) -> list[Vector]:
        """All of ``Z``, then all of ``Z2``; test rows preceded by 1."""
        values, shrinkage = task.train.features.shape[1] + 1, training.shrinkage(task.train, self.descent)
        if stage == "infer":
            return Blocks.of(parameters, values).packed(with_ones(task.test.features * shrinkage) / RHO)
        pairs = Blocks.of(parameters, values, parts=2)
        z = training.signed_rows(training.shrunk(task.train, shrinkage))
        factor = self.descent.gradient_factor(len(z))
        return [*pairs.packed(twice(z) * self.descent.row_factor), *pairs.packed(z * factor)]

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The model; then the scores and the unchanged model."""
        block = power_of_two(int(public["columns"][0]) + 1)
        if stage == "train":
            half = len(inputs) // 2
            rows = Rows(inputs[:half], inputs[half:], block)
            return [logistic_regression.train(evaluator, rows, self.descent)]
        return [*logistic_regression.infer(evaluator, inputs, state[0], block), *state]

    def output(self, outputs: Sequence[Vector], task: Task, parameters: Parameters) -> Result:
        *scores, beta = outputs
        values = task.train.features.shape[1] + 1
        heads = Blocks.of(parameters, values).heads(scores, len(task.test.labels))
        weights = beta[:values] / RHO
        weights[1:] *= training.shrinkage(task.train, self.descent)
        return Result(heads, weights)

    def reference(self, task: Task) -> Result:
        return training.predicted(training.logistic_regression(task.train, self.descent), task)

    def judge(self, found: Result, truth: Truth[Task, Result]) -> Judgement:
        """With the loss of the decrypted model, and that of the published training in the clear, on the same rows."""
        judgement, train = super(EncryptedLogisticRegression, self).judge(found, truth), truth.input.train
        assert found.weights is not None
        losses = {
            TRAINING_LOSS.name: training.loss(train, found.weights),
            PUBLISHED_LOSS.name: training.loss(train, training.published_regression(train)),
        }
        return replace(judgement, results={**judgement.results, **losses})


def twice(rows: Floats) -> Floats:
    """Rows in both halves of a pair of blocks."""
    half = np.zeros((len(rows), power_of_two(rows.shape[1])))
    half[:, : rows.shape[1]] = rows
    return np.hstack([half, half])


_FIXED_RING = 16384
_PLAIN_MODULUS_BITS = 47
_UNIT = 2.0**5  # the value of a feature of 1


class FixedPointRegression(TrainedInBlocks):
    """Two gradient steps and inference in whole numbers; labels are encrypted, too, as signs of the rows."""

    name = "lr-fixed-encrypted"
    title = "logistic regression with a linear sigmoid in exact fixed point, trained on encrypted data"
    schemes: tuple[Scheme, ...] = ("bfv", "bgv")

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul_plain", "mul", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        if scheme not in self.schemes:
            raise Unsupported(f"{self.name} needs whole numbers: bfv or bgv, not {scheme}")
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, _FIXED_RING)
        chain = (56, 56, 56, 56, 56, 60) if scheme == "bfv" else (54, 54, 54, 54, 54, 54, 60)
        return ParameterSpec(scheme, _FIXED_RING, chain, plain_modulus=modulus)

    def require_room(self, task: Task, parameters: Parameters) -> None:
        require_room(_whole(with_ones(task.test.features)) @ _whole_weights(task), parameters)

    def public(self, stage: str, task: Task, parameters: Parameters) -> Arrays:
        """The number of columns, and κ: the learning rate that the client chose for its training rows."""
        return {**super().public(stage, task, parameters), "kappa": np.array([_kappa(task)])}

    def vectors(self, stage: str, task: Task, parameters: Parameters) -> list[Vector]:
        """All of ``Z``, then all of ``Z2``; test rows preceded by 1."""
        values = task.train.features.shape[1] + 1
        if stage == "infer":
            tests = _whole(with_ones(task.test.features))
            return Blocks.of(parameters, values).packed(residues(tests, parameters))
        pairs, z = Blocks.of(parameters, values, parts=2), _whole(training.signed_rows(task.train))
        return [*pairs.packed(residues(twice(z), parameters)), *pairs.packed(residues(z, parameters))]

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The model; then the scores and the unchanged model."""
        block = power_of_two(int(public["columns"][0]) + 1)
        if stage == "train":
            half = len(inputs) // 2
            rows = Rows(inputs[:half], inputs[half:], block)
            return [fixed_point.train(evaluator, rows, int(public["kappa"][0]))]
        (weights,) = state
        return [*fixed_point.infer(evaluator, inputs, weights, block), weights]

    def output(self, outputs: Sequence[Vector], task: Task, parameters: Parameters) -> Result:
        *scores, weights = (centred(output, parameters) for output in outputs)
        values = task.train.features.shape[1] + 1
        heads = Blocks.of(parameters, values).heads(scores, len(task.test.labels))
        scale = _kappa(task) * _UNIT
        return Result(heads / (scale * _UNIT), weights[:values] / scale)

    def reference(self, task: Task) -> Result:
        return training.predicted(
            training.two_linear_steps(task.train, training.fitting_alpha(task.train)), task
        )

    def expected(self, task: Task, parameters: Parameters) -> Result:
        """See :class:`Workload`: with rows rounded as the client rounds them."""
        weights, scale = _whole_weights(task), _kappa(task) * _UNIT
        scores = _whole(with_ones(task.test.features)) @ weights
        return Result(scores / (scale * _UNIT), weights / scale)


def _whole(rows: Floats) -> Floats:
    return np.rint(rows * _UNIT)


def _kappa(task: Task) -> float:
    """n·4^f/α, rounded."""
    return float(np.rint(len(task.train.labels) * _UNIT**2 / training.fitting_alpha(task.train)))


def _whole_weights(task: Task) -> Floats:
    """The circuit's training result in the clear: exact, far below 2^53."""
    z = _whole(training.signed_rows(task.train))
    start = z.sum(axis=0)
    weights: Floats = _kappa(task) * start - z.T @ (z @ start)
    return weights


K3 = Descent(steps=3, rate=2.5, has_momentum=False)
K5 = Descent(steps=5, rate=1.5, has_momentum=True)
WORKLOADS = (
    EncryptedLogisticRegression(
        "lr-k3-encrypted",
        "logistic regression, 3 steps on encrypted data",
        K3,
        16384,
        roomy_bits=(55, 45),
    ),
    EncryptedLogisticRegression(
        "lr-k5-encrypted",
        "logistic regression, 5 steps on encrypted data",
        K5,
        32768,
        roomy_bits=(56, 48),
    ),
    FixedPointRegression(),
)
