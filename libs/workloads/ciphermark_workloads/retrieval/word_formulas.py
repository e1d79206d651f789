"""What SealPIR costs, how many bytes it moves, and how far its noise is from a wrong answer. Pure.

Of a grid of n1 rows and n2 columns of plaintexts, for elements of ``chunks`` plaintexts each, with k data primes and
one special prime. Beyond :mod:`.grid_formulas`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, sqrt

from ciphermark_workloads.retrieval import grid_formulas
from ciphermark_workloads.retrieval.grid import Grid


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


def words(grid: Grid, prime_bits: int) -> int:
    """F: words of a ciphertext of two polynomials modulo the last prime, which has so many bits."""
    return 2 * -(-prime_bits // grid.symbol_bits)


def counts(grid: Grid, primes: int, prime_bits: int) -> Counts:
    """n1 + n2 − 2 rotations for the expansion; for each chunk n1·n2 products with the database's plaintexts, and F·n2
    with words.
    """
    (rows, columns), chunks, parts = grid.shape, grid.chunks, words(grid, prime_bits)
    turned = grid_formulas.expansion_counts(grid)
    sums = columns * (rows - 1) + parts * (columns - 1)
    return Counts(
        rotations=turned,
        shifts=turned,
        differences=turned,
        plain_products=chunks * rows * columns,
        word_products=chunks * parts * columns,
        additions=grid_formulas.expansion_additions(grid) + chunks * sums,
        transforms=rows + chunks * columns,
        transforms_back=chunks * (columns + parts),
        switches=(primes - 1) * chunks * (columns + parts),
    )


def answer_bytes(grid: Grid, prime_bits: int) -> int:
    """An answer: F ciphertexts for each chunk, at the last prime."""
    return words(grid, prime_bits) * grid_formulas.answer_bytes(grid)


def noise_ratio(grid: Grid, data_bits: Sequence[int], plain_modulus: int, deviation: float) -> float:
    """The largest noise that decrypts right, q1/2t, divided by the standard deviation of the noise, after it was
    switched to the last prime q1; the smaller of both layers. ``data_bits`` are the bits of q1 and of the data primes
    that are dropped, none larger than the special prime.

    What the expansion leaves (:func:`.grid_formulas.selection_deviation`) is multiplied by a plaintext of N
    coefficients that are uniform modulo t, of deviation t/√12, and n1 of these are added: the first layer. The second
    is a sum of n2 products with words, whose coefficients are below 2^w ≤ t. Each is then divided by all primes but
    the last, and rounding leaves :func:`.grid_formulas.rounding_variance`. The first layer's noise is not in the
    second: the words of a ciphertext are numbers like any other.
    """
    size, count = grid.slots, max(grid.selections)
    selection = grid_formulas.selection_deviation(size, count, len(data_bits), deviation)
    product = selection * plain_modulus / sqrt(12) * sqrt(size * max(grid.shape))
    last, *dropped = data_bits
    layer = sqrt((product / 2.0 ** sum(dropped)) ** 2 + grid_formulas.rounding_variance(size))
    return float(2.0 ** (last - 1 - log2(plain_modulus) - log2(layer)))
