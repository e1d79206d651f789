"""Retrieval of a record by its keyword: what all its protocols have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_core.descriptor import Value
from ciphermark_workloads.retrieval import stored
from ciphermark_workloads.retrieval.database import Generated
from ciphermark_workloads.retrieval.queries import Queried, Queries
from ciphermark_workloads.retrieval.symbols import NO_BYTE, Integers
from ciphermark_workloads.retrieval.work import Work
from ciphermark_workloads.workload import Input

ABSENT = -2  # the output for a keyword that the database does not have: no byte, and not NO_BYTE
_ABSENT_SHARE = 0.25  # of the keywords that are asked for


class Options(Queries, frozen=True):
    """The records. The keyword that a client asks for is no option: the server is told all options."""

    records: Annotated[
        int, msgspec.Meta(ge=1, le=1 << 20, description="records of the database, each with a keyword")
    ] = 4096
    value_bytes: Annotated[int, msgspec.Meta(ge=1, le=1 << 15, description="bytes of a record's value")] = 256
    database_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="what the bytes of the database are made of")
    ] = 1


class KeywordRetrieval(Queried[Input, Integers]):
    """The input is a keyword, three of four times one that the database has; the output the bytes of its value, or
    :data:`ABSENT` alone.
    """

    @abstractmethod
    def numbers(self) -> Mapping[Input, int]:
        """The keywords of all records, in order, and the number of each record."""

    @abstractmethod
    def another(self, generator: np.random.Generator) -> Input:
        """A keyword that the database does not have, as long as there is one."""

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        return stored.record_options(name, data, values)

    def work(self) -> Work:
        """Of the values alone: whatever else records have is the protocol's."""
        options = self.options
        return Work(options.records * options.value_bytes, options.value_bytes)

    def input(self, seed: int, data: Any) -> Input:
        """A keyword that the database has, each alike likely, or another."""
        generator = np.random.default_rng(seed)
        if generator.random() < _ABSENT_SHARE:
            return self.another(generator)
        return [*self.numbers()][int(generator.integers(self.options.records))]

    def reference(self, given: Input) -> Integers:
        number, own = self.numbers().get(given), self.own()
        if number is None:
            return self.absent()
        if own is not None:
            return np.frombuffer(own.values[number], dtype=np.uint8).astype(np.int64)
        made: Integers = self._generated().rows(number, number + 1)[0].astype(np.int64)
        return made

    def values(self) -> Iterable[bytes]:
        """The values of all records, in order."""
        own = self.own()
        if own is not None:
            return own.values
        return (row.tobytes() for row in self._generated().rows(0, self.options.records))

    def own(self) -> stored.Records | None:
        """The user's own records, where there are any."""
        options = self.options
        if not options.database:
            return None
        return stored.records(options.database, options.records, options.value_bytes)

    def absent(self) -> Integers:
        """The output for a keyword that the database does not have."""
        return np.full(1, ABSENT, dtype=np.int64)

    def no_record(self) -> Integers:
        """The output where what was decrypted is no record."""
        return np.full(self.options.value_bytes, NO_BYTE, dtype=np.int64)

    def _generated(self) -> Generated:
        options = self.options
        return Generated(options.records, options.value_bytes, options.database_seed)
