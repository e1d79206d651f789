"""The common part of the family: secure parameters, the judgement of values, and functions of points, one per slot."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract import checking
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_core.security import limit
from ciphermark_workloads.workload import Arrays, Handles, Input, Judgement, Output, Truth, Workload

_RINGS = tuple(1 << bits for bits in range(13, 18))

# CryptOracle's default modulus chain, ten levels of 48 bits over a prime of 52, in the smallest ring in which it is
# secure. Its results "without security" are of N = 65536, where the same chain has more than 256 bits.
PUBLISHED_PARAMETERS = ParameterSpec("ckks", 32768, (52, *[48] * 10, 60), scale_bits=48)


def secure_ring(modulus_bits: Sequence[int], least: int = _RINGS[0]) -> int:
    """The smallest N from 8192 to 131072, at least ``least``, for primes of these sizes, special ones included.

    Raises ``ValueError`` where there is none.
    """
    log_qp = sum(modulus_bits)
    for ring in _RINGS:
        bounds = [limit(table, ring, 128) for table in ("2018", "2024")]
        if ring >= least and all(bound is not None and log_qp <= bound for bound in bounds):
            return ring
    raise ValueError(f"no ring is secure for primes of {log_qp} bits together and at least {least}")


def judged(found: Floats, right: Floats, tolerance: float) -> Judgement:
    """Values are correct within ``tolerance``, relative to max(1, largest correct value)."""
    accuracy = checking.accuracy([found.ravel()], [right.ravel()], tolerance)
    wrong = accuracy.incorrect_slots
    complaint = (
        f"{wrong} of {right.size} values are incorrect, by up to {accuracy.max_abs_error:.3g}"
        if wrong
        else None
    )
    return Judgement(accuracy, complaint)


Values = Annotated[
    int, msgspec.Meta(ge=1, le=1 << 20, description="how many values a function is evaluated at")
]


class Options(msgspec.Struct, frozen=True):
    """Options of functions."""

    values: Values = 8192


class Published(Workload[Input, Output]):
    """By CryptOracle's circuit and in its modulus chain of ten levels, at 128 bits."""

    is_literal = True

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return PUBLISHED_PARAMETERS


class Function(Workload[Floats, Floats]):
    """A function of many points under encryption. The client divides points by ``reach``: circuits take [−1, 1]."""

    family = "micro"
    schemes: tuple[Scheme, ...] = ("ckks",)
    Options: ClassVar[type[msgspec.Struct]] = Options
    reach: float = 1.0

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square")

    @abstractmethod
    def exact(self, points: Floats) -> Floats:
        """The function itself."""

    @abstractmethod
    def largest_error(self) -> float:
        """The maximum error of a correct value: that of the polynomials, and of the noise."""

    @abstractmethod
    def evaluated(self, evaluator: Evaluator, points: Handle) -> Handle:
        """The circuit on one ciphertext."""

    def vectors(self, stage: str, given: Floats, parameters: Parameters) -> list[Vector]:
        """The points in order, in vectors of at most as many as there are slots."""
        count = -(-len(given) // parameters.slots)
        return [given[parameters.slots * i : parameters.slots * (i + 1)] / self.reach for i in range(count)]

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
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
        """Compare the values with the function itself."""
        return judged(found, truth.reference, self.largest_error())
