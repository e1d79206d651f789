"""CryptOracle's training of logistic regression, bootstrapped between iterations.

Rows are synthetic: two classes of points around ±a random direction. See :mod:`ciphermark_circuits.regression`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec

from ciphermark_circuits import regression
from ciphermark_circuits.helr import Batch
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.regression import Sigmoid
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.deep.bootstrapped import Ring, refreshed_level, with_levels
from ciphermark_workloads.deep.helr import Helr
from ciphermark_workloads.options import NEWER, NoOptions
from ciphermark_workloads.workload import Arrays, Handles

_RATE, _MOMENTUM = 0.1, 0.1


class Regression(Helr):
    """The input is all rows z = (2y − 1)·(1, x), the output the model w. Each iteration is a stage.

    The rows come with the first stage, and stay on the server.
    """

    name = "regression"
    title = "logistic regression on all rows, bootstrapped between iterations, as CryptOracle trains it"
    tolerance = 5e-3
    pass_s = 2.0

    class Options(NoOptions, frozen=True):
        """Options of the workload."""

        features: Annotated[int, msgspec.Meta(ge=1, le=1023, description="features of a row")] = 9
        samples: Annotated[int, msgspec.Meta(ge=1, le=1024, description="rows of a batch")] = 1024
        iterations: Annotated[
            int, msgspec.Meta(ge=1, le=32, description="iterations of training", extra=NEWER)
        ] = 10

    def __init__(self, degree: int = regression.DEGREE) -> None:
        self._sigmoid = Sigmoid(degree)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "sub_plain", "add_plain", "mul_plain", "mul", "rotate", "bootstrap")

    @property
    def ring(self) -> Ring:
        """N = 65536, with the levels of one iteration."""
        return Ring(self._sigmoid.depth + 1, slots=1 << 12)

    def input(self, seed: int, data: Any) -> list[Floats]:
        return super().input(seed, data)[:1]

    def vectors(self, stage: str, given: Sequence[Floats], parameters: Parameters) -> list[Vector]:
        return super().vectors(stage, given, parameters) if self._number(stage) == 1 else []

    def plaintext_bytes(self, stage: str, given: Sequence[Floats], parameters: Parameters) -> int:
        return 8 * given[0].size if self._number(stage) == 1 else 0

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The next model, and the rows unless the stage is the last one."""
        number = self._number(stage)
        rows = [*inputs] if number == 1 else [*state[1:]]
        batch = Batch(rows, _RATE / self.options.samples, self._layout(evaluator.parameters))
        if number == 1:
            model = regression.first(evaluator, batch, refreshed_level(evaluator.parameters) - 1, _MOMENTUM)
        else:
            before = with_levels(evaluator, state[0], self._sigmoid.depth)
            model = regression.iteration(evaluator, batch, before, self._sigmoid, _MOMENTUM)
        return [model] if number == len(self.stages) else [model, *rows]

    def output(self, outputs: Sequence[Vector], given: Sequence[Floats], parameters: Parameters) -> Floats:
        weights: Floats = outputs[0][: given[0].shape[1]]
        return weights

    def reference(self, given: Sequence[Floats]) -> Floats:
        return self._models(given)[-1]

    def bootstrapped_values(self, given: Sequence[Floats]) -> Iterable[Floats]:
        return self._models(given)[:-1]

    def _models(self, given: Sequence[Floats]) -> list[Floats]:
        rows, rate = given[0], _RATE / self.options.samples
        return regression.trained(rows, len(self.stages), rate, _MOMENTUM, self._sigmoid)


WORKLOADS = (Regression(),)
