"""The sign of values in [−1, 1] whose absolute value is at least 0.01."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits import chebyshev, minimax, published_functions
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.minimax import Approximation
from ciphermark_contract.interfaces import Evaluator, Handle, lowered
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.micro import function
from ciphermark_workloads.micro.function import Function, Published, secure_ring

LOW = 0.01
# Ten times the largest observed noise of 8,192 values at N = 16384 and a scale of 2^35, where the last polynomial's
# argument is largest.
_NOISE = 1e-2


class _AwayFromZero(Function):
    """Points of [−1, −0.01] and [0.01, 1]."""

    interval = (LOW, 1.0)

    def input(self, seed: int, data: Any) -> Floats:
        """Points of either sign; their sizes are in geometric progression, since the error is largest for small
        ones.
        """
        generator, count = np.random.default_rng(seed), self.options.values
        sizes = LOW ** ((np.arange(count) + generator.uniform(size=count)) / count)
        points: Floats = generator.permutation(sizes) * generator.choice([-1.0, 1.0], count)
        return points

    def exact(self, points: Floats) -> Floats:
        return np.sign(points)

    def expected(self, given: Floats, parameters: Parameters) -> Floats:
        """The polynomials in the clear, one after another."""
        return reduce(lambda values, polynomial: np.asarray(polynomial(values)), self.polynomials(), given)

    @abstractmethod
    def polynomials(self) -> Sequence[OddPolynomial]:
        """The polynomials whose composition approximates the sign."""


class Sign(_AwayFromZero):
    """By a composition of odd polynomials, each closest to 1 on the range of the one before it."""

    name = "sign"
    title = "sign on [−1, −0.01] and [0.01, 1]"

    class Options(function.Options, frozen=True):
        """Options of the workload."""

        degrees: Annotated[
            str,
            msgspec.Meta(
                pattern=r"^\d?[13579](-\d?[13579]){0,4}$",
                description="degrees of the polynomials, odd, the first applied first",
            ),
        ] = "7-7-15"

    def own_parameters(self) -> ParameterSpec:
        """Ten levels of 35 bits just fit N = 16384 (430 bits): the remaining noise is far below the error."""
        chain = (40, *[35] * self._depth(), 40)
        return ParameterSpec("ckks", secure_ring(chain), chain, scale_bits=35)

    def own_roomy_parameters(self) -> ParameterSpec:
        """For slightly larger primes, and a special prime of 60 bits."""
        ring = secure_ring((50, *[46] * self._depth(), 60))
        return ParameterSpec("ckks", ring, (50, *[45] * self._depth(), 60), scale_bits=45)

    def largest_error(self) -> float:
        """1.25e-2 for degrees 7, 7 and 15; the published polynomial errs by 1.3e-2."""
        return self._steps()[-1].error + _NOISE

    def polynomials(self) -> list[OddPolynomial]:
        """T_3 is computed where it is a factor more than once: in a last polynomial of degree above 7."""
        return [
            OddPolynomial(step.coefficients, 2 if len(step.coefficients) <= 4 else 4)
            for step in self._steps()
        ]

    def evaluated(self, evaluator: Evaluator, points: Handle) -> Handle:
        return chebyshev.evaluate(evaluator, lowered(evaluator, points, self._depth()), self.polynomials())

    def _steps(self) -> tuple[Approximation, ...]:
        return minimax.sign_steps(tuple(int(degree) for degree in self.options.degrees.split("-")), LOW)

    def _depth(self) -> int:
        return sum(polynomial.depth for polynomial in self.polynomials())


class PublishedSign(Published[Floats, Floats], _AwayFromZero):
    """Interpolation of degree 1023, by CryptOracle's circuit and in its modulus chain, by default of ten levels."""

    name = "sign-published"
    title = "sign on [−1, −0.01] and [0.01, 1], by the published circuit"

    def largest_error(self) -> float:
        """1.3e-2, by the page of results; the noise at 2^48 is negligible."""
        return 1.3e-2

    def polynomials(self) -> list[OddPolynomial]:
        """Interpolation at 1,027 nodes."""
        return [published_functions.sign_polynomial()]

    def evaluated(self, evaluator: Evaluator, points: Handle) -> Handle:
        return published_functions.sign(evaluator, points)


WORKLOADS = (Sign(), PublishedSign())
