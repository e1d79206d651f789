"""Retrieval by keyword, where keywords are numbers that constant-weight codes select; also in its published form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from ciphermark_circuits import constant_weight, expansion
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.retrieval import queries, user_records
from ciphermark_workloads.retrieval.database import Integers
from ciphermark_workloads.retrieval.grids import OfProducts
from ciphermark_workloads.retrieval.keyword_table import KeywordTable
from ciphermark_workloads.retrieval.queries import KeywordRetrieval
from ciphermark_workloads.workload import Arrays, Handles, Stage, Workload

_WORD = 8  # bytes of a coefficient modulo a prime, and of a slot before it is encoded


def max_plaintexts(table: KeywordTable, records: int) -> int:
    """The maximum number of plaintexts for ``records`` records, regardless of their keywords."""
    return table.chunks * min(records, table.shelves)


def server_bytes(table: KeywordTable, records: int, primes: int, ciphertexts: int) -> int:
    """The server's memory: the records, each plaintext as a vector, in coefficient form and in NTT form, and
    ``ciphertexts`` ciphertexts.
    """
    polynomial = table.slots * _WORD
    store = max_plaintexts(table, records) * (primes + 2) * polynomial
    return records * table.value_bytes + store + ciphertexts * 2 * primes * polynomial


_MAX_BITS = 32
_OUTLINE_BITS = 2  # of shelves: four of them, two of which have their upper place in common


class Options(queries.KeywordOptions, frozen=True):
    """The records, and the number of possible keywords."""

    records: Annotated[
        int, msgspec.Meta(ge=1, le=1 << 20, description="records of the database, each with a keyword")
    ] = 1024
    keyword_bits: Annotated[
        int, msgspec.Meta(ge=1, le=_MAX_BITS, description="bits of a keyword, which is a number")
    ] = 16


class ConstantWeightPir(OfProducts[int], KeywordRetrieval[int]):
    """Keywords are numbers of fixed length: :mod:`.keyword_table`, :mod:`ciphermark_circuits.constant_weight`."""

    name = "constant-weight-pir"
    title = "private retrieval of a record of a database by its keyword (constant-weight codes)"
    schemes: tuple[Scheme, ...] = ("bfv", "bgv")
    stages = (Stage("answer"),)
    Options = Options
    is_literal = True  # else equal plaintexts would be multiplied once, and the work depend on the values
    pass_s = 1.0
    max_shared_bits: ClassVar[int] = _MAX_BITS
    parts: ClassVar[tuple[str, str]] = ("lower places", "upper places")

    def require_scheme(self, scheme: Scheme) -> None:
        """Raise ``Unsupported`` for another scheme, and for more records than keywords."""
        super().require_scheme(scheme)
        options = self.options
        if options.records > 1 << options.keyword_bits:
            raise Unsupported(
                f"{options.records} records have a keyword each, and of {options.keyword_bits} bits there are "
                f"{1 << options.keyword_bits}"
            )

    def keys(self, parameters: Parameters) -> KeyRequest:
        """The keys of the expansion's rotations, which do not depend on the database, and of the product."""
        steps = expansion.steps(parameters.ring_dimension, self.layout(parameters).length)
        return KeyRequest.of(relinearization=True, rotations=steps)

    def server_bytes(self, parameters: Parameters) -> int:
        layout, primes = self.layout(parameters), len(parameters.moduli)
        ciphertexts = self.ciphertexts(layout)
        return server_bytes(layout, self.options.records, primes, ciphertexts)

    def ciphertexts(self, layout: KeywordTable) -> int:
        """The number of ciphertexts in the server's memory at once: one for each code place, and one in NTT form."""
        return 2 * layout.length

    def outline(self, parameters: Parameters) -> Workload[int, Integers]:
        """A database of at most four shelves, all of which are full where there are enough records."""
        options, shared = self.options, self.layout(parameters).shared_bits
        bits = min(options.keyword_bits, shared + _OUTLINE_BITS)
        return self.with_less({"records": min(options.records, 1 << bits), "keyword_bits": bits})

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        bits = int(values.get("keyword_bits", Options().keyword_bits))
        return user_records.record_options(name, data, values, lambda keyword: _complaint(keyword, bits))

    def numbers(self) -> Mapping[int, int]:
        options, own = self.options, self.own()
        if own is None:
            return _numbers(options.records, options.keyword_bits, options.database_seed)
        return {int(keyword): number for keyword, number in own.numbers.items()}

    def another(self, generator: np.random.Generator) -> int:
        """A keyword that is not in the database, drawn uniformly; one of the database where it has all."""
        keywords = np.sort(np.fromiter(self.numbers(), dtype=np.int64))
        free = (1 << self.options.keyword_bits) - keywords.size
        if free == 0:
            return int(generator.choice(keywords))
        rank = int(generator.integers(free))
        # So many of the free numbers are below each known one.
        below = keywords - np.arange(keywords.size)
        return rank + int(np.searchsorted(below, rank, side="right"))

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """The slots of 2^(−rounds)·(X^a + X^b), a and b the places of the keyword's code word. Raises ``UserError`` for
        a keyword outside of the range of these options.
        """
        bits = self.options.keyword_bits
        if not 0 <= given < 1 << bits:
            raise UserError(f"{given} is no keyword: those of {bits} bits are 0 to {(1 << bits) - 1}")
        layout = self.layout(parameters)
        return [expansion.packed(parameters, layout.code(given), layout.length)]

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int:
        return 1

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """The query's expansion, and two ``parts`` of the selection. Makes the database and its layout."""
        layout = self.layout(evaluator.parameters)
        places = expansion.expanded(evaluator, inputs[0], layout.length)
        shelves = layout.stored(dict(zip(self.numbers(), self.values(), strict=True)))
        selected = self.selected(evaluator, places, [*shelves], [*zip(*shelves.values(), strict=True)])
        return {"expansion": places, **dict(zip(self.parts, selected, strict=True))}

    def selected(
        self,
        evaluator: Evaluator,
        places: Handles,
        codes: Sequence[constant_weight.Code],
        stores: Sequence[Sequence[Vector]],
    ) -> tuple[list[Handle], list[Handle]]:
        """The results of each of the two ``parts``. The second has the selected plaintext of each store, which has one
        plaintext for each code.
        """
        return constant_weight.grouped(evaluator, places, codes, stores)

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Integers:
        try:
            value = self.layout(parameters).value([*outputs], given)
        except ValueError:
            return self.no_record()
        return self.absent() if value is None else value

    def layout(self, parameters: Parameters) -> KeywordTable:
        """The layout of records; raises ``Unsupported`` for keywords of too many bits."""
        options = self.options
        return KeywordTable.of(options.keyword_bits, options.value_bytes, parameters, self.max_shared_bits)


class PublishedConstantWeightPir(ConstantWeightPir):
    """As published, in bfv: one record per plaintext, and one product of ciphertexts with its relinearization per
    record.
    """

    name = "constant-weight-pir-published"
    title = "private retrieval of a record by its keyword (constant-weight codes, as published)"
    schemes = ("bfv",)
    pass_s = 4.0
    max_shared_bits = 0
    parts = ("code words", "records")

    def ciphertexts(self, layout: KeywordTable) -> int:
        """One for each code place, one for each record, and one in NTT form."""
        return layout.length + 2 * max_plaintexts(layout, self.options.records)

    def selected(
        self,
        evaluator: Evaluator,
        places: Handles,
        codes: Sequence[constant_weight.Code],
        stores: Sequence[Sequence[Vector]],
    ) -> tuple[list[Handle], list[Handle]]:
        return constant_weight.one_by_one(evaluator, places, codes, stores)


@lru_cache(maxsize=2)
def _numbers(records: int, bits: int, seed: int) -> dict[int, int]:
    """Keywords of generated records, all different, and the number of each record."""
    drawn = np.random.default_rng([seed, bits]).choice(1 << bits, size=records, replace=False)
    return {int(keyword): number for number, keyword in enumerate(drawn)}


def _complaint(keyword: bytes, bits: int) -> str | None:
    """The fault of a keyword of a file. A valid keyword has ASCII digits, without leading zeros, and is below
    2^bits.
    """
    text = keyword.decode()
    is_number = text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
    if is_number and int(text) < 1 << bits:
        return None
    return f"is no number from 0 to {(1 << bits) - 1} (keyword_bits: {bits})"


WORKLOADS = (ConstantWeightPir(), PublishedConstantWeightPir())
