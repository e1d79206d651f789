"""FastPIR, and the common part of other protocols over its columns: the layout of elements, vectors of a query,
parameters, answers (Ahmad et al., "Addra: Metadata-private voice communication over fully untrusted infrastructure",
OSDI 2021).

The N slots of bfv and bgv are two rows of R = N/2. An element has one slot of each row, in a *block* of R elements. In
each of several *columns* that slot holds a symbol: of the element's first half in the first row, of its second half in
the second. A block of a column is thus one plaintext.

A symbol of w bits is stored plus 1, which is below t. No plaintext is then 0, since libraries refuse the product of a
ciphertext with 0. A slot of 0 holds no symbol, and reveals an incorrect answer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2, sqrt
from typing import TypeAlias

import numpy as np

from ciphermark_circuits import selection
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_contract.noise_bound import SIGMA
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.retrieval import database
from ciphermark_workloads.retrieval.database import Integers, Rows
from ciphermark_workloads.retrieval.queries import IndexRetrieval, Queried
from ciphermark_workloads.workload import Arrays, Handles, Input, Stage, Workload


@dataclass(frozen=True, slots=True)
class Layout:
    """``elements`` elements of ``element_bytes`` bytes, in rows of ``row`` slots that hold ``symbol_bits`` bits each.

    Column j returns ``stride`` times j slots further. One query can thus request as many elements as the stride, a
    power of two, where their numbers differ modulo the stride: one answer has them in neighboring slots. Raises
    ``Unsupported`` for elements of more columns than a row has slots for.
    """

    elements: int
    element_bytes: int
    row: int
    symbol_bits: int
    stride: int = 1

    def __post_init__(self) -> None:
        width = self.row // self.stride
        if self.columns > width:
            raise Unsupported(
                f"elements of {self.element_bytes} bytes take {self.columns} columns, and a row has {width} slots for "
                f"them: at N = {2 * self.row} with {self.symbol_bits} bits per slot, elements have at most "
                f"{max_bytes(width, self.symbol_bits)} bytes"
            )

    @classmethod
    def of(cls, elements: int, element_bytes: int, parameters: Parameters) -> Layout:
        """The layout for resolved parameters of bfv or bgv; raises ``Unsupported`` for elements that are too long."""
        return cls(
            elements,
            element_bytes,
            parameters.ring_dimension // 2,
            symbol_bits(parameters.plain_modulus or 0),
        )

    @property
    def half_bytes(self) -> int:
        """Bytes of half an element; where S is odd, the second half ends with a byte more."""
        return (self.element_bytes + 1) // 2

    @property
    def columns(self) -> int:
        """Symbols of half an element: ⌈4S/w⌉ for an even S."""
        return -(-8 * self.half_bytes // self.symbol_bits)

    @property
    def blocks(self) -> int:
        """Ciphertexts of a query: ⌈n/R⌉."""
        return -(-self.elements // self.row)

    def place(self, index: int) -> tuple[int, int]:
        """Block and slot of an element, 0 ≤ index < n."""
        return divmod(index, self.row)

    def members(self, block: int) -> tuple[int, int]:
        """The elements of a block: from the first to before the second number."""
        return block * self.row, min((block + 1) * self.row, self.elements)

    def store_bytes(self, primes: int) -> int:
        """The size of the database as plaintexts in NTT form: N words of 8 bytes for each prime."""
        return self.blocks * self.columns * 2 * self.row * primes * 8

    def server_bytes(self, primes: int) -> int:
        """The server's memory during preparation: the store, and each plaintext as a vector and in coefficient form."""
        return self.elements * self.element_bytes + self.store_bytes(primes + 2)


def symbol_bits(plain_modulus: int) -> int:
    """w = ⌊log2 t⌋ for a prime t > 2: 2^w is below t."""
    return plain_modulus.bit_length() - 1


def max_bytes(row: int, symbol_bits: int) -> int:
    """The longest elements that have no more columns than a row has slots: N·w/8 bytes."""
    return 2 * (row * symbol_bits // 8)


# The number of elements whose symbols are made at once: temporary arrays of this size reuse memory, which costs a
# fraction of new memory.
_TOGETHER = 256
FEW_BYTES = 16  # of an element, enough for several columns where a slot has up to 20 bits


def block_vectors(rows: Rows, layout: Layout) -> Integers:
    """The plaintexts of one block, whose elements are the ``rows``: of shape (columns, 2R), in [0, t). Slots without an
    element are 0.
    """
    slots = np.zeros((layout.columns, 2, layout.row), dtype=np.int64)
    for start in range(0, len(rows), _TOGETHER):
        some = rows[start : start + _TOGETHER]
        slots[:, :, start : start + len(some)] = _symbols(some, layout).transpose(2, 1, 0) + 1
    return slots.reshape(layout.columns, -1)


def query_vectors(indices: Iterable[int], layout: Layout) -> list[Vector]:
    """The vectors of a query for elements that differ modulo the stride: 2R slots for each block, 1 in the slots of the
    elements in their blocks, and 0 elsewhere.
    """
    slots = np.zeros((layout.blocks, 2, layout.row), dtype=np.int64)
    for index in indices:
        block, slot = layout.place(index)
        slots[block, :, slot] = 1
    return list(slots.reshape(layout.blocks, -1))


def element(answer: Vector, index: int, layout: Layout) -> Integers:
    """The element in the slots of an answer to its query: S bytes, ``database.NO_BYTE`` for invalid symbols."""
    _, slot = layout.place(index)
    places = (slot + layout.stride * np.arange(layout.columns)) % layout.row
    halves = database.bytes_of(answer.reshape(2, -1)[:, places] - 1, layout.half_bytes, layout.symbol_bits)
    return halves.reshape(-1)[: layout.element_bytes]


def _symbols(rows: Rows, layout: Layout) -> Integers:
    """The symbols of the halves of elements, of shape (count, 2, columns)."""
    halves = np.zeros((len(rows), 2 * layout.half_bytes), dtype=np.uint8)
    halves[:, : layout.element_bytes] = rows
    symbols = database.symbols_of(halves.reshape(-1, layout.half_bytes), layout.symbol_bits)
    return symbols.reshape(len(rows), 2, -1)


RowsOf: TypeAlias = Callable[[int], Rows]


def answered(
    evaluator: Evaluator, query: Handles, layout: Layout, rows_of: RowsOf
) -> tuple[list[Handle], Handle]:
    """The answer to a query of ``layout.blocks`` ciphertexts: the sum of each column's products, and the ciphertext of
    the answer. ``rows_of`` makes the elements of a block, at most R of them, of shape (count, S).
    """
    blocks = [block_vectors(rows_of(block), layout) for block in range(layout.blocks)]
    store = [[block[column] for block in blocks] for column in range(layout.columns)]
    return selection.with_sums(evaluator, query, store, layout.stride)


def noise_ratio(layout: Layout, log_q: float, plain_modulus: int, deviation: float) -> float:
    """The largest noise that decrypts correctly, q/2t, divided by the standard deviation of an answer's noise.

    A fresh error with this ``deviation`` per coefficient is multiplied by a plaintext of N coefficients that are
    uniform modulo t, with standard deviation t/√12. An answer adds up nq·ncol such products: their independent errors
    grow by √(N·nq·ncol). Coefficients are normal, so any of N is too large with a probability below 2^-26 at a ratio of
    7, and below 2^-37 at 8 (N = 4096). The key switches of rotations add less than a hundredth.
    """
    terms = 2 * layout.row * layout.blocks * layout.columns
    largest = log_q - 1 - log2(plain_modulus)
    return float(2.0 ** (largest - log2(deviation * plain_modulus / sqrt(12) * sqrt(terms))))


def secret_deviation(_: int) -> float:
    """The deviation of the error of an encryption with the secret key: :data:`SIGMA`, in every ring."""
    return SIGMA


def switched_deviation(ring_dimension: int) -> float:
    """The deviation of the error of an encryption with the public key under the whole chain, switched to the data
    primes, as in SEAL. It is the rounding error of both polynomials, one of which is multiplied by a ternary secret.
    """
    return sqrt((2 * ring_dimension / 3 + 1) / 12)


def uncentred_deviation(ring_dimension: int) -> float:
    """As :func:`switched_deviation` in SEAL's bgv, which rounds down: errors also have a mean of half a step. Its
    product with a secret adds three times the variance, and more than fifteen times for about one key in a hundred.
    """
    return 4 * switched_deviation(ring_dimension)


def public_deviation(ring_dimension: int) -> float:
    """The deviation of the error of an encryption with the public key under the data primes: e·u + e₀ + e₁·s with
    ternary u and s.
    """
    return SIGMA * sqrt(4 * ring_dimension / 3 + 1)


# Symbols of two whole bytes, and slots in every ring up to N = 32768.
PLAIN_MODULUS = 65537
_MIN_RATIO = 8.0  # see noise_ratio

_Choices = Sequence[tuple[int, tuple[int, ...]]]

# N, and prime sizes with the special prime last. The 2024 table allows 106 bits at N = 4096, and HEXL's arithmetic is
# fastest for primes of up to 50 bits. The last choice is used where none has room.
_ONE_PRIME: _Choices = ((4096, (50, 56)), *((ring, (60, 60)) for ring in (8192, 16384, 32768)))
# For libraries that take a special prime of 60 bits, and primes of at most 56 for data.
_ROOMY: _Choices = ((8192, (56, 60)), *((ring, (56, 56, 60)) for ring in (8192, 16384, 32768)))


class ColumnRetrieval(Queried[Input, Integers]):
    """A protocol whose answers are inner products with columns, and rotations of them."""

    schemes: tuple[Scheme, ...] = ("bfv", "bgv")
    stages = (Stage("answer"),)
    pass_s = 0.1
    is_literal = True  # otherwise equal plaintexts would be multiplied once, and the cost depend on data

    @abstractmethod
    def layout_at(self, row: int, bits: int) -> Layout:
        """The layout of one answer, in rows of R slots with w bits each; raises ``Unsupported`` for elements that are
        too long.
        """

    @abstractmethod
    def tables(self, layout: Layout) -> Iterable[RowsOf]:
        """The elements of each block, for each answer. The database is made here."""

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 4096, one prime of 50 bits for data and one of 56 for key switching, where noise and elements fit. For
        libraries that use the requested primes, and encrypt under the whole chain.
        """
        deviation = uncentred_deviation if scheme == "bgv" else switched_deviation
        return self._first(scheme, _ONE_PRIME, deviation)

    def seeded_parameters(self, scheme: Scheme) -> ParameterSpec:
        """Parameters for queries that are encrypted with the secret key, under the data primes only."""
        return self._first(scheme, _ONE_PRIME, secret_deviation)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """Parameters for libraries that choose their own primes, and encrypt under the data primes."""
        return self._first(scheme, _ROOMY, public_deviation)

    def _first(self, scheme: Scheme, choices: _Choices, deviation: Callable[[int], float]) -> ParameterSpec:
        """The first of the choices with room for elements and noise; the last where none has."""
        self.require_scheme(scheme)
        bits = symbol_bits(PLAIN_MODULUS)

        def has_room(ring: int, chain: tuple[int, ...]) -> bool:
            try:
                layout = self.layout_at(ring // 2, bits)
            except Unsupported:
                return False
            return noise_ratio(layout, sum(chain[:-1]), PLAIN_MODULUS, deviation(ring)) >= _MIN_RATIO

        ring, chain = next((choice for choice in choices if has_room(*choice)), choices[-1])
        return ParameterSpec(scheme, ring, chain, plain_modulus=PLAIN_MODULUS)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """The keys of the answer's rotations, listed here so that a client need not make the database."""
        layout = self.layout(parameters)
        return KeyRequest.of(rotations=selection.steps(layout.columns, layout.stride))

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """The sum of each column's products, and the answers, which are sums of these, rotated."""
        layout, products, answers = self.layout(evaluator.parameters), list[Handle](), list[Handle]()
        for number, rows_of in enumerate(self.tables(layout)):
            query = inputs[number * layout.blocks : (number + 1) * layout.blocks]
            sums, answer = answered(evaluator, query, layout, rows_of)
            products, answers = [*products, *sums], [*answers, answer]
        return {"products": products, "rotations": answers}

    def groups(self, layout: Layout) -> int:
        """The number of answers to a query."""
        return 1

    def server_bytes(self, parameters: Parameters) -> int:
        layout = self.layout(parameters)
        return self.groups(layout) * layout.server_bytes(len(parameters.moduli))

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int:
        layout = self.layout(parameters)
        return self.groups(layout) * layout.blocks

    def layout(self, parameters: Parameters) -> Layout:
        """The layout of one answer; raises ``Unsupported`` for elements that are too long."""
        return self.layout_at(parameters.ring_dimension // 2, symbol_bits(parameters.plain_modulus or 0))


class FastPir(IndexRetrieval, ColumnRetrieval[int]):
    """FastPIR: see :mod:`ciphermark_circuits.selection`."""

    name = "fast-pir"
    title = "private retrieval of an element of a database by its index (FastPIR)"

    def outline(self, parameters: Parameters) -> Workload[int, Integers]:
        """A database of at most two blocks, and a few columns."""
        options, row = self.options, parameters.ring_dimension // 2
        return self.with_less(
            {
                "elements": min(options.elements, row + 1),
                "element_bytes": min(options.element_bytes, FEW_BYTES),
            }
        )

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """A vector for each block; raises ``UserError`` for an index outside of the database."""
        self.require_index(given)
        return query_vectors([given], self.layout(parameters))

    def tables(self, layout: Layout) -> list[RowsOf]:
        database = self.database()
        return [lambda block: database.rows(*layout.members(block))]

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Integers:
        return element(outputs[0], given, self.layout(parameters))

    def layout_at(self, row: int, bits: int) -> Layout:
        return Layout(self.options.elements, self.options.element_bytes, row, bits)


WORKLOADS = (FastPir(),)
