"""Regression with a linear sigmoid in exact fixed point (bfv, bgv).

See :mod:`ciphermark_circuits.fixed_point` for the circuit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_circuits import fixed_point
from ciphermark_circuits.layout import (
    Blocks,
    Floats,
    centred,
    power_of_two,
    powers,
    require_room,
    residues,
    with_ones,
)
from ciphermark_circuits.logistic_regression import Rows
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.classifier import TRAINED_ENCRYPTED, Classifier, Result, Task
from ciphermark_workloads.learning.lr_encrypted import twice
from ciphermark_workloads.workload import Arrays

_RING = 16384
_PLAIN_MODULUS_BITS = 47
_UNIT = 2.0**5  # what a feature of 1 becomes


class FixedPointRegression(Classifier):
    """Two gradient steps and inference in whole numbers; labels are hidden too, as signs of the rows."""

    name = "lr-fixed-encrypted"
    title = "logistic regression with a linear sigmoid in exact fixed point, trained on encrypted data"
    stages = TRAINED_ENCRYPTED
    schemes: tuple[Scheme, ...] = ("bfv", "bgv")

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul_plain", "mul", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        if scheme not in self.schemes:
            raise Unsupported(f"{self.name} needs whole numbers: bfv or bgv, not {scheme}")
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, _RING)
        chain = (56, 56, 56, 56, 56, 60) if scheme == "bfv" else (54, 54, 54, 54, 54, 54, 60)
        return ParameterSpec(scheme, _RING, chain, plain_modulus=modulus)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Rotations by all powers of two: within blocks and over blocks of any size."""
        return KeyRequest.of(relinearization=True, rotations=powers(1, parameters.ring_dimension // 2))

    def require_room(self, task: Task, parameters: Parameters) -> None:
        require_room(_whole(with_ones(task.test.features)) @ _whole_weights(task), parameters)

    def public(self, stage: str, task: Task, parameters: Parameters) -> Arrays:
        """The number of columns, and κ: the learning rate, which the client chose for its training rows."""
        columns = task.train.features.shape[1]
        return {"columns": np.array([columns], dtype=np.float64), "kappa": np.array([_kappa(task)])}

    def vectors(self, stage: str, task: Task, parameters: Parameters) -> list[Vector]:
        """All of ``Z``, then all of ``Z2``; test rows with a 1 before them."""
        values = task.train.features.shape[1] + 1
        if stage == "infer":
            tests = _whole(with_ones(task.test.features))
            return Blocks.of(parameters, values).packed(residues(tests, parameters))
        pairs, z = Blocks.of(parameters, values, parts=2), _whole(training.signed_rows(task.train))
        return [*pairs.packed(residues(twice(z), parameters)), *pairs.packed(residues(z, parameters))]

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
    """What the circuit computes in training, in the clear: exact, far below 2^53."""
    z = _whole(training.signed_rows(task.train))
    start = z.sum(axis=0)
    weights: Floats = _kappa(task) * start - z.T @ (z @ start)
    return weights


WORKLOADS = (FixedPointRegression(),)
