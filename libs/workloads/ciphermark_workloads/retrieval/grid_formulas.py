"""What retrieval from a grid costs, by MulPIR in particular, how many bytes it moves, and how far its noise is from a
wrong answer in bfv. Pure.

Of a grid of n1 rows and n2 columns of plaintexts, for elements of ``chunks`` plaintexts each, with k data primes and
one special prime. Sizes are SEAL's: N words of 8 bytes for each prime of a polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt

from ciphermark_circuits import expansion
from ciphermark_workloads.retrieval.formulas import SIGMA
from ciphermark_workloads.retrieval.grid import Grid

_WORD = 8  # bytes of a coefficient modulo a prime, and of a slot before it is encoded


@dataclass(frozen=True, slots=True)
class Counts:
    """Operations of the server for one answer. ``additions`` are all, also those that double what has no partner.
    Ciphertexts are transformed where they are kept in coefficient form.
    """

    rotations: int
    shifts: int
    differences: int
    plain_products: int
    products: int
    relinearizations: int
    additions: int
    transforms: int
    transforms_back: int


def counts(grid: Grid) -> Counts:
    """n1 + n2 − 1 rotations for the expansion; and for each chunk n1·n2 products with plaintexts, n2 of ciphertexts,
    one relinearization.
    """
    rows, columns = grid.shape
    turned = expansion_counts(grid)
    return Counts(
        rotations=turned,
        shifts=turned,
        differences=turned,
        plain_products=grid.chunks * rows * columns,
        products=grid.chunks * columns,
        relinearizations=grid.chunks,
        additions=expansion_additions(grid) + grid.chunks * (rows * columns - 1),
        transforms=rows,
        transforms_back=grid.chunks * columns,
    )


def expansion_counts(grid: Grid) -> int:
    """Rotations, shifts and differences of the expansion, each: one less than what each ciphertext expands to."""
    return sum(count - 1 for count in grid.selections)


def expansion_additions(grid: Grid) -> int:
    """Sums of the expansion, also those that double what has no partner: 2^rounds − 1 for each ciphertext."""
    return sum((1 << expansion.rounds(count)) - 1 for count in grid.selections)


def store_bytes(grid: Grid, primes: int) -> int:
    """The database as plaintexts in evaluation form."""
    rows, columns = grid.shape
    return grid.chunks * rows * columns * grid.slots * primes * _WORD


def server_bytes(grid: Grid, primes: int) -> int:
    """What a server holds while it prepares: the store, and each plaintext as a vector and in coefficient form."""
    return grid.elements * grid.element_bytes + store_bytes(grid, primes + 2)


def query_bytes(grid: Grid, primes: int) -> int:
    """A query, both polynomials of each ciphertext written out."""
    return len(grid.selections) * ciphertext_bytes(grid, primes)


def ciphertext_bytes(grid: Grid, primes: int) -> int:
    """Two polynomials."""
    return 2 * grid.slots * primes * _WORD


def answer_bytes(grid: Grid) -> int:
    """An answer: a ciphertext for each chunk, at the last prime."""
    return grid.chunks * ciphertext_bytes(grid, 1)


def key_bytes(grid: Grid, primes: int) -> int:
    """The keys of ⌈log2(n1 + n2)⌉ rotations and of relinearization."""
    return rotation_key_bytes(grid, primes) + one_key_bytes(grid, primes)


def rotation_key_bytes(grid: Grid, primes: int) -> int:
    """The keys of the expansion's rotations: one for each round of the longest."""
    return expansion.rounds(max(grid.selections)) * one_key_bytes(grid, primes)


def one_key_bytes(grid: Grid, primes: int) -> int:
    """A digit for every data prime."""
    return primes * ciphertext_bytes(grid, primes + 1)


def noise_ratio(grid: Grid, primes: int, prime_bits: int, plain_modulus: int, deviation: float) -> float:
    """The largest noise that decrypts right, q/2t, divided by the standard deviation of an answer's noise before it is
    switched to a smaller modulus; all primes, the special one too, have ``prime_bits`` bits.

    A fresh error of this ``deviation`` a coefficient, and the errors of key switches (a digit of q_i times an error σ,
    divided by the special prime, over all digits; and what rounding by it leaves, times a ternary secret), are added
    up with variances that double in each round. A product with a plaintext of N coefficients that are uniform modulo t
    multiplies deviations by (t/√12)·√N, and n1 of them are added. A product of ciphertexts multiplies an error by t·k,
    k the other's quotient by q, of variance (1 + 2N/3)/12 a coefficient, over N coefficients; n2 are added (Fan and
    Vercauteren, "Somewhat practical fully homomorphic encryption", 2012). The selection's own error is smaller by the
    first factor.
    """
    rows, columns = grid.shape
    selection = selection_deviation(grid.slots, max(grid.selections), primes, deviation)
    answer = answer_deviation(selection, grid.slots, rows * columns, plain_modulus)
    return float(2.0 ** (primes * prime_bits - 1 - log2(plain_modulus) - log2(answer)))


def answer_deviation(selection: float, slots: int, plaintexts: int, plain_modulus: int) -> float:
    """Of the noise of an answer over so many plaintexts of N slots, of selections whose noise has the deviation
    ``selection``: see :func:`noise_ratio`.
    """
    product = selection * plain_modulus / sqrt(12) * sqrt(slots)
    return product * plain_modulus * sqrt(rounding_variance(slots) * slots * plaintexts)


def selection_deviation(slots: int, count: int, primes: int, deviation: float) -> float:
    """The standard deviation of the noise of the ``count`` ciphertexts that one of a query expands to, of fresh errors
    of this ``deviation``.
    """
    switch = primes * slots * SIGMA**2 / 12 + rounding_variance(slots)
    copies = float(1 << expansion.rounds(count))
    return sqrt(copies * deviation**2 + (copies - 1) * switch)


def rounding_variance(ring_dimension: int) -> float:
    """Of what rounding both polynomials of a ciphertext leaves, one of them times a ternary secret."""
    return (1 + 2 * ring_dimension / 3) / 12
