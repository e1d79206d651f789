"""Selection of a plaintext by an encrypted code word of two ones, one code word per plaintext (Mahdavi and Kerschbaum,
"Constant-weight PIR", USENIX Security 2022).

A ciphertext for each place of code words holds one value in all slots: 1 for the two places of the selected code word,
else 0. The product of the two places of any other code word is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ciphermark_circuits import grid
from ciphermark_circuits.plain_products import Factors
from ciphermark_circuits.products import product
from ciphermark_contract.interfaces import Evaluator, Handle, Vector

Code: TypeAlias = tuple[int, int]  # the places that are 1, the lower first


def grouped(
    evaluator: Evaluator, places: Sequence[Handle], codes: Sequence[Code], stores: Iterable[Sequence[Vector]]
) -> tuple[list[Handle], list[Handle]]:
    """Return the sums over each group's lower places per store, and the selected plaintext of each store.

    Plaintexts are at the library's smallest modulus. A store has a vector of all slots, not 0, for each code. Code
    words with the same upper place b form a group. Its sum over their lower places a, c_b·Σ c_a·P_(a,b), takes one
    product of ciphertexts. Each store takes a product with a plaintext per code, and a product of ciphertexts per
    group; these are summed with three polynomials and relinearized once.
    """
    lower = sorted({a for a, _ in codes})
    factors = Factors.of(evaluator, [places[a] for a in lower])
    of_place = dict(zip(lower, factors.ciphertexts, strict=True))
    entries: list[Handle] = []
    groups = {b: [number for number, code in enumerate(codes) if code[1] == b] for _, b in codes}

    def products(store: Sequence[Vector]) -> Iterator[tuple[Handle, Handle]]:
        for b, members in groups.items():
            of_group = replace(factors, ciphertexts=[of_place[codes[number][0]] for number in members])
            entries.append(of_group.inner_product([store[number] for number in members]))
            yield places[b], entries[-1]

    answers = [grid.summed(evaluator, products(store)) for store in stores]
    return entries, answers


def one_by_one(
    evaluator: Evaluator, places: Sequence[Handle], codes: Sequence[Code], stores: Iterable[Sequence[Vector]]
) -> tuple[list[Handle], list[Handle]]:
    """Like :func:`grouped`, by the published circuit.

    It takes a product of ciphertexts and a relinearization for each code, then an inner product with each store.
    """
    selections = [product(evaluator, places[a], places[b]) for a, b in codes]
    factors = Factors.of(evaluator, selections)
    return selections, [grid.lowest(evaluator, factors.inner_product(store)) for store in stores]
