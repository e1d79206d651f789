"""What retrieval by constant-weight codes costs, how many bytes its server holds, and how far its noise is from a wrong
answer in bfv. Pure. Queries, answers and keys are of as many bytes as MulPIR's: see :mod:`.grid_formulas`.

Of m code places and the codes of p shelves that are not empty, ``chunks`` plaintexts each, with k data primes and one
special prime. Sizes are SEAL's.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import log2

from ciphermark_circuits import expansion
from ciphermark_circuits.constant_weight import Code
from ciphermark_workloads.retrieval import grid_formulas
from ciphermark_workloads.retrieval.grid_formulas import Counts
from ciphermark_workloads.retrieval.shelves import Shelves

_WORD = 8  # bytes of a coefficient modulo a prime, and of a slot before it is encoded


def counts(shelves: Shelves, codes: Collection[Code]) -> Counts:
    """m − 1 rotations for the expansion; and for each chunk p products with plaintexts, a product of ciphertexts for
    each upper place that is in use, at most m − 1 of them, and one relinearization.
    """
    lower, upper = ({code[place] for code in codes} for place in (0, 1))
    turned = shelves.length - 1
    doubled = (1 << expansion.rounds(shelves.length)) - 1
    return Counts(
        rotations=turned,
        shifts=turned,
        differences=turned,
        plain_products=shelves.chunks * len(codes),
        products=shelves.chunks * len(upper),
        relinearizations=shelves.chunks,
        additions=doubled + shelves.chunks * (len(codes) - 1),
        transforms=len(lower),
        transforms_back=shelves.chunks * len(upper),
    )


def published_counts(shelves: Shelves, codes: Collection[Code]) -> Counts:
    """As published: a product of ciphertexts and a relinearization for each shelf that is not empty."""
    return replace(
        counts(shelves, codes),
        products=len(codes),
        relinearizations=len(codes),
        transforms=len(codes),
        transforms_back=shelves.chunks,
    )


def most_plaintexts(shelves: Shelves, records: int) -> int:
    """At most so many plaintexts have as many records, whatever their keywords are."""
    return shelves.chunks * min(records, shelves.shelves)


def server_bytes(shelves: Shelves, records: int, primes: int, ciphertexts: int) -> int:
    """What a server holds: the records, each plaintext as a vector, in coefficient form and in evaluation form, and as
    many ciphertexts.
    """
    polynomial = shelves.slots * _WORD
    store = most_plaintexts(shelves, records) * (primes + 2) * polynomial
    return records * shelves.value_bytes + store + ciphertexts * 2 * primes * polynomial


def noise_ratio(
    shelves: Shelves, primes: int, prime_bits: int, plain_modulus: int, deviation: float
) -> float:
    """The largest noise that decrypts right, q/2t, divided by the standard deviation of an answer's noise; all primes,
    the special one too, have ``prime_bits`` bits.

    That of MulPIR (:func:`.grid_formulas.noise_ratio`) over as many plaintexts as there can be shelves, for which code
    places are rows and columns. As published the product of ciphertexts comes first, which has the noise of both
    places: √2 times as much.
    """
    selection = grid_formulas.selection_deviation(shelves.slots, shelves.length, primes, deviation)
    answer = grid_formulas.answer_deviation(selection, shelves.slots, shelves.shelves, plain_modulus)
    return float(2.0 ** (primes * prime_bits - 1 - log2(plain_modulus) - log2(answer)))
