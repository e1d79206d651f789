"""Linear means, trained and applied on encrypted data: see :mod:`ciphermark_circuits.linear_models`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_circuits import linear_models
from ciphermark_circuits.layout import (
    Blocks,
    Floats,
    centred,
    power_of_two,
    require_real_room,
    require_room,
    residues,
)
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.classifier import Result, Task, TrainedInBlocks
from ciphermark_workloads.workload import Arrays, Handles

_RING = 8192
_PLAIN_MODULUS_BITS = 32
_FRACTION_BITS = 3  # of a training row in bfv and bgv
# The minimum value of a mean of 1 there with many rows, and the share of the room for scores.
_MIN_UNIT, _SHARE = 2.0**11, 0.8
_ROOM = 2.0**15  # above the scale in the first prime of the ckks modulus chain, less the sign


class EncryptedLinearMeans(TrainedInBlocks):
    """Both stages on ciphertexts; labels are encrypted, too."""

    name = "lmc-encrypted"
    title = "linear means, trained on encrypted data"
    schemes: tuple[Scheme, ...] = ("bfv", "bgv", "ckks")

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        if scheme == "ckks":
            return ParameterSpec("ckks", _RING, (56, 40, 60), scale_bits=40)
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, _RING)
        chain = (54, 54, 60) if scheme == "bfv" else (60, 56, 60)
        return ParameterSpec(scheme, _RING, chain, plain_modulus=modulus)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        if scheme == "ckks":
            return self.parameters(scheme)
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, 2 * _RING)
        return ParameterSpec(scheme, 2 * _RING, (56, 56, 56, 60), plain_modulus=modulus)

    def require_room(self, task: Task, parameters: Parameters) -> None:
        if _is_real(parameters):
            require_real_room(_products(task, parameters), _ROOM, "a score")
        else:
            require_room(_scores(task, parameters), parameters)

    def vectors(self, stage: str, task: Task, parameters: Parameters) -> list[Vector]:
        """Pairs of training rows, a block for each class; test rows doubled, one after the other."""
        columns = task.train.features.shape[1]
        if stage == "train":
            one, zero = _scaled_classes(task, parameters)
            pairs = np.zeros((max(len(one), len(zero)), 2, power_of_two(columns)))
            pairs[: len(one), 0, :columns], pairs[: len(zero), 1, :columns] = one, zero
            rows, blocks = pairs.reshape(len(pairs), -1), Blocks.of(parameters, columns, parts=2)
        else:
            rows, blocks = _doubled_tests(task, parameters), Blocks.of(parameters, columns)
        return blocks.packed(rows if _is_real(parameters) else residues(rows, parameters))

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The model; then the scores and the unchanged model."""
        block = power_of_two(int(public["columns"][0]))
        if stage == "train":
            return linear_models.train(evaluator, inputs, block)
        return [*linear_models.infer(evaluator, inputs, state, block), *state]

    def output(self, outputs: Sequence[Vector], task: Task, parameters: Parameters) -> Result:
        *scores, weights, middle = (
            outputs if _is_real(parameters) else [centred(o, parameters) for o in outputs]
        )
        columns, count = task.train.features.shape[1], len(task.test.labels)
        heads = Blocks.of(parameters, columns).heads(scores, count)
        unit = _unit(task, parameters)
        w, m = weights[:columns] / unit, middle[:columns] / (2 * unit)
        return Result(_unsigned(heads) / (2 * unit**2), np.concatenate([[-w @ m], w]))

    def reference(self, task: Task) -> Result:
        return training.predicted(training.linear_means(task.train), task)

    def expected(self, task: Task, parameters: Parameters) -> Result:
        """See :class:`Workload`: in bfv and bgv, with rows rounded as the client rounds them."""
        if _is_real(parameters):
            return self.reference(task)
        w, m = _model(task, parameters)
        unit = _unit(task, parameters)
        weights = np.concatenate([[-w @ m / (2 * unit**2)], w / unit])
        return Result(_scores(task, parameters) / (2 * unit**2), weights)


def _is_real(parameters: Parameters) -> bool:
    return parameters.spec.scheme == "ckks"


def _unit(task: Task, parameters: Parameters) -> float:
    """The value of a mean of 1. It is 1 in ckks. In fixed point it is large enough to keep a training row's fraction
    bits. For many rows, whose rounding errors cancel, it is as large as there is room for.
    """
    if _is_real(parameters):
        return 1.0
    unit = 2.0**_FRACTION_BITS * len(task.train.labels) / 2
    if unit <= _MIN_UNIT:
        return unit
    weights = training.linear_means(task.train)
    largest = float(np.abs(training.predicted(weights, task).scores).max())
    room = np.sqrt(_SHARE * (parameters.plain_modulus or 0) / (4 * largest)) if largest else unit
    return min(unit, max(_MIN_UNIT, float(room)))


def _scaled_classes(task: Task, parameters: Parameters) -> tuple[Floats, Floats]:
    """Rows divided by the size of their class: their sum is the unit times the class mean."""
    unit = _unit(task, parameters)
    one, zero = (rows * (unit / len(rows)) for rows in training.by_class(task.train))
    return (one, zero) if _is_real(parameters) else (_rounded(one), _rounded(zero))


def _rounded(rows: Floats) -> Floats:
    """Whole numbers whose sum over the rows is the rounded sum: each row compensates the rounding error of the rows
    before it.
    """
    return np.diff(np.rint(np.cumsum(rows, axis=0)), axis=0, prepend=0.0)


def _doubled_tests(task: Task, parameters: Parameters) -> Floats:
    rows: Floats = 2 * _unit(task, parameters) * task.test.features
    return rows if _is_real(parameters) else np.rint(rows)


def _model(task: Task, parameters: Parameters) -> tuple[Floats, Floats]:
    one, zero = (rows.sum(axis=0) for rows in _scaled_classes(task, parameters))
    return one - zero, one + zero


def _scores(task: Task, parameters: Parameters) -> Floats:
    """The circuit's results for a test row, in the clear."""
    w, m = _model(task, parameters)
    scores: Floats = (_doubled_tests(task, parameters) - m) @ w
    return scores


def _products(task: Task, parameters: Parameters) -> Floats:
    """The range of values in ckks: test rows, doubled, and sums of products without any cancellation."""
    w, m = _model(task, parameters)
    tests = _doubled_tests(task, parameters)
    return np.concatenate([np.abs(tests).max(axis=1), np.abs(tests - m) @ np.abs(w)])


def _unsigned(heads: Vector) -> Floats:
    signs = np.where(np.arange(len(heads)) % 2 == 0, 1.0, -1.0)
    unsigned: Floats = heads * signs
    return unsigned


WORKLOADS = (EncryptedLinearMeans(),)
