"""MulPIR and SealPIR: encrypted monomials select a row and a column of a grid of plaintexts.

MulPIR (Ali et al., "Communication–computation trade-offs in PIR", USENIX Security 2021) multiplies ciphertexts: a
product selects by both places. SealPIR (Angel et al., "PIR with compressed queries and amortized query processing",
IEEE S&P 2018) first selects the row in each column. It then selects a column of these results, word by word, and the
client decrypts twice.

Elements lie in neighboring slots of a plaintext, as many as fit completely. An element that is longer than a plaintext
takes several, its *chunks*, in as many grids. The plaintexts fill a grid column by column.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import numpy as np

from ciphermark_circuits import expansion, words
from ciphermark_circuits import grid as grid_circuit
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, KeyOwner, KeyRequest, Vector, lowered
from ciphermark_contract.operations import Ring, coefficients
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.retrieval import database
from ciphermark_workloads.retrieval.columns import PLAIN_MODULUS, symbol_bits
from ciphermark_workloads.retrieval.database import Integers, Rows
from ciphermark_workloads.retrieval.queries import IndexRetrieval, Queried
from ciphermark_workloads.workload import Arrays, Handles, Input, Workload


@dataclass(frozen=True, slots=True)
class Grid:
    """``elements`` elements of ``element_bytes`` bytes, in plaintexts of ``slots`` slots of ``symbol_bits`` bits each.

    Raises ``Unsupported`` for more rows and columns than a query of one ciphertext expands to.
    """

    elements: int
    element_bytes: int
    slots: int
    symbol_bits: int

    def __post_init__(self) -> None:
        rows, columns = self.shape
        if max(self.selections) > expansion.most(self.slots):
            them = "rows and columns together" if len(self.selections) == 1 else "rows or columns"
            raise Unsupported(
                f"{self.elements} elements of {self.element_bytes} bytes make a grid of {rows} × {columns} "
                f"plaintexts, and one ciphertext of N = {self.slots} selects "
                f"{expansion.most(self.slots)} {them}"
            )

    @classmethod
    def of(cls, elements: int, element_bytes: int, parameters: Parameters) -> Grid:
        """The grid for resolved parameters of bfv or bgv; raises ``Unsupported`` for too large a database."""
        bits = symbol_bits(parameters.plain_modulus or 0)
        return cls(elements, element_bytes, parameters.ring_dimension, bits)

    @property
    def symbols(self) -> int:
        """Symbols of an element: ⌈8S/w⌉."""
        return database.count_of(self.element_bytes, self.symbol_bits)

    @property
    def chunks(self) -> int:
        """Plaintexts of an element: 1 where it fits one."""
        return -(-self.symbols // self.slots)

    @property
    def per_plaintext(self) -> int:
        """Elements of a plaintext, at least 1."""
        return max(1, self.slots // self.symbols)

    @property
    def plaintexts(self) -> int:
        """The plaintexts of one chunk of all elements: M = ⌈n/elements of a plaintext⌉."""
        return -(-self.elements // self.per_plaintext)

    @property
    def shape(self) -> tuple[int, int]:
        """n1 rows and n2 columns of at least M places together. It has the fewest columns, each of which costs a
        product of ciphertexts, for which the query's expansion takes no more rounds than a square's.
        """
        side = isqrt(self.plaintexts)
        rows = side + (side * side < self.plaintexts)
        square = rows + -(-self.plaintexts // rows)
        most = 1 << expansion.rounds(square)
        columns = next(
            columns for columns in range(1, rows + 1) if -(-self.plaintexts // columns) + columns <= most
        )
        return -(-self.plaintexts // columns), columns

    @property
    def selections(self) -> tuple[int, ...]:
        """The number of selections that each ciphertext of a query expands to: here one holds row and column
        together.
        """
        return (sum(self.shape),)

    def selected(self, index: int) -> list[list[int]]:
        """For each ciphertext of a query, the numbers of the selections that are 1 for an element."""
        row, column, _ = self.place(index)
        return [[row, self.shape[0] + column]]

    def place(self, index: int) -> tuple[int, int, int]:
        """Row and column of an element's plaintext, 0 ≤ index < n, and its first slot there."""
        plaintext, position = divmod(index, self.per_plaintext)
        column, row = divmod(plaintext, self.shape[0])
        return row, column, position * self.symbols

    def members(self, row: int, column: int) -> tuple[int, int]:
        """The elements of a plaintext: from the first to before the second number, none where both are equal."""
        first = (column * self.shape[0] + row) * self.per_plaintext
        return min(first, self.elements), min(first + self.per_plaintext, self.elements)

    def plaintext(self, rows: Rows, chunk: int) -> Vector:
        """The plaintext of these elements, of shape (N,), in [1, t). Symbols are stored plus 1: no plaintext is 0, and
        a decrypted 0 is not a symbol. The padding is a symbol of 0.
        """
        parts = database.symbols_of(rows, self.symbol_bits)[:, chunk * self.slots : (chunk + 1) * self.slots]
        slots = np.ones(self.slots, dtype=np.int64)
        slots[: parts.size] += parts.reshape(-1)
        return slots

    def element(self, chunks: list[Vector], index: int) -> Integers:
        """The element in the slots of an answer: S bytes, :data:`.database.NO_BYTE` for invalid symbols."""
        *_, first = self.place(index)
        symbols = np.concatenate(chunks)[first : first + self.symbols] - 1
        element: Integers = database.bytes_of(symbols[np.newaxis], self.element_bytes, self.symbol_bits)[0]
        return element

    def store_bytes(self, primes: int) -> int:
        """The size of the database as plaintexts in NTT form: N words of 8 bytes for each prime."""
        rows, columns = self.shape
        return self.chunks * rows * columns * self.slots * primes * 8

    def server_bytes(self, primes: int) -> int:
        """The server's memory during preparation: the store, and each plaintext as a vector and in coefficient form."""
        return self.elements * self.element_bytes + self.store_bytes(primes + 2)


@dataclass(frozen=True, slots=True)
class SquareGrid(Grid):
    """See :class:`Grid`. Raises ``Unsupported`` for more rows than a ciphertext expands to."""

    @property
    def shape(self) -> tuple[int, int]:
        """n1 ≥ n2: ⌊√M⌋ each, and one more row, then one more column, where that is not enough."""
        side = isqrt(self.plaintexts)
        rows = side + (side * side < self.plaintexts)
        return rows, side + (rows * side < self.plaintexts)

    @property
    def selections(self) -> tuple[int, ...]:
        """Rows of one ciphertext, columns of another."""
        return self.shape

    def selected(self, index: int) -> list[list[int]]:
        """The row, and the column."""
        row, column, _ = self.place(index)
        return [[row], [column]]


class GridRetrieval(IndexRetrieval):
    """See :mod:`ciphermark_circuits.expansion` for the query; ``Layout`` is the kind of grid."""

    Layout: ClassVar[type[Grid]] = Grid

    def server_bytes(self, parameters: Parameters) -> int:
        return self.layout(parameters).server_bytes(len(parameters.moduli))

    def outline(self, parameters: Parameters) -> Workload[int, Integers]:
        """A database of at most two rows and two columns of plaintexts."""
        most = 4 * self.layout(parameters).per_plaintext
        return self.with_less({"elements": min(self.options.elements, most)})

    def keys(self, parameters: Parameters) -> KeyRequest:
        """The keys of the expansion's rotations, which do not depend on the database."""
        most = max(self.layout(parameters).selections)
        return KeyRequest.of(rotations=expansion.steps(parameters.ring_dimension, most))

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """A polynomial for each ciphertext of a query, by its slots: 2^(−rounds)·ΣX^k, k the places that it selects.
        Raises ``UserError`` for an index outside of the database.
        """
        self.require_index(given)
        layout = self.layout(parameters)
        return [
            expansion.packed(parameters, places, count)
            for count, places in zip(layout.selections, layout.selected(given), strict=True)
        ]

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """The query's expansion, the row's selection of each column, and the answer."""
        rows, columns = self.expanded(evaluator, inputs)
        entries, answer = self.selected(evaluator, rows, columns)
        return {"expansion": [*rows, *columns], "first dimension": entries, "second dimension": answer}

    @abstractmethod
    def selected(
        self, evaluator: Evaluator, rows: Handles, columns: Handles
    ) -> tuple[list[Handle], list[Handle]]:
        """The results of ``rows`` for each column, a ciphertext each, and the answer, which ``columns`` select from
        these. Makes the database and its layout.
        """

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int:
        return len(self.layout(parameters).selections)

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Integers:
        return self.layout(parameters).element(list(outputs), given)

    def layout(self, parameters: Parameters) -> Grid:
        """The grid of the database; raises ``Unsupported`` for a database that is too large for one query."""
        return self.Layout.of(self.options.elements, self.options.element_bytes, parameters)

    def expanded(self, evaluator: Evaluator, inputs: Handles) -> tuple[list[Handle], list[Handle]]:
        """The row and column selections that a query expands to."""
        layout = self.layout(evaluator.parameters)
        entries = [
            entry
            for packed, count in zip(inputs, layout.selections, strict=True)
            for entry in expansion.expanded(evaluator, packed, count)
        ]
        rows, _ = layout.shape
        return entries[:rows], entries[rows:]

    def store(self, layout: Grid, chunk: int) -> Iterator[list[Vector]]:
        """The plaintexts of one chunk, column by column."""
        rows, columns = layout.shape
        for column in range(columns):
            yield [self._plaintext(layout, row, column, chunk) for row in range(rows)]

    def _plaintext(self, layout: Grid, row: int, column: int, chunk: int) -> Vector:
        first, stop = layout.members(row, column)
        if first == stop:
            return np.ones(layout.slots, dtype=np.int64)
        return layout.plaintext(self.database().rows(first, stop), chunk)


class OfProducts(Queried[Input, Integers]):
    """Selections by products of ciphertexts."""

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul", "mul_plain", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 8192 and three primes of 50 bits, the maximum size for HEXL's fastest arithmetic: 192-bit secure, and
        with room for the noise of every database that the options allow.
        """
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 8192, (50, 50, 50), plain_modulus=PLAIN_MODULUS)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 8192, (56, 56, 60), plain_modulus=PLAIN_MODULUS)


class MulPir(OfProducts[int], GridRetrieval):
    """MulPIR: see :mod:`ciphermark_circuits.grid`, and :mod:`ciphermark_circuits.expansion` for its query."""

    name = "mul-pir"
    title = "private retrieval of an element of a database by its index (MulPIR)"
    pass_s = 1.0

    def keys(self, parameters: Parameters) -> KeyRequest:
        """The keys of the expansion's rotations, and of the product."""
        return super().keys(parameters) | KeyRequest.of(relinearization=True)

    def selected(
        self, evaluator: Evaluator, rows: Sequence[Handle], columns: Sequence[Handle]
    ) -> tuple[list[Handle], list[Handle]]:
        """A ciphertext for each chunk."""
        layout, factors = self.layout(evaluator.parameters), Factors.of(evaluator, rows)
        answers = [
            grid_circuit.answer(evaluator, factors, columns, self.store(layout, chunk))
            for chunk in range(layout.chunks)
        ]
        return [entry for entries, _ in answers for entry in entries], [answer for _, answer in answers]


# The first prime above 2^20 with slots at N = 4096: large enough for plaintexts that are uniform below 2^20.
_SEAL_PIR_MODULUS = 1073153


class SealPir(GridRetrieval):
    """SealPIR: see :mod:`ciphermark_circuits.words`. In bfv, where ciphertexts are stored by their coefficients."""

    name = "seal-pir"
    title = "private retrieval of an element of a database by its index (SealPIR)"
    schemes = ("bfv",)
    pass_s = 0.5
    Layout = SquareGrid

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul_plain", "rotate", "mul_word")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 4096 and primes of 35, 35 and 36 bits: 106 bits together, 128-bit security by both tables. Every database
        that the options allow has room for its noise.
        """
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 4096, (35, 35, 36), plain_modulus=_SEAL_PIR_MODULUS)

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
        """The plaintext of each chunk: decrypts its words, then the ciphertext that they form."""
        return [owner.decrypt(item) for item in self._inner(owner, results)]

    def opened(self, owner: KeyOwner, results: Sequence[Handle]) -> list[Handle]:
        """Both layers: the words of each chunk, and the ciphertexts that they form."""
        return [*results, *self._inner(owner, results)]

    def _inner(self, owner: KeyOwner, results: Sequence[Handle]) -> list[Handle]:
        """The ciphertext of each chunk, formed from its words."""
        slots = np.stack([owner.decrypt(item) for item in results])
        parts = [*coefficients.coefficients_of(Ring.of(owner.parameters), slots)]
        share = words.count_of(owner.parameters)
        chunks = [parts[start : start + share] for start in range(0, len(parts), share)]
        return [owner.from_words(chunk) for chunk in chunks]


WORKLOADS = (MulPir(), SealPir())
