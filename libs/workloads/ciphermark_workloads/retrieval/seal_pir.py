"""SealPIR with two dimensions: what a row's selection leaves of each column is selected again, word by word, and the
client decrypts twice (Angel et al., "PIR with compressed queries and amortized query processing", IEEE S&P 2018).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_circuits import words
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, KeyOwner, Vector
from ciphermark_contract.managed import lowered
from ciphermark_contract.operations import Ring, coefficients
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_workloads.retrieval.by_grid import GridRetrieval
from ciphermark_workloads.retrieval.square_grid import SquareGrid

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
        that the options allow has room for its noise: see :mod:`.word_formulas`.
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
