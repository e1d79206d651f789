"""Selection of a ciphertext, word by word within other ciphertexts, without its key; its owner decrypts twice
(Angel et al., "PIR with compressed queries and amortized query processing", IEEE S&P 2018).
"""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Evaluator, Handle, lowered
from ciphermark_contract.operands import restored, transformed
from ciphermark_contract.operations import words
from ciphermark_core.model import Parameters


def selected(evaluator: Evaluator, selection: Sequence[Handle], entries: Sequence[Handle]) -> list[Handle]:
    """One ciphertext per word of the selected entry, at the smallest modulus.

    ``selection`` has a ciphertext for each entry, of one value in all slots: 1 for the selected entry, else 0. Entries
    are at the smallest modulus. With F words and n entries, it takes F·n products with plaintexts, which are unknown in
    advance, and F·(n − 1) sums. Raises ``Unsupported`` where a library gives no access to words.
    """
    factors = [transformed(evaluator, item) for item in selection]
    return [_word(evaluator, factors, entries, number) for number in range(count_of(evaluator.parameters))]


def count_of(parameters: Parameters) -> int:
    """F, the number of words of a ciphertext at the smallest modulus."""
    return words.count(parameters, 0)


def _word(evaluator: Evaluator, factors: Sequence[Handle], entries: Sequence[Handle], number: int) -> Handle:
    products = (
        evaluator.apply("mul_word", factor, entry, number)
        for factor, entry in zip(factors, entries, strict=True)
    )
    return lowered(evaluator, restored(evaluator, sums.total(evaluator, products)), 0)
