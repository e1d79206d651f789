"""Random polynomials of Z[X]/(X^N + 1) by their values at roots of unity, where products are taken value by value.

A polynomial with independent coefficients of deviation d has complex normal values there, with E|value|² = N·d². The
values at the N/2 roots in the order of slots suffice, since those at their inverses are conjugates.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_contract.operations import Ring
from ciphermark_core.model import Parameters

# Of shape (draws, N/2): one row for each secret key that is drawn.
Noise: TypeAlias = npt.NDArray[np.complex128]
Reals: TypeAlias = npt.NDArray[np.float64]

UNIFORM = 1 / np.sqrt(12)  # deviation of a value between two whole numbers: of a rounding error
_TERNARY = np.sqrt(2 / 3)
_POOL = 4  # normal values in stock, in units of one Noise


class Embeddings:
    """Secret keys, and any number of random polynomials, drawn from a seed.

    Normal values come from one pool at random places, since drawing them takes longer than all other arithmetic. Two
    polynomials that share a place are correlated, which is as rare as the pool is large.
    """

    def __init__(
        self, parameters: Parameters, draws: int, numbers: np.random.Generator, zeros: float = 1 / 3
    ) -> None:
        """Draw the secret keys of ``draws`` rows; ``zeros`` is the share of zeros in a dense one."""
        self.dimension = parameters.ring_dimension
        self.draws = draws
        self.count = self.dimension // 2
        self._numbers = numbers
        ring = Ring(self.dimension, None, parameters.slot_generator)
        self._exponents = np.array(ring.exponents)
        size = draws * self.count
        self._pool = numbers.standard_normal(2 * _POOL * size).view(np.complex128) * np.sqrt(self.count)
        roots = np.exp(1j * np.pi * self._exponents / self.dimension)
        self.ones: Noise = np.asarray(2 / (1 - roots))  # the polynomial whose coefficients are all 1
        self.secret = self.at_roots(self._secret_keys(parameters.hamming_weight, zeros))
        self._places: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]] = {}

    def normal(self, deviation: float) -> Noise:
        """Polynomials with independent coefficients of this deviation."""
        size = self.draws * self.count
        start = int(self._numbers.integers(0, len(self._pool) - size + 1))
        values: Noise = self._pool[start : start + size].reshape(self.draws, self.count) * deviation
        return values

    def ternary(self) -> Noise:
        """Polynomials with coefficients −1, 0 and 1, equally likely."""
        return self.normal(_TERNARY)

    def uniform(self, magnitude: float) -> Reals:
        """One vector of slots, between −``magnitude`` and ``magnitude``."""
        return self._numbers.uniform(-magnitude, magnitude, self.count)

    def turned(self, values: Noise, element: int) -> Noise:
        """The automorphism X → X^k of a Galois element k: slot e receives the value of slot k·e."""
        places, are_conjugate = self._turns(element % (2 * self.dimension))
        moved = values[..., places]
        return np.where(are_conjugate, moved.conj(), moved) if are_conjugate.any() else moved

    def monomial(self, exponent: int) -> Noise:
        """X^k, of one row."""
        angles = self._exponents * exponent % (2 * self.dimension)
        return np.asarray(np.exp(1j * np.pi * angles / self.dimension))

    def coefficients(self, values: Noise) -> Reals:
        """The coefficients of polynomials, of shape (draws, N)."""
        full = np.zeros((self.draws, self.dimension), dtype=np.complex128)
        full[:, self._exponents // 2] = values
        full[:, self.dimension - 1 - self._exponents // 2] = values.conj()
        twist = np.exp(-1j * np.pi * np.arange(self.dimension) / self.dimension)
        result: Reals = (np.fft.fft(full, axis=1) / self.dimension * twist).real
        return result

    def at_roots(self, coefficients: Reals) -> Noise:
        """The inverse of :meth:`coefficients`, for any number of rows."""
        twist = np.exp(1j * np.pi * np.arange(self.dimension) / self.dimension)
        values: Noise = np.fft.ifft(coefficients * twist, axis=1)[:, self._exponents // 2] * self.dimension
        return values

    def _secret_keys(self, hamming_weight: int | None, zeros: float) -> Reals:
        if hamming_weight is None:
            shares = [(1 - zeros) / 2, zeros, (1 - zeros) / 2]
            return self._numbers.choice((-1.0, 0.0, 1.0), (self.draws, self.dimension), p=shares)
        keys = np.zeros((self.draws, self.dimension))
        for key in keys:
            places = self._numbers.choice(self.dimension, hamming_weight, replace=False)
            key[places] = self._numbers.choice((-1.0, 1.0), hamming_weight)
        return keys

    def _turns(self, element: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """For each slot the place of its new value, and whether that is conjugated."""
        if element not in self._places:
            order = 2 * self.dimension
            place = np.full(order, -1)
            place[self._exponents] = np.arange(self.count)
            wanted = self._exponents * element % order
            direct = place[wanted]
            self._places[element] = np.where(direct < 0, place[order - wanted], direct), direct < 0
        return self._places[element]
