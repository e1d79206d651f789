"""The entry of a grid of plaintexts that two encrypted selections pick: one of its rows, and one of its columns
(MulPIR: Ali et al., "Communication–computation trade-offs in PIR", USENIX Security 2021).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ciphermark_circuits import sums
from ciphermark_circuits.plain_products import Factors
from ciphermark_circuits.products import raw_product, shrunk
from ciphermark_contract.interfaces import Evaluator, Handle, Vector, next_lower


def answer(
    evaluator: Evaluator, rows: Factors, columns: Sequence[Handle], store: Iterable[Sequence[Vector]]
) -> tuple[list[Handle], Handle]:
    """The selected plaintext, at the smallest modulus that the library switches to, after the inner product of each
    column.

    Of n1 ``rows`` and n2 ``columns``, each a ciphertext of one value in all slots, ``store`` has a vector of all slots
    for each row of each column, and none of them is 0. n1·n2 products with plaintexts, n2 of ciphertexts, n1·n2 − 1
    sums, of which n2 − 1 of three polynomials, and one relinearization.
    """
    entries: list[Handle] = []

    def pairs() -> Iterator[tuple[Handle, Handle]]:
        for selected, plaintexts in zip(columns, store, strict=True):
            entries.append(rows.inner_product(plaintexts))
            yield selected, entries[-1]

    return entries, summed(evaluator, pairs())


def summed(evaluator: Evaluator, pairs: Iterable[tuple[Handle, Handle]]) -> Handle:
    """The sum of the products of pairs, each taken when the sum of those before it is there: relinearized once, and at
    the smallest modulus that the library switches to.
    """
    products = (raw_product(evaluator, a, b) for a, b in pairs)
    return lowest(evaluator, shrunk(evaluator, sums.total(evaluator, products)))


def lowest(evaluator: Evaluator, found: Handle) -> Handle:
    """At the smallest modulus that the library switches to."""
    while (lower := next_lower(evaluator, found)) is not found:
        found = lower
    return found
