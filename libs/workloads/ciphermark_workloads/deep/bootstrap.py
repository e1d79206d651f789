"""Bootstrapping alone, of all slots or of two, by the library's own circuit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, Vector, lowered
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.deep.bootstrapped import Bootstrapped, Ring
from ciphermark_workloads.workload import Arrays, Handles, Stage

_LEVELS = 9
_MOST_SLOTS = 1 << 16


class Bootstrap(Bootstrapped[Floats, Floats]):
    """The input is numbers in [−1, 1], the output those of them that fit the slots, bootstrapped."""

    schemes: tuple[Scheme, ...] = ("ckks",)
    stages = (Stage("bootstrap"),)
    tolerance = 2e-2
    pass_s = 0.1

    def __init__(self, name: str, title: str, ring: Ring) -> None:
        self.name, self.title, self._ring = name, title, ring

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("bootstrap",)

    @property
    def ring(self) -> Ring:
        """N = 65536, with nine levels after bootstrapping."""
        return self._ring

    def input(self, seed: int, data: Any) -> Floats:
        """Numbers for more slots than any ring has."""
        return np.random.default_rng(seed).uniform(-1, 1, _MOST_SLOTS)

    def vectors(self, stage: str, given: Floats, parameters: Parameters) -> list[Vector]:
        return [given[: parameters.slots]]

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """One bootstrap, of a ciphertext at the lowest level that it takes."""
        level = evaluator.parameters.require_bootstrapping().operand_level
        return [evaluator.apply("bootstrap", lowered(evaluator, inputs[0], level))]

    def output(self, outputs: Sequence[Vector], given: Floats, parameters: Parameters) -> Floats:
        return outputs[0][: parameters.slots]

    def reference(self, given: Floats) -> Floats:
        return given

    def bootstrapped_values(self, given: Floats) -> Iterable[Floats]:
        return [given]

    def expected(self, given: Floats, parameters: Parameters) -> Floats:
        """The numbers that fit the slots."""
        return given[: parameters.slots]


WORKLOADS = (
    Bootstrap("packed-bootstrap", "bootstrapping of all slots", Ring(_LEVELS)),
    Bootstrap(
        "unpacked-bootstrap", "bootstrapping of two slots", Ring(_LEVELS, slots=2, level_budget=(1, 1))
    ),
)
