"""Logistic regression, trained on encrypted mini-batches; the model is bootstrapped between iterations.

Rows are synthetic: two classes of points around ±a random direction. See :mod:`ciphermark_circuits.helr`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits import helr
from ciphermark_circuits.helr import Batch, Layout
from ciphermark_circuits.layout import Floats, power_of_two
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.deep.bootstrapped import (
    Bootstrapped,
    Ring,
    refreshed_level,
    repeated,
    width,
    with_levels,
)
from ciphermark_workloads.options import NEWER, NoOptions
from ciphermark_workloads.workload import Arrays, Handles, Stage

_RATE = 1.0


class Helr(Bootstrapped[Sequence[Floats], Floats]):
    """The input is a batch of rows z = (2y − 1)·(1, x) for each iteration, the output the model w.

    Each iteration is a stage with a batch of its own.
    """

    name = "helr"
    title = "logistic regression on mini-batches, bootstrapped between iterations"
    schemes: tuple[Scheme, ...] = ("ckks",)
    tolerance = 2e-2
    pass_s = 0.3

    class Options(NoOptions, frozen=True):
        """Options of the workload."""

        features: Annotated[int, msgspec.Meta(ge=1, le=1023, description="features of a row")] = 196
        samples: Annotated[int, msgspec.Meta(ge=1, le=1024, description="rows of a batch")] = 256
        iterations: Annotated[
            int, msgspec.Meta(ge=1, le=32, description="iterations of training", extra=NEWER)
        ] = 3

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The iterations."""
        last = self.options.iterations
        return tuple(
            Stage(f"iteration-{number}", "result" if number == last else "state")
            for number in range(1, last + 1)
        )

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub_plain", "mul_plain", "mul", "rotate", "bootstrap")

    @property
    def ring(self) -> Ring:
        """N = 65536, with the levels of one iteration and of the operand of bootstrapping."""
        return Ring(helr.DEPTH + 1, slots=1 << 12)

    def input(self, seed: int, data: Any) -> list[Floats]:
        """Rows with features of at most 1 in magnitude; labels are folded in."""
        random = np.random.default_rng(seed)
        count, features = self.options.samples, self.options.features
        direction = random.normal(size=features)
        direction *= 0.5 / np.abs(direction).max()
        batches = []
        for _ in self.stages:
            signs = random.choice([-1.0, 1.0], size=(count, 1))
            noise = random.uniform(-0.5, 0.5, size=(count, features))
            batches.append(np.hstack([signs, direction + signs * noise]))
        return batches

    def vectors(self, stage: str, given: Sequence[Floats], parameters: Parameters) -> list[Vector]:
        layout = self._layout(parameters)
        rows, z = layout.width // layout.block, given[self._number(stage) - 1]
        blocks = np.zeros((-(-len(z) // rows) * rows, layout.block))
        blocks[: len(z), : z.shape[1]] = z
        return [repeated(vector, parameters) for vector in blocks.reshape(-1, layout.width)]

    def plaintext_bytes(self, stage: str, given: Sequence[Floats], parameters: Parameters) -> int:
        """The rows of one batch."""
        return 8 * given[0].size

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The next state."""
        number = self._number(stage)
        batch = Batch(inputs, _RATE / self.options.samples, self._layout(evaluator.parameters))
        if number == 1:
            level = refreshed_level(evaluator.parameters) - 1
            return [helr.first(evaluator, batch, level)]
        model = with_levels(evaluator, state[0], helr.DEPTH)
        return [helr.iteration(evaluator, batch, model, helr.momentum(number))]

    def output(self, outputs: Sequence[Vector], given: Sequence[Floats], parameters: Parameters) -> Floats:
        weights: Floats = outputs[0][: given[0].shape[1]] / helr.RHO
        return weights

    def reference(self, given: Sequence[Floats]) -> Floats:
        return helr.trained(given, _RATE / self.options.samples)[-1][0]

    def bootstrapped_values(self, given: Sequence[Floats]) -> Iterable[Floats]:
        models = helr.trained(given, _RATE / self.options.samples)
        return [helr.RHO * values for both in models[:-1] for values in both]

    def _number(self, stage: str) -> int:
        return self.stages.index(self.stage(stage)) + 1

    def _layout(self, parameters: Parameters) -> Layout:
        """Raises ``Unsupported`` where no two rows fit."""
        slots, block = width(parameters), power_of_two(self.options.features + 1)
        if 2 * block > slots:
            raise Unsupported(
                f"{self.options.features} features need blocks of {block} slots, and {slots} slots are bootstrapped: "
                "request more slots or fewer features"
            )
        return Layout(slots, block)
