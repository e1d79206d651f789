"""A recurrent network of degree-3 activations, bootstrapped after every second step. Publications call it LSTM.

Weights and sequences are synthetic. See :mod:`ciphermark_circuits.recurrent`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits import recurrent
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.recurrent import Weights
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector, lowered
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.deep.bootstrapped import Bootstrapped, Ring, refreshed_level, width, with_levels
from ciphermark_workloads.options import NEWER, NoOptions
from ciphermark_workloads.workload import Arrays, Handles, Stage

_PAIR = 2  # steps of a stage: one with rows, one with columns
_WEIGHT_SEED = 1997


class Lstm(Bootstrapped[Sequence[Floats], Floats]):
    """The input is a sequence of vectors, the output the last state h. A stage is two steps."""

    name = "lstm"
    title = "recurrent network on an encrypted sequence, bootstrapped after every second step"
    schemes: tuple[Scheme, ...] = ("ckks",)
    tolerance = 1e-2
    pass_s = 0.3

    class Options(NoOptions, frozen=True):
        """Options of the workload."""

        size: Annotated[int, msgspec.Meta(ge=2, le=256, description="values of a state, a power of two")] = (
            128
        )
        steps: Annotated[
            int,
            msgspec.Meta(
                ge=_PAIR, le=200, multiple_of=_PAIR, description="vectors of a sequence, even", extra=NEWER
            ),
        ] = 8

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Pairs of steps."""
        last = self.options.steps
        ends = range(_PAIR, last + 1, _PAIR)
        return tuple(Stage(f"steps-to-{end}", "result" if end == last else "state") for end in ends)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub_plain", "mul_plain", "mul", "rotate", "bootstrap")

    @property
    def ring(self) -> Ring:
        """N = 65536, with the levels of two steps and of the operand of bootstrapping."""
        return Ring(sum(recurrent.DEPTH) + 1, slots=1 << 14)

    def input(self, seed: int, data: Any) -> list[Floats]:
        """Vectors of numbers in [−1, 1]."""
        random = np.random.default_rng(seed)
        return list(random.uniform(-1, 1, size=(self.options.steps, self.options.size)))

    def vectors(self, stage: str, given: Sequence[Floats], parameters: Parameters) -> list[Vector]:
        self._require_slots(parameters)
        return [
            recurrent.laid_out(given[number], number, parameters.slots) for number in self._numbers(stage)
        ]

    def plaintext_bytes(self, stage: str, given: Sequence[Floats], parameters: Parameters) -> int:
        """The vectors of two steps, without copies."""
        return 8 * _PAIR * given[0].size

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The next state."""
        self._require_slots(evaluator.parameters)
        weights = Weights.of(*self.weights(), evaluator.parameters.slots)
        h = with_levels(evaluator, state[0], sum(recurrent.DEPTH)) if state else None
        top = refreshed_level(evaluator.parameters)
        for number, x in zip(self._numbers(stage), inputs, strict=True):
            h = recurrent.step(evaluator, lowered(evaluator, x, top), h, number, weights)
        assert h is not None
        return [h]

    def output(self, outputs: Sequence[Vector], given: Sequence[Floats], parameters: Parameters) -> Floats:
        return recurrent.values(outputs[0], len(given), self.options.size)

    def reference(self, given: Sequence[Floats]) -> Floats:
        return recurrent.evaluated(given, *self.weights())[-1]

    def bootstrapped_values(self, given: Sequence[Floats]) -> Iterable[Floats]:
        return map(recurrent.held, recurrent.evaluated(given, *self.weights())[:-1])

    def weights(self) -> tuple[Floats, Floats]:
        """W0 and W1, always the same for a size: uniform, so that states stay of the order of 1."""
        size = self.options.size
        random = np.random.default_rng(_WEIGHT_SEED)
        state, values = random.uniform(-1, 1, size=(2, size, size)) * 4 / size**0.5
        return state, values

    def _numbers(self, stage: str) -> range:
        first = _PAIR * self.stages.index(self.stage(stage))
        return range(first, first + _PAIR)

    def _require_slots(self, parameters: Parameters) -> None:
        size, slots = self.options.size, width(parameters)
        if size & (size - 1) or size**2 > slots:
            raise Unsupported(
                f"a state of {size} values: the circuit takes a power of two whose square is at most {slots}, the "
                "number of bootstrapped slots"
            )
