"""SealPIR with two dimensions: what a row's selection leaves of each column is selected again, word by word, and the
client decrypts twice (Angel et al., "PIR with compressed queries and amortized query processing", IEEE S&P 2018).

Costs, sizes and noise are those of a grid of n1 rows and n2 columns of plaintexts, for elements of ``chunks``
plaintexts each, with k data primes and one special prime, beyond :mod:`.grids`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, sqrt

import numpy as np

from ciphermark_circuits import words
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, KeyOwner, Vector, lowered
from ciphermark_contract.operations import Ring, coefficients
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_workloads.retrieval import grids
from ciphermark_workloads.retrieval.grids import Grid, GridRetrieval, SquareGrid


@dataclass(frozen=True, slots=True)
class Counts:
    """Operations of the server for one answer. ``additions`` are all, also those that double what has no partner;
    ``switches`` each drop a prime.
    """

    rotations: int
    shifts: int
    differences: int
    plain_products: int
    word_products: int
    additions: int
    transforms: int
    transforms_back: int
    switches: int


def word_count(grid: Grid, prime_bits: int) -> int:
    """F: words of a ciphertext of two polynomials modulo the last prime, which has so many bits."""
    return 2 * -(-prime_bits // grid.symbol_bits)


def counts(grid: Grid, primes: int, prime_bits: int) -> Counts:
    """n1 + n2 − 2 rotations for the expansion; for each chunk n1·n2 products with the database's plaintexts, and F·n2
    with words.
    """
    (rows, columns), chunks, parts = grid.shape, grid.chunks, word_count(grid, prime_bits)
    turned = grids.expansion_counts(grid)
    sums = columns * (rows - 1) + parts * (columns - 1)
    return Counts(
        rotations=turned,
        shifts=turned,
        differences=turned,
        plain_products=chunks * rows * columns,
        word_products=chunks * parts * columns,
        additions=grids.expansion_additions(grid) + chunks * sums,
        transforms=rows + chunks * columns,
        transforms_back=chunks * (columns + parts),
        switches=(primes - 1) * chunks * (columns + parts),
    )


def answer_bytes(grid: Grid, prime_bits: int) -> int:
    """An answer: F ciphertexts for each chunk, at the last prime."""
    return word_count(grid, prime_bits) * grids.answer_bytes(grid)


def noise_ratio(grid: Grid, data_bits: Sequence[int], plain_modulus: int, deviation: float) -> float:
    """The largest noise that decrypts right, q1/2t, divided by the standard deviation of the noise, after it was
    switched to the last prime q1; the smaller of both layers. ``data_bits`` are the bits of q1 and of the data primes
    that are dropped, none larger than the special prime.

    What the expansion leaves (:func:`.grids.selection_deviation`) is multiplied by a plaintext of N
    coefficients that are uniform modulo t, of deviation t/√12, and n1 of these are added: the first layer. The second
    is a sum of n2 products with words, whose coefficients are below 2^w ≤ t. Each is then divided by all primes but
    the last, and rounding leaves :func:`.grids.rounding_variance`. The first layer's noise is not in the
    second: the words of a ciphertext are numbers like any other.
    """
    size, count = grid.slots, max(grid.selections)
    selection = grids.selection_deviation(size, count, len(data_bits), deviation)
    product = selection * plain_modulus / sqrt(12) * sqrt(size * max(grid.shape))
    last, *dropped = data_bits
    layer = sqrt((product / 2.0 ** sum(dropped)) ** 2 + grids.rounding_variance(size))
    return float(2.0 ** (last - 1 - log2(plain_modulus) - log2(layer)))


# The first prime above 2^20 that gives slots at N = 4096: of a plaintext that is uniform below 2^20 it is as large as
# need be.
_PLAIN_MODULUS = 1073153


class SealPir(GridRetrieval):
    """SealPIR: see :mod:`ciphermark_circuits.words`. In bfv, where ciphertexts are kept by their coefficients."""

    name = "seal-pir"
    title = "private retrieval of an element of a database by its index (SealPIR)"
    schemes = ("bfv",)
    pass_s = 0.5
    Layout = SquareGrid

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul_plain", "rotate", "mul_word")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 4096 and primes of 35, 35 and 36 bits: 106 bits together, 128-bit security by both tables. Every database
        that the options allow has room for its noise: see :func:`noise_ratio`.
        """
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 4096, (35, 35, 36), plain_modulus=_PLAIN_MODULUS)

    def selected(
        self, evaluator: Evaluator, rows: Sequence[Handle], columns: Sequence[Handle]
    ) -> tuple[list[Handle], list[Handle]]:
        """A ciphertext for each word of each chunk."""
        layout, factors = self.layout(evaluator.parameters), Factors.of(evaluator, rows)
        every, answer = list[Handle](), list[Handle]()
        for chunk in range(layout.chunks):
            entries = [
                lowered(evaluator, factors.inner_product(plaintexts), 0)
                for plaintexts in self.store(layout, chunk)
            ]
            every, answer = every + entries, answer + words.selected(evaluator, columns, entries)
        return every, answer

    def decrypted(self, owner: KeyOwner, results: Sequence[Handle]) -> list[Vector]:
        """The plaintext of each chunk: first its words are decrypted, then the ciphertext that they are."""
        return [owner.decrypt(item) for item in self._inner(owner, results)]

    def opened(self, owner: KeyOwner, results: Sequence[Handle]) -> list[Handle]:
        """Both layers: the words of each chunk, and the ciphertexts that they are."""
        return [*results, *self._inner(owner, results)]

    def _inner(self, owner: KeyOwner, results: Sequence[Handle]) -> list[Handle]:
        """The ciphertext of each chunk, of its words."""
        slots = np.stack([owner.decrypt(item) for item in results])
        parts = [*coefficients.coefficients_of(Ring.of(owner.parameters), slots)]
        share = words.count_of(owner.parameters)
        chunks = [parts[start : start + share] for start in range(0, len(parts), share)]
        return [owner.from_words(chunk) for chunk in chunks]


WORKLOADS = (SealPir(),)
