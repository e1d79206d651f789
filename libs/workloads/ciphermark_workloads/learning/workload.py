"""What a workload is: a circuit, the data it is for, the result to expect, and a measure of quality.

Two parties carry it out. The client prepares vectors and encrypts them, and scores what it decrypts. The server,
which holds public material alone, evaluates. How ciphertexts get from one to the other is no matter of a workload.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme

Phase = Literal["train", "infer"]
PlainModel = Mapping[str, npt.NDArray[np.float64]]  # what the server knows in the clear
Prepared: TypeAlias = Any  # a workload's own operands, encoded for one evaluator


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of a data set: ``features`` of shape (rows, columns), ``labels`` of shape (rows,), each 0.0 or 1.0.

    A table equals itself alone, so that it can be the key of what was found out about it.
    """

    features: Floats
    labels: Floats


@dataclass(frozen=True, slots=True)
class Task:
    """A data set, split: features are z-scores by the mean and deviation of the training rows."""

    train: Table
    test: Table


@dataclass(frozen=True, slots=True)
class Result:
    """What a model says about the test rows: a score each (positive: class 1), and its parameters where known.

    ``weights`` has shape (1 + columns,): the score of a row x is weights[0] + weights[1:]·x.
    """

    scores: Floats
    weights: Floats | None = None

    @property
    def labels(self) -> Floats:
        """The class of each row, 0.0 or 1.0."""
        return (self.scores > 0).astype(np.float64)


class Workload(ABC):
    """One workload. Instances hold no data: everything comes with the task.

    ``phases`` are those that the server computes in, in order; a model trained in the clear has ``infer`` alone.
    ``operations`` are the managed operations that a variant must declare.
    """

    name: str
    title: str
    phases: tuple[Phase, ...]
    schemes: tuple[Scheme, ...]

    @abstractmethod
    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        """The managed operations that the circuit uses."""

    @abstractmethod
    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """The parameter set that the circuit is made for; raises ``Unsupported`` for another scheme."""

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """The parameter set for libraries that choose their own primes, of which some are larger than asked for."""
        return self.parameters(scheme)

    @abstractmethod
    def keys(self, parameters: Parameters) -> KeyRequest:
        """The evaluation keys that the server needs."""

    @abstractmethod
    def require_room(self, task: Task, parameters: Parameters) -> None:
        """Raise ``Unsupported`` for data that lead to numbers which the parameters do not hold; by the plain algorithm,
        so that it is asked once for a task.
        """

    @abstractmethod
    def plain_model(self, task: Task) -> PlainModel:
        """What the server is told in the clear: a model, trained by this in the clear, or nothing but public sizes."""

    @abstractmethod
    def inputs(self, phase: Phase, task: Task, parameters: Parameters) -> list[Vector]:
        """The vectors that the client encrypts for a phase, in order, of data that fit.

        Raises ``Unsupported`` for rows that do not fit a ciphertext.
        """

    def prepare(
        self, phase: Phase, evaluator: Evaluator, inputs: Sequence[Handle], plain: PlainModel
    ) -> Prepared:
        """What a server does once and not with every request: encode what it knows in the clear.

        Of ``inputs`` it takes levels and scales alone: the result serves all inputs of the same parameter set.
        """
        return plain

    @abstractmethod
    def compute(
        self,
        phase: Phase,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        prepared: Prepared,
    ) -> list[Handle]:
        """The server's part of a phase. ``state`` is what the phase before returned (the encrypted model)."""

    def evaluate(
        self,
        phase: Phase,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        plain: PlainModel,
    ) -> list[Handle]:
        """:meth:`prepare` and :meth:`compute`: the whole of a request to a server that prepared nothing."""
        prepared = self.prepare(phase, evaluator, inputs, plain)
        return self.compute(phase, evaluator, inputs, state, prepared)

    @abstractmethod
    def result(self, outputs: Sequence[Vector], task: Task, parameters: Parameters) -> Result:
        """The scores in the decrypted outputs of the last phase."""

    @abstractmethod
    def reference(self, task: Task) -> Result:
        """The same algorithm in the clear, in floating point: what every row must agree with."""

    def expected(self, task: Task, parameters: Parameters) -> Result:
        """What the circuit computes when nothing goes wrong: the reference; in fixed point, that to the last digit."""
        return self.reference(task)
