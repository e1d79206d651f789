"""Logistic regression, trained and applied on encrypted data in ckks.

See :mod:`ciphermark_circuits.logistic_regression` for the circuit and the meaning of its factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits import logistic_regression
from ciphermark_circuits.layout import Blocks, Floats, power_of_two, powers, require_real_room, with_ones
from ciphermark_circuits.logistic_regression import RHO, SCALE_BITS, Descent, Rows
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.classifier import TRAINED_ENCRYPTED, Classifier, Result, Task
from ciphermark_workloads.workload import Arrays


@dataclass(frozen=True, slots=True)
class EncryptedLogisticRegression(Classifier):
    """Gradient steps and inference on ciphertexts; labels are hidden too, as signs of the rows."""

    name: str
    title: str
    descent: Descent
    ring_dimension: int
    roomy_bits: tuple[
        int, int
    ]  # where each product has a prime: the first, above the others by what scores need
    stages = TRAINED_ENCRYPTED
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

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Rotations by all powers of two: within blocks and over blocks of any size."""
        return KeyRequest.of(relinearization=True, rotations=powers(1, parameters.slots))

    def require_room(self, task: Task, parameters: Parameters) -> None:
        room = parameters.moduli[0] / (parameters.scale or 1.0) / 2
        require_real_room(self.reference(task).scores, room, "a score")

    def public(self, stage: str, task: Task, parameters: Parameters) -> Arrays:
        """The number of columns, which tells the size of a block."""
        return {"columns": np.array([task.train.features.shape[1]], dtype=np.float64)}

    def vectors(self, stage: str, task: Task, parameters: Parameters) -> list[Vector]:
        """All of ``Z``, then all of ``Z2``; test rows with a 1 before them."""
        values, shrinkage = task.train.features.shape[1] + 1, training.shrinkage(task.train, self.descent)
        if stage == "infer":
            return Blocks.of(parameters, values).packed(with_ones(task.test.features * shrinkage) / RHO)
        pairs = Blocks.of(parameters, values, parts=2)
        z = training.signed_rows(training.shrunk(task.train, shrinkage))
        factor = self.descent.gradient_factor(len(z))
        return [*pairs.packed(twice(z) * self.descent.row_factor), *pairs.packed(z * factor)]

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """The model; then the scores and, as it is, the model."""
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


def twice(rows: Floats) -> Floats:
    """Rows in both halves of a pair of blocks."""
    half = np.zeros((len(rows), power_of_two(rows.shape[1])))
    half[:, : rows.shape[1]] = rows
    return np.hstack([half, half])


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
)
