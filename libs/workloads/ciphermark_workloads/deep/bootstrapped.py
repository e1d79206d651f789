"""The common part of the family: parameters with bootstrapping, and vectors that repeat in all slots."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector, lowered
from ciphermark_contract.operations import top_level
from ciphermark_core.model import BootstrappingParameters, Parameters, ParameterSpec, Scheme
from ciphermark_workloads.workload import Input, Output, Workload

# Levels of the approximate modular reduction for a sparse secret in OpenFHE (GetBootstrapDepth less both budgets).
_REDUCTION_DEPTH = 10
# OpenFHE's bootstrapping of 2^12 slots at N = 2^16 keeps 7 bits at a scale of 2^50, as measured, and 5 more with slots
# first and two more bits of scale: see ciphermark_adapters.openfhe.bootstrapping.
_PRECISE_BITS = 52


@dataclass(frozen=True, slots=True)
class Ring:
    """A ring in which ``levels`` levels are left after bootstrapping ``slots`` slots; ``None`` means all slots."""

    levels: int
    ring_dimension: int = 1 << 16
    slots: int | None = None
    level_budget: tuple[int, int] = (3, 3)
    scale_bits: int = 50
    first_bits: int = 56
    slots_first: bool = False

    @property
    def spec(self) -> ParameterSpec:
        """The request. Security is 0, because no security table rates sparse secrets."""
        depth = self.levels + sum(self.level_budget) + _REDUCTION_DEPTH
        return ParameterSpec(
            "ckks",
            self.ring_dimension,
            (self.first_bits, *[self.scale_bits] * depth, 60),
            scale_bits=self.scale_bits,
            security=0,
            tuning="recommended",
            secret_distribution="sparse ternary",
            bootstrapping=BootstrappingParameters(
                self.level_budget, self.slots, slots_first=self.slots_first
            ),
        )

    @property
    def precise(self) -> Ring:
        """The same for a library that takes each prime for the scale, which costs precision."""
        return replace(self, scale_bits=_PRECISE_BITS, slots_first=True)


class Bootstrapped(Workload[Input, Output]):
    """A workload whose parameters are a :class:`Ring`. Its programs are executed once in a pass, and may be many."""

    keeps_constants = False

    has_checkpoints = True

    @property
    @abstractmethod
    def ring(self) -> Ring:
        """The ring in which it runs."""

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return self.ring.spec

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return self.ring.precise.spec

    @abstractmethod
    def bootstrapped_values(self, given: Input) -> Iterable[Floats]:
        """The values that the computation bootstraps, in the clear."""

    def require_room(self, given: Input, parameters: Parameters) -> None:
        """Raise ``Unsupported`` for an input that leads to values outside of [−1, 1], which no bootstrapping keeps."""
        with np.errstate(over="ignore", invalid="ignore"):  # such values are not numbers, and refused
            largest = float(np.max([np.abs(values).max() for values in self.bootstrapped_values(given)]))
        if not largest <= 1:
            raise Unsupported(
                f"{self.name} bootstraps a value of {largest:.4g} for this input, and bootstrapping keeps values in "
                "[−1, 1]"
            )


def width(parameters: Parameters) -> int:
    """The slots that one bootstrapping refreshes; a vector has so many values, and repeats in all slots."""
    return parameters.require_bootstrapping().parameters.slots or parameters.slots


def refreshed_level(parameters: Parameters) -> int:
    """The level of a bootstrapped ciphertext."""
    return top_level(parameters) - parameters.require_bootstrapping().depth


def repeated(pattern: Sequence[float] | Vector, parameters: Parameters) -> Vector:
    """A pattern, whose length divides the number of slots, in all slots."""
    return np.tile(np.asarray(pattern, dtype=np.float64), parameters.slots // len(pattern))


def with_levels(evaluator: Evaluator, a: Handle, levels: int) -> Handle:
    """``a`` itself where it has so many levels, and those for a bootstrapping after them; else bootstrapped."""
    operand = evaluator.parameters.require_bootstrapping().operand_level
    if evaluator.level(a) >= levels + operand:
        return a
    return evaluator.apply("bootstrap", lowered(evaluator, a, operand))
