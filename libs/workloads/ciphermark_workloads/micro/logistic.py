"""The logistic function 1/(1 + exp(−x)) on [−25, 25], which ends where it is within 1.4e-11 of 0 and 1."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits import chebyshev, minimax, published_functions
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.minimax import Approximation
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, lowered
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.micro import function
from ciphermark_workloads.micro.function import Function, Published, secure_ring

REACH = published_functions.LOGISTIC_RANGE
# T_1, T_3, T_5, T_7 are computed once: for degree 79, that is fastest (14 relinearizations, 18 products).
_LEAVES = 8
# Ten times the largest observed noise of 8,192 values at N = 16384 and a scale of 2^45 (1.3e-6).
_NOISE = 1.3e-5


class _OnRange(Function):
    """Points of [−25, 25]."""

    interval = (0.0, REACH)

    def input(self, seed: int, data: Any) -> Floats:
        """One point in each of equal parts of the range."""
        count = self.options.values
        places = np.arange(count) + np.random.default_rng(seed).uniform(size=count)
        points: Floats = REACH * (2 * places / count - 1)
        return points

    def exact(self, points: Floats) -> Floats:
        return _odd_part(points) + 0.5

    def expected(self, given: Floats, parameters: Parameters) -> Floats:
        """The polynomial in the clear."""
        values: Floats = self.polynomial()(given / REACH) + 0.5
        return values

    def evaluated(self, evaluator: Evaluator, points: Handle) -> Handle:
        """The odd part and ½."""
        odd = self.odd_part(evaluator, points)
        halves = np.full(evaluator.parameters.slots, 0.5)
        return evaluator.apply(
            "add_plain", odd, evaluator.encode(halves, like=odd, scale=evaluator.scale(odd))
        )

    @abstractmethod
    def polynomial(self) -> OddPolynomial:
        """The approximation of the logistic function minus ½, for points divided by 25."""

    @abstractmethod
    def odd_part(self, evaluator: Evaluator, points: Handle) -> Handle:
        """The polynomial under encryption."""


class Logistic(_OnRange):
    """By the minimax odd polynomial, divided in the Chebyshev basis."""

    name = "logistic"
    title = "logistic function on [−25, 25]"
    reach = REACH

    class Options(function.Options, frozen=True):
        """Options of the workload."""

        degree: Annotated[int, msgspec.Meta(ge=3, le=159, description="degree of the polynomial, odd")] = 79

    def own_parameters(self) -> ParameterSpec:
        """A level for each halving of the degree; N = 16384 for degree 79."""
        chain = (50, *[45] * self.polynomial().depth, 50)
        return ParameterSpec("ckks", secure_ring(chain), chain, scale_bits=45)

    def own_roomy_parameters(self) -> ParameterSpec:
        """For slightly larger primes, and a special prime of 60 bits. With a first prime of 48 bits, which holds values
        below 4, they just fit N = 16384, too.
        """
        depth = self.polynomial().depth
        ring = secure_ring((48, *[46] * depth, 60))
        return ParameterSpec("ckks", ring, (48, *[45] * depth, 60), scale_bits=45)

    def largest_error(self) -> float:
        return self._approximation().error + _NOISE

    def polynomial(self) -> OddPolynomial:
        """The minimax polynomial. Raises ``Unsupported`` for an even degree."""
        return OddPolynomial(self._approximation().coefficients, _LEAVES)

    def odd_part(self, evaluator: Evaluator, points: Handle) -> Handle:
        polynomial = self.polynomial()
        return chebyshev.evaluate(evaluator, lowered(evaluator, points, polynomial.depth), [polynomial])

    def _approximation(self) -> Approximation:
        if self.options.degree % 2 == 0:
            raise Unsupported("the logistic function less ½ is odd: take an odd degree")
        return _minimax(self.options.degree)


class PublishedLogistic(Published[Floats, Floats], _OnRange):
    """Interpolation of degree 77, by CryptOracle's circuit and in its modulus chain, by default of ten levels."""

    name = "logistic-published"
    title = "logistic function on [−25, 25], by the published circuit"

    def largest_error(self) -> float:
        """3.7e-5, by the page of results, and noise."""
        return 3.7e-5 + _NOISE

    def polynomial(self) -> OddPolynomial:
        """Interpolation at 91 nodes."""
        return published_functions.logistic_polynomial()

    def odd_part(self, evaluator: Evaluator, points: Handle) -> Handle:
        return published_functions.logistic(evaluator, points)


@cache
def _minimax(degree: int) -> Approximation:
    return minimax.odd_minimax(lambda y: _odd_part(REACH * y), degree, 1e-9, 1.0)


def _odd_part(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x)) - 0.5


WORKLOADS = (Logistic(), PublishedLogistic())
