"""Classifiers, the workloads of the family learning: tables, their split, and the quality of scores of test rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np

from ciphermark_circuits.layout import Floats, powers
from ciphermark_contract.checking import UNBOUNDED
from ciphermark_contract.keys import KeyRequest
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import EXACT_SCHEMES, Accuracy, Parameters, Scheme
from ciphermark_workloads.data_sets import DataSet
from ciphermark_workloads.options import NEWER
from ciphermark_workloads.workload import Arrays, Judgement, Stage, Truth, Workload


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of a data set: ``features`` of shape (rows, columns), ``labels`` of shape (rows,), each 0.0 or 1.0.

    Tables are compared by identity, so that a table can be the key of results derived from it.
    """

    features: Floats
    labels: Floats


@dataclass(frozen=True, slots=True)
class Task:
    """A data set, split. Features are z-scores by the mean and deviation of the training rows."""

    train: Table
    test: Table


@dataclass(frozen=True, slots=True)
class Result:
    """A model's scores of the test rows (positive: class 1), and its parameters where known.

    ``weights`` has shape (1 + columns,): the score of a row x is weights[0] + weights[1:]·x.
    """

    scores: Floats
    weights: Floats | None = None

    @property
    def labels(self) -> Floats:
        """The class of each row, 0.0 or 1.0."""
        return (self.scores > 0).astype(np.float64)


TEST_SHARE = 0.2


def split(data: DataSet, seed: int, test_share: float = TEST_SHARE) -> Task:
    """A random split; features become z-scores by mean and deviation of the training rows.

    A feature that is constant in the training rows becomes 0. Raises ``Unsupported`` where all features are constant,
    where the training rows have only one class, or where no test row is left.
    """
    count = len(data.labels)
    order = np.random.default_rng(seed).permutation(count)
    tests = round(test_share * count)
    test, train = order[:tests], order[tests:]
    if not tests or len(np.unique(data.labels[train])) < 2:
        raise Unsupported(
            f"{data.name}: {count} rows cannot be split by seed {seed} into {count - tests} training rows of both "
            f"classes and {tests} test rows: use more rows or another seed"
        )
    rows = data.features[train]
    deviation = rows.std(axis=0)
    deviation[(np.ptp(rows, axis=0) == 0) | (deviation == 0)] = (
        np.inf
    )  # also where squares of differences are 0
    if np.isinf(deviation).all():
        raise Unsupported(
            f"{data.name}: no column has two different values in the {len(train)} training rows of seed {seed}: there "
            "is nothing to learn from"
        )
    scores = (data.features - rows.mean(axis=0)) / deviation
    return Task(*(Table(scores[chosen], data.labels[chosen]) for chosen in (train, test)))


# Required share of rows that agree with the plaintext run. bfv and bgv compute with features rounded to integers, which
# can move a row close to the boundary across it.
_MIN_AGREEMENT = 1.0
_MIN_AGREEMENT_EXACT = 0.99
# A row this close to the boundary, relative to the largest score, may have either class in ckks. No observed error of
# the circuits reached 2^-17, and two of a thousand splits of Boston have a row that close.
_BOUNDARY = 2.0**-16
_ROUNDING = 2.0**-48  # relative to the largest score
_MAX_NOISE = 1.0  # likewise, in ckks: a few rows may agree with meaningless scores by chance
_MAX_BITS = 1074.0  # precision of scores without any error: the smallest float is 2^-1074


def quality(found: Result, reference: Result, expected: Result, labels: Floats, scheme: Scheme) -> Judgement:
    """Compare the scores of all rows with the reference's, with ``expected`` and with ``labels`` (rows,).

    ``expected`` is the circuit's result without noise: the reference in ckks; in bfv and bgv the same algorithm in
    fixed point, which the scores must equal.

    - ``accuracy`` and ``agreement``: shares of rows whose class is the label, or the reference's class. In ckks a row
      on the boundary agrees with both.
    - ``mse``: the mean squared difference between predicted class and label.
    - ``noise_error``: the largest difference of scores from ``expected``, relative to its largest score.
    - ``rounding_error`` (bfv and bgv only): likewise, the difference of ``expected`` from the reference.

    Scores that are not finite agree with nothing. In the accuracy, errors are those from the reference, and
    ``incorrect_slots`` counts rows that do not agree. ``tolerance`` is the smallest score of the reference: a smaller
    error does not change the class of any row.
    """
    if found.scores.shape != reference.scores.shape:
        raise ValueError(f"{len(found.scores)} rows were scored, and {len(reference.scores)} were to be")
    is_exact = scheme in EXACT_SCHEMES
    is_sound = np.isfinite(found.scores)
    is_near = np.abs(reference.scores) <= _BOUNDARY * _largest(reference)
    agrees = is_sound & ((found.labels == reference.labels) | (is_near if not is_exact else False))
    is_hit = is_sound & (found.labels == labels)
    error, smallest = _distance(found, reference), float(np.abs(reference.scores).min())
    agreement = float(np.mean(agrees))
    accuracy = Accuracy(
        max_abs_error=error,
        incorrect_slots=int(np.count_nonzero(~agrees)),
        tolerance=smallest,
        precision_bits=None if is_exact else _precision_bits(error / max(1.0, _largest(reference))),
    )
    noise = _relative_error(found, expected)
    results = {
        "accuracy": float(np.mean(is_hit)),
        "agreement": agreement,
        "mse": float(np.mean(~is_hit)),
        "noise_error": noise,
    }
    if is_exact:
        results["rounding_error"] = _relative_error(expected, reference)
    complaint = _disagreement(agreement, len(agrees), scheme)
    if complaint is None:
        complaint = _inexactness(found.scores, expected.scores) if is_exact else _noisiness(noise)
    return Judgement(accuracy, complaint, results)


def _distance(found: Result, right: Result) -> float:
    """The largest difference of scores."""
    error = float(np.max(np.abs(found.scores - right.scores)))
    return error if math.isfinite(error) else UNBOUNDED


def _largest(result: Result) -> float:
    return float(np.abs(result.scores).max())


def _relative_error(found: Result, right: Result) -> float:
    return min(_distance(found, right) / (_largest(right) or 1.0), UNBOUNDED)


def _inexactness(scores: Floats, expected: Floats) -> str | None:
    """The fault of inexact scores, or ``None``. Scores are whole numbers times a unit: rounding errors of scaled floats
    are far below one unit.
    """
    astray = np.abs(scores - expected) > _ROUNDING * np.abs(expected).max()
    if not astray.any():
        return None
    return f"{np.count_nonzero(astray)} of {len(scores)} scores are not those of the same whole numbers in the clear"


def _noisiness(noise: float) -> str | None:
    if noise < _MAX_NOISE:
        return None
    return f"a score is off by {noise:.3g} times the largest one: the result means nothing, though all rows agree"


def _disagreement(agreement: float, rows: int, scheme: Scheme) -> str | None:
    least = _MIN_AGREEMENT_EXACT if scheme in EXACT_SCHEMES else _MIN_AGREEMENT
    if agreement >= least:
        return None
    return (
        f"{round(agreement * rows)} of {rows} rows agree with the plaintext run of the same algorithm; "
        f"{scheme} must agree in at least {math.ceil(least * rows)}"
    )


def _precision_bits(relative_error: float) -> float:
    return -math.log2(relative_error) if relative_error else _MAX_BITS


TRAINED_ENCRYPTED = (Stage("train", "state"), Stage("infer"))
TRAINED_IN_THE_CLEAR = (Stage("train", "nothing"), Stage("infer"))


class Options(msgspec.Struct, frozen=True):
    """How a data set is split."""

    test_share: Annotated[
        float,
        msgspec.Meta(ge=0.05, le=0.5, description="share of the rows to test with", extra=NEWER),
    ] = TEST_SHARE


class Classifier(Workload[Task, Result]):
    """Stage ``train`` makes a model from the training rows, encrypted or in the clear; stage ``infer`` scores the test
    rows with it.
    """

    family = "learning"
    Options = Options
    takes_data = True

    def input(self, seed: int, data: DataSet) -> Task:
        """The data set, split by the seed."""
        return split(data, seed, self.options.test_share)

    def plaintext_bytes(self, stage: str, given: Task, parameters: Parameters) -> int:
        """The rows of a stage, labels included where they are encrypted too."""
        if stage == "train":
            return given.train.features.nbytes + given.train.labels.nbytes
        return given.test.features.nbytes

    def judge(self, found: Result, truth: Truth[Task, Result]) -> Judgement:
        return quality(
            found, truth.reference, truth.expected, truth.input.test.labels, truth.parameters.spec.scheme
        )


class TrainedInBlocks(Classifier):
    """Both stages on ciphertexts, rows in blocks of slots; labels are encrypted, too."""

    stages = TRAINED_ENCRYPTED

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Rotations by all powers of two: within blocks and over blocks of any size."""
        return KeyRequest.of(relinearization=True, rotations=powers(1, parameters.ring_dimension // 2))

    def public(self, stage: str, task: Task, parameters: Parameters) -> Arrays:
        """The number of columns, which determines the size of a block."""
        return {"columns": np.array([task.train.features.shape[1]], dtype=np.float64)}
