"""The common part of retrieval by index and by keyword: options, the encryption of queries, and the data that a query
covers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from ciphermark_contract.program import Program
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import Metric, register
from ciphermark_core.model import Scheme
from ciphermark_workloads.options import FILE, NEWER
from ciphermark_workloads.retrieval import encoded_databases, user_records
from ciphermark_workloads.retrieval.database import NO_BYTE, Database, Generated, Integers
from ciphermark_workloads.workload import Input, Judgement, Layered, Output, Stage, Truth, Workload


class Queries(msgspec.Struct, frozen=True):
    """The options of all retrieval protocols."""

    public_key_queries: Annotated[
        bool,
        Meta(description="encrypt queries with the public key, though the library writes seeds", extra=NEWER),
    ] = False
    database: Annotated[
        str,
        Meta(
            description="a file of your own in place of a generated database: records.bin, records.csv",
            extra=FILE,
        ),
    ] = ""


class Queried(Layered[Input, Output]):
    """Queries are encrypted with the secret key and written with seeds where a library supports this: half the bytes,
    and a fifth of the noise. An option selects the public key, as in published protocols.
    """

    family = "retrieval"

    @property
    def is_seeded(self) -> bool:
        return not self.options.public_key_queries

    @abstractmethod
    def work(self) -> Work:
        """The data that a query covers, and the data that it retrieves."""

    def with_less(self, values: Mapping[str, Value]) -> Workload[Input, Output]:
        """This workload over a generated database, with some options changed: see :meth:`outline`."""
        return self.with_options({**msgspec.to_builtins(self.options), "database": "", **values})

    def server_results(self, program: Program, threads: int) -> Mapping[str, float]:
        """The results for its store: see :mod:`.encoded_databases`."""
        return encoded_databases.results(program, threads)

    def judge(self, found: Output, truth: Truth[Input, Output]) -> Judgement:
        """Compares byte for byte; results include :meth:`work`."""
        return replace(super().judge(found, truth), results=self.work().results)


DATABASE_SIZE = register(
    Metric(
        "database_size",
        "bytes",
        None,
        1.0,
        "size of the database",
        "Bytes of the database that one answer is over: elements times their length.",
    )
)
ANSWERS = register(
    Metric("answers", "elements", None, 1.0, "elements got", "Elements that a client gets by one query.")
)
ANSWERED_SIZE = register(
    Metric(
        "answered_size",
        "bytes",
        None,
        1.0,
        "size of what is got",
        "Bytes of the elements that a client gets by one query.",
    )
)


@dataclass(frozen=True, slots=True)
class Work:
    """For one query: the number of bytes that its answer covers, and the number and size of the retrieved elements."""

    database_bytes: int
    element_bytes: int
    elements: int = 1

    @property
    def results(self) -> Mapping[str, float]:
        """The results, by the names of metrics."""
        return {
            DATABASE_SIZE.name: float(self.database_bytes),
            ANSWERS.name: float(self.elements),
            ANSWERED_SIZE.name: float(self.elements * self.element_bytes),
        }


class IndexOptions(Queries, frozen=True):
    """The database. The index is not an option, since the server receives all options."""

    elements: Annotated[int, Meta(ge=1, le=1 << 22, description="elements of the database")] = 4096
    element_bytes: Annotated[
        int, Meta(ge=1, le=1 << 16, description="bytes of an element of the database")
    ] = 256
    database_seed: Annotated[int, Meta(ge=0, lt=1 << 32, description="seed of the database")] = 1


class IndexRetrieval(Queried[int, Integers]):
    """The input is an index, 0 ≤ index < n, made from the seed; the output the bytes of the element there."""

    schemes: tuple[Scheme, ...] = ("bfv", "bgv")
    stages = (Stage("answer"),)
    Options = IndexOptions
    is_literal = True  # otherwise equal plaintexts would be multiplied once, and the cost depend on data

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        return user_records.element_options(name, data, values)

    def input(self, seed: int, data: Any) -> int:
        """An index, drawn uniformly."""
        return int(np.random.default_rng(seed).integers(self.options.elements))

    def work(self) -> Work:
        options = self.options
        return Work(options.elements * options.element_bytes, options.element_bytes)

    def require_index(self, index: int) -> None:
        """Raise ``UserError`` for an index outside of the database."""
        if not 0 <= index < self.options.elements:
            raise UserError(
                f"there is no element {index}: the database has {self.options.elements}, numbered from 0"
            )

    def reference(self, given: int) -> Integers:
        element: Integers = self.database().rows(given, given + 1)[0].astype(np.int64)
        return element

    def database(self) -> Database:
        """The server's database."""
        return database_of(self.options)


def database_of(options: IndexOptions) -> Database:
    """A database made from the seed, or the user's own; raises ``UserError`` where that is not in this process's
    folder.
    """
    if options.database:
        return user_records.elements(options.database, options.elements, options.element_bytes)
    return Generated(options.elements, options.element_bytes, options.database_seed)


ABSENT = -2  # the output for a keyword that the database does not have: no byte, and not NO_BYTE
_ABSENT_SHARE = 0.25  # of the requested keywords


class KeywordOptions(Queries, frozen=True):
    """The records. The keyword is not an option, since the server receives all options."""

    records: Annotated[
        int, Meta(ge=1, le=1 << 20, description="records of the database, each with a keyword")
    ] = 4096
    value_bytes: Annotated[int, Meta(ge=1, le=1 << 15, description="bytes of a record's value")] = 256
    database_seed: Annotated[int, Meta(ge=0, lt=1 << 32, description="seed of the database")] = 1


class KeywordRetrieval(Queried[Input, Integers]):
    """The input is a keyword, with a probability of three in four one in the database; the output is the bytes of its
    value, or :data:`ABSENT` alone.
    """

    @abstractmethod
    def numbers(self) -> Mapping[Input, int]:
        """The keywords of all records, in order, and the number of each record."""

    @abstractmethod
    def another(self, generator: np.random.Generator) -> Input:
        """A keyword that is not in the database, as long as one exists."""

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        return user_records.record_options(name, data, values)

    def work(self) -> Work:
        """The work for the values only: other parts of records belong to the protocol."""
        options = self.options
        return Work(options.records * options.value_bytes, options.value_bytes)

    def input(self, seed: int, data: Any) -> Input:
        """A keyword of the database, drawn uniformly, or another keyword."""
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
        value: Integers = self._generated().rows(number, number + 1)[0].astype(np.int64)
        return value

    def values(self) -> Iterable[bytes]:
        """The values of all records, in order."""
        own = self.own()
        if own is not None:
            return own.values
        return (row.tobytes() for row in self._generated().rows(0, self.options.records))

    def own(self) -> user_records.Records | None:
        """The user's own records, where there are any."""
        options = self.options
        if not options.database:
            return None
        return user_records.records(options.database, options.records, options.value_bytes)

    def absent(self) -> Integers:
        """The output for a keyword that is not in the database."""
        return np.full(1, ABSENT, dtype=np.int64)

    def no_record(self) -> Integers:
        """The output for a decrypted value that is not a record."""
        return np.full(self.options.value_bytes, NO_BYTE, dtype=np.int64)

    def _generated(self) -> Generated:
        options = self.options
        return Generated(options.records, options.value_bytes, options.database_seed)
