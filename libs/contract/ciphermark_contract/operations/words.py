"""The words of a ciphertext: its coefficients cut into digits that are coefficients of plaintexts, so that one
ciphertext can be encrypted within others (Angel et al., "PIR with compressed queries and amortized query processing",
IEEE S&P 2018). Pure.

A ciphertext of bfv is polynomials, each by its residues modulo the primes of its level. Every residue is cut into
digits in base 2^w, w = ⌊log2 t⌋, lowest first. Words are numbered by polynomial, then prime, then digit; each is the
vector of the N coefficients' digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ciphermark_contract.bound import Vector
from ciphermark_contract.operations import coefficients
from ciphermark_contract.operations.meaning import Ring, product
from ciphermark_contract.operations.shapes import Shape, top_level
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters

# Of shape (polynomials, primes, N): the residues of a ciphertext.
Residues = npt.NDArray[np.uint64]


def bits_of(plain_modulus: int) -> int:
    """Bits of a word: w = ⌊log2 t⌋."""
    return plain_modulus.bit_length() - 1


def primes_at(parameters: Parameters, level: int) -> tuple[int, ...]:
    """The primes of the modulus at a level."""
    return parameters.moduli[: len(parameters.moduli) - top_level(parameters) + level]


def count(parameters: Parameters, level: int, polynomials: int = 2) -> int:
    """Words of a ciphertext: ⌈bits of the prime/w⌉ for each prime of each polynomial."""
    return polynomials * sum(1 for _ in _digits(parameters, level))


def cut(parameters: Parameters, level: int, residues: Residues) -> list[Vector]:
    """The words of a ciphertext by its residues, each of shape (N,), in [0, 2^w)."""
    mask = np.uint64((1 << bits_of(parameters.plain_modulus or 1)) - 1)
    return [
        (polynomial[prime] >> np.uint64(shift) & mask).astype(np.int64)
        for polynomial in residues
        for prime, shift in _digits(parameters, level)
    ]


def joined(parameters: Parameters, level: int, words: Sequence[Vector]) -> Residues:
    """The inverse of :func:`cut`. Raises ``ValueError`` for an incorrect number of words.

    A residue that is not below its prime, which only an incorrect answer yields, is reduced.
    """
    primes, digits = primes_at(parameters, level), [*_digits(parameters, level)]
    if not words or len(words) % len(digits):
        raise ValueError(f"{len(words)} words are no ciphertext: each polynomial has {len(digits)}")
    shape = (len(words) // len(digits), len(primes), parameters.ring_dimension)
    residues: Residues = np.zeros(shape, dtype=np.uint64)
    for number, word in enumerate(words):
        polynomial, digit = divmod(number, len(digits))
        prime, shift = digits[digit]
        residues[polynomial, prime] += word.astype(np.uint64) << np.uint64(shift)
    return residues % np.array(primes, dtype=np.uint64)[:, np.newaxis]


def multiplied(ring: Ring, a: Vector, words: Sequence[Vector], number: int) -> Vector:
    """The slots of a times the polynomial whose coefficients are a word of another ciphertext."""
    return product(ring, a, coefficients.slots_of(ring, words[number]))


def shape_of_product(parameters: Parameters, a: Shape, other: Shape, number: int) -> Shape:
    """As the first operand; raises ``Unsupported`` for a word that the other ciphertext does not have."""
    most = count(parameters, other.level, other.polynomials)
    if not 0 <= number < most:
        raise Unsupported(f"there is no word {number}: the ciphertext has {most}, numbered from 0")
    return a


def _digits(parameters: Parameters, level: int) -> Iterator[tuple[int, int]]:
    """Number of the prime and shift, in bits, of each word of a polynomial."""
    width = bits_of(parameters.plain_modulus or 1)
    for number, prime in enumerate(primes_at(parameters, level)):
        for shift in range(0, prime.bit_length(), width):
            yield number, shift
