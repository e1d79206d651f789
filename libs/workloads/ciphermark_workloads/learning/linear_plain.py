"""Linear models trained in the clear and applied to encrypted rows: one ciphertext per column.

A row's score takes one product per column and no rotation; all test rows share a ciphertext.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ciphermark_circuits import linear_models
from ciphermark_circuits.layout import Floats, centred, require_real_room, require_room, residues
from ciphermark_circuits.linear_models import Scorer, Term
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.classifier import TRAINED_IN_THE_CLEAR, Classifier, Result, Table, Task
from ciphermark_workloads.learning.lr_encrypted import K3, K5
from ciphermark_workloads.workload import Arrays, Handles, Stage

_RING = 4096
_PLAIN_MODULUS_BITS = 28
# The values of a column and a weight of 1. In ckks both are encoded at one scale, since TenSEAL supports no other; the
# factors divide the range of the single prime.
_EXACT = 2.0**9, 2.0**9
_REAL = 2.0**5, 2.0**-7
_LARGEST_SCORE, _LARGEST_FEATURE = 2.0**9, 2.0**16  # limits of the ckks parameters


@dataclass(frozen=True, slots=True)
class PlainLinear(Classifier):
    """Inference only. ``train`` makes the weights of training rows, the bias first."""

    name: str
    title: str
    train: Callable[[Table], Floats]
    schemes: tuple[Scheme, ...]
    stages: tuple[Stage, ...] = TRAINED_IN_THE_CLEAR

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return (
            ("add", "sub", "add_plain", "mul_plain")
            if scheme != "ckks"
            else ("add", "add_plain", "mul_plain")
        )

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """One prime for the data. The other is unused, but some libraries require it."""
        self.require_scheme(scheme)
        if scheme == "ckks":
            return ParameterSpec("ckks", _RING, (60, 49), scale_bits=26)
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, _RING)
        return ParameterSpec(scheme, _RING, (60, 49), plain_modulus=modulus)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        if scheme == "ckks":
            return ParameterSpec("ckks", 2 * _RING, (56, 40, 60), scale_bits=40)
        modulus = primes.batching_modulus(_PLAIN_MODULUS_BITS, 2 * _RING)
        return ParameterSpec(scheme, 2 * _RING, (56, 56, 60), plain_modulus=modulus)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """None."""
        return NO_KEYS

    def require_room(self, task: Task, parameters: Parameters) -> None:
        if parameters.spec.scheme != "ckks":
            require_room(self._whole_scores(task), parameters)
            return
        require_real_room(task.test.features, _LARGEST_FEATURE, "a feature")
        require_real_room(self.reference(task).scores, _LARGEST_SCORE, "a score")

    def public(self, stage: str, task: Task, parameters: Parameters) -> Arrays:
        """The weights from training, the bias first."""
        return {"weights": self._model(task)} if stage == "train" else {}

    def vectors(self, stage: str, task: Task, parameters: Parameters) -> list[Vector]:
        """The columns for as many test rows as there are slots, then those for the next rows."""
        rows = task.test.features * _factors(parameters)[0]
        chunks = range(0, len(rows), parameters.slots)
        columns = [column for start in chunks for column in rows[start : start + parameters.slots].T]
        if parameters.spec.scheme == "ckks":
            return [np.ascontiguousarray(column) for column in columns]
        return [residues(column, parameters) for column in columns]

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The scores, one row per slot, from the nonzero weights and the bias."""
        bias, *weights = public["weights"]
        if not any(weights):
            raise Unsupported("all weights are 0: the model predicts the same for every row")
        encode = _encoded_reals if evaluator.parameters.spec.scheme == "ckks" else _encoded_integers
        return linear_models.scores(evaluator, inputs, encode(evaluator, inputs[0], float(bias), weights))

    def output(self, outputs: Sequence[Vector], task: Task, parameters: Parameters) -> Result:
        """See :class:`Workload`. The client does not receive the weights."""
        scores = np.concatenate(outputs)[: len(task.test.labels)]
        if parameters.spec.scheme != "ckks":
            scores = centred(scores, parameters)
        return Result(scores / np.prod(_factors(parameters)))

    def reference(self, task: Task) -> Result:
        return training.predicted(self._model(task), task)

    def expected(self, task: Task, parameters: Parameters) -> Result:
        """See :class:`Workload`: in bfv and bgv, with columns and weights rounded."""
        if parameters.spec.scheme == "ckks":
            return self.reference(task)
        return Result(self._whole_scores(task) / np.prod(_EXACT))

    def _model(self, task: Task) -> Floats:
        """The trained weights, multiplied by a power of two where all are small: rounded weights must remain distinct,
        and no score changes its sign.
        """
        weights = self.train(task.train)
        _, exponent = np.frexp(np.abs(weights[1:]).max())
        return np.ldexp(weights, max(0, -int(exponent)))

    def _whole_scores(self, task: Task) -> Floats:
        factor, weight_factor = _EXACT
        bias, *weights = self._model(task)
        rows, whole = np.rint(task.test.features * factor), np.rint(np.array(weights) * weight_factor)
        scores: Floats = rows @ whole + np.rint(bias * factor * weight_factor)
        return scores


def _encoded_reals(evaluator: Evaluator, like: Handle, bias: float, weights: Sequence[float]) -> Scorer:
    """The bias is added to the column of the largest weight, as a shift: some libraries cannot add a plaintext at the
    scale of a product.
    """
    factor, weight_factor = _REAL
    slots, resolution = evaluator.parameters.slots, weight_factor * (evaluator.parameters.scale or 1.0)
    largest = int(np.argmax(np.abs(weights)))
    shift = evaluator.encode(np.full(slots, factor * bias / weights[largest]), like, evaluator.scale(like))
    terms = [
        Term(
            column,
            evaluator.encode(np.full(slots, weight * weight_factor), like),
            shift if column == largest else None,
        )
        for column, weight in enumerate(weights)
        if round(weight * resolution) != 0
    ]
    return Scorer(len(weights), terms)


def _encoded_integers(evaluator: Evaluator, like: Handle, bias: float, weights: Sequence[float]) -> Scorer:
    """Negative weights are subtracted: as a number near t, a factor would cost all bits of t in noise."""
    factor, weight_factor = _EXACT
    parameters = evaluator.parameters
    whole = [round(weight * weight_factor) for weight in weights]
    signed = [(column, weight) for column, weight in enumerate(whole) if weight != 0]
    if not any(weight > 0 for _, weight in signed):
        column, weight = signed[0]
        signed[0] = column, weight - 1
        signed.append((column, 1))

    def encoded(value: float) -> Handle:
        return evaluator.encode(residues(np.full(parameters.slots, value), parameters), like)

    terms = {
        sign: [Term(column, encoded(abs(weight))) for column, weight in signed if weight * sign > 0]
        for sign in (1, -1)
    }
    return Scorer(len(weights), terms[1], terms[-1], encoded(bias * factor * weight_factor))


def _factors(parameters: Parameters) -> tuple[float, float]:
    return _REAL if parameters.spec.scheme == "ckks" else _EXACT


WORKLOADS = (
    PlainLinear(
        "lmc-plain",
        "linear means, trained in the clear",
        training.linear_means,
        ("bfv", "bgv", "ckks"),
    ),
    PlainLinear(
        "lr-k3-plain",
        "logistic regression, 3 steps in the clear",
        partial(training.logistic_regression, descent=K3),
        ("ckks",),
    ),
    PlainLinear(
        "lr-k5-plain",
        "logistic regression, 5 steps in the clear",
        partial(training.logistic_regression, descent=K5),
        ("ckks",),
    ),
)
