"""Products with plaintexts in NTT form, and their sums in one operation, where the library has these operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_contract.operands import restored, transformed
from ciphermark_contract.operations import OPERATIONS, Kind

# Operations without transforms come first.
_PRODUCTS = ("mul_plain_ntt", "mul_plain")
# The operation that computes many products and their sum.
_FUSED = ("multiply_accumulate",)
# At N = 4096 and one prime, this many ciphertexts are 4 MB, and a column's plaintexts 2 MB: less than a shared cache.
TERMS = 64


@dataclass(frozen=True, slots=True)
class Factors:
    """Ciphertexts to be multiplied by many plaintexts, transformed to NTT form once where products take it."""

    evaluator: Evaluator
    product: str
    ciphertexts: Sequence[Handle]

    @classmethod
    def of(cls, evaluator: Evaluator, ciphertexts: Iterable[Handle]) -> Factors:
        """Prepare ciphertexts of one level."""
        product = next((name for name in _PRODUCTS if name in evaluator.operations), _PRODUCTS[-1])
        is_transformed = _takes_transformed(product)
        factors = [transformed(evaluator, item) if is_transformed else item for item in ciphertexts]
        return cls(evaluator, product, factors)

    def inner_product(self, plaintexts: Sequence[Vector]) -> Handle:
        """The sum of the products with plaintexts, one per factor, each a vector of all slots and not 0."""
        (total,) = self.inner_products([plaintexts])
        return self.restored(total)

    def inner_products(self, columns: Sequence[Sequence[Vector]]) -> list[Handle]:
        """The inner product with each column of plaintexts, in the form of products.

        Factors are processed in groups that stay in a cache for all columns.
        """
        totals: list[Handle] = []
        for start in range(0, len(self.ciphertexts), TERMS):
            some = self.ciphertexts[start : start + TERMS]
            parts = (self._summed(some, column[start : start + TERMS]) for column in columns)
            if start == 0:
                totals = list(parts)
            else:
                totals = [self.evaluator.apply("add", *pair) for pair in zip(totals, parts, strict=True)]
        return totals

    def restored(self, total: Handle) -> Handle:
        """An inner product in the form that other operations take."""
        return restored(self.evaluator, total) if _takes_transformed(self.product) else total

    def _summed(self, factors: Sequence[Handle], values: Sequence[Vector]) -> Handle:
        """The sum of products, in one operation where there is one and several terms."""
        evaluator = self.evaluator
        plaintexts = [
            evaluator.encode(item, like=factor) for factor, item in zip(factors, values, strict=True)
        ]
        fused = next((name for name in _FUSED if name in evaluator.operations), None)
        if fused is not None and len(factors) > 1:
            return evaluator.apply(fused, *factors, *plaintexts)
        products = (
            evaluator.apply(self.product, factor, plaintext)
            for factor, plaintext in zip(factors, plaintexts, strict=True)
        )
        return sums.total(evaluator, products)


def _takes_transformed(product: str) -> bool:
    return Kind.TRANSFORMED in OPERATIONS[product].operands
