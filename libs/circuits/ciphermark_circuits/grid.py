"""Selection of a plaintext from a grid by two encrypted selections, of a row and of a column
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
    """Return the inner product of each column, and the selected plaintext at the library's smallest modulus.

    The n1 ``rows`` and n2 ``columns`` are ciphertexts of one value in all slots. ``store`` has a vector of all slots,
    not 0, for each row of each column. It takes n1·n2 products with plaintexts, n2 products of ciphertexts and one
    relinearization, and n1·n2 − 1 sums, n2 − 1 of them with three polynomials.
    """
    entries: list[Handle] = []

    def pairs() -> Iterator[tuple[Handle, Handle]]:
        for selected, plaintexts in zip(columns, store, strict=True):
            entries.append(rows.inner_product(plaintexts))
            yield selected, entries[-1]

    return entries, summed(evaluator, pairs())


def summed(evaluator: Evaluator, pairs: Iterable[tuple[Handle, Handle]]) -> Handle:
    """The sum of the products of pairs, consumed one by one, at the library's smallest modulus; relinearized once."""
    products = (raw_product(evaluator, a, b) for a, b in pairs)
    return lowest(evaluator, shrunk(evaluator, sums.total(evaluator, products)))


def lowest(evaluator: Evaluator, found: Handle) -> Handle:
    """The ciphertext at the smallest modulus that the library switches to."""
    while (lower := next_lower(evaluator, found)) is not found:
        found = lower
    return found
