"""What the logistic and the sign function have in common: values of a function at points, one in each slot."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.micro.quality import judged
from ciphermark_workloads.workload import Arrays, Judgement, Truth, Workload

Floats = npt.NDArray[np.float64]

Values = Annotated[
    int, msgspec.Meta(ge=1, le=1 << 20, description="how many values a function is evaluated at")
]


class Function(Workload[Floats, Floats]):
    """A function of many points under encryption. The client divides points by ``reach``: circuits take [−1, 1]."""

    family = "micro"
    schemes: tuple[Scheme, ...] = ("ckks",)
    reach: float = 1.0

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square")

    @abstractmethod
    def exact(self, points: Floats) -> Floats:
        """The function itself."""

    @abstractmethod
    def largest_error(self) -> float:
        """The largest error that counts as right: that of the polynomials, and of the noise."""

    @abstractmethod
    def evaluated(self, evaluator: Evaluator, points: Handle) -> Handle:
        """The circuit on one ciphertext."""

    def vectors(self, stage: str, given: Floats, parameters: Parameters) -> list[Vector]:
        """As many slots of points as there are, in order."""
        count = -(-len(given) // parameters.slots)
        return [given[parameters.slots * i : parameters.slots * (i + 1)] / self.reach for i in range(count)]

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """One ciphertext of values for each of points."""
        return [self.evaluated(evaluator, points) for points in inputs]

    def output(self, outputs: Sequence[Vector], given: Floats, parameters: Parameters) -> Floats:
        """The values, in the order of the points."""
        return np.concatenate(list(outputs))[: len(given)]

    def reference(self, given: Floats) -> Floats:
        """The function itself: approximation is part of the error."""
        return self.exact(given)

    def judge(self, found: Floats, truth: Truth[Floats, Floats]) -> Judgement:
        """By the function itself."""
        return judged(found, truth.reference, self.largest_error())
