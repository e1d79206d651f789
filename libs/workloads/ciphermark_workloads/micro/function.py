"""The common part of the family: secure parameters, the judgement of values, and functions of points, one per slot."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract import checking
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.metrics import Metric, register
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_core.security import Table, limit
from ciphermark_workloads.options import NEWER
from ciphermark_workloads.workload import Arrays, Handles, Input, Judgement, Output, Truth, Workload

_RINGS = tuple(1 << bits for bits in range(13, 18))
_LARGEST_OF_2018 = 32768

# Levels of CryptOracle's default modulus chain.
_PUBLISHED_LEVELS = 10
# Its first prime has 52 bits. HEXL 1.2.3 sometimes reduces incorrectly modulo such primes: see
# docs/reference/libraries.md.
_FIRST_BITS = 53

POLYNOMIAL_ERROR = register(
    Metric(
        "polynomial_error",
        "absolute",
        "lower",
        2.0,
        "largest error against the polynomial",
        "Largest difference of a value from the same polynomial in the clear: noise without approximation.",
    )
)


def secure_ring(modulus_bits: Sequence[int], least: int = _RINGS[0]) -> int:
    """The smallest N from 8192 to 131072, at least ``least``, for primes of these sizes, special ones included.

    It is 128 bits secure by both tables; above N = 32768 by that of 2024 alone, since the other ends there.
    Raises ``Unsupported`` where there is none.
    """
    log_qp = sum(modulus_bits)
    for ring in _RINGS:
        tables: tuple[Table, ...] = ("2018", "2024") if ring <= _LARGEST_OF_2018 else ("2024",)
        bounds = [limit(table, ring, 128) for table in tables]
        if ring >= least and all(bound is not None and log_qp <= bound for bound in bounds):
            return ring
    raise Unsupported(f"no ring up to N = {_RINGS[-1]} is secure for primes of {log_qp} bits together")


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


Levels = Annotated[
    int,
    msgspec.Meta(
        ge=0,
        le=30,
        description="levels of CryptOracle's modulus chain; 0: the workload's own chain",
        extra=NEWER,
    ),
]
Values = Annotated[
    int, msgspec.Meta(ge=1, le=1 << 20, description="how many values a function is evaluated at")
]


class Options(msgspec.Struct, frozen=True):
    """Options of functions."""

    values: Values = 8192
    levels: Levels = 0


class Micro(Workload[Input, Output]):
    """What all have: CKKS, and a modulus chain of their own, or CryptOracle's with so many ``levels``: primes of 48
    bits over one of 53, in the smallest ring in which it is 128 bits secure and has room for the input.
    """

    family = "micro"
    schemes: tuple[Scheme, ...] = ("ckks",)

    @property
    def min_slots(self) -> int:
        """The number of slots that the circuit needs."""
        return 1

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """The own parameters, or CryptOracle's chain of the option ``levels``."""
        self.require_scheme(scheme)
        return self.on_published_chain(self.options.levels) if self.options.levels else self.own_parameters()

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return self.parameters(scheme) if self.options.levels else self.own_roomy_parameters()

    @abstractmethod
    def own_parameters(self) -> ParameterSpec:
        """The parameters for the levels that the circuit takes."""

    def own_roomy_parameters(self) -> ParameterSpec:
        """The own parameters for libraries that choose their primes."""
        return self.own_parameters()

    def on_published_chain(self, levels: int) -> ParameterSpec:
        """Parameters with CryptOracle's chain. Raises ``Unsupported`` for one that no ring here makes secure."""
        chain = (_FIRST_BITS, *[48] * levels, 60)
        return ParameterSpec("ckks", secure_ring(chain, 2 * self.min_slots), chain, scale_bits=48)


class Published(Micro[Input, Output]):
    """By CryptOracle's circuit and in its modulus chain, by default of ten levels."""

    is_literal = True

    def own_parameters(self) -> ParameterSpec:
        return self.on_published_chain(_PUBLISHED_LEVELS)


class Function(Micro[Floats, Floats]):
    """A function of many points under encryption. The client divides points by ``reach``: circuits take [−1, 1]."""

    Options: ClassVar[type[msgspec.Struct]] = Options
    reach: float = 1.0
    interval: tuple[float, float] = (0.0, 1.0)  # of absolute values of points

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square")

    @abstractmethod
    def exact(self, points: Floats) -> Floats:
        """The function itself."""

    def given_input(self, values: Sequence[float]) -> Floats:
        """Points; raises ``UserError`` for none."""
        if not values:
            raise UserError(f"{self.name} takes one point or more")
        return np.asarray(values, dtype=np.float64)

    def require_room(self, given: Floats, parameters: Parameters) -> None:
        """Raise ``Unsupported`` for a point outside of the interval of the polynomials, where they grow without
        bound.
        """
        least, most = self.interval
        sizes = np.abs(given)
        outside = ~((sizes >= least) & (sizes <= most))  # also of a value that is no number
        if outside.any():
            at = int(np.flatnonzero(outside)[0])
            low = f" or below {least:g} in absolute value" if least else ""
            raise Unsupported(
                f"value {at} is {given[at]:.10g}, outside of [−{most:g}, {most:g}]{low}: the polynomials of "
                f"{self.name} approximate nothing there"
            )

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
        """Compare the values with the function itself, and with the polynomials."""
        judgement = judged(found, truth.reference, self.largest_error())
        noise = judged(found, truth.expected, self.largest_error()).accuracy.max_abs_error
        return replace(judgement, results={POLYNOMIAL_ERROR.name: noise})
