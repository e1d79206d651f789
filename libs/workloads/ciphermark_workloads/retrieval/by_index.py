"""Retrieval by an index: what all its protocols have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_workloads.retrieval import stored
from ciphermark_workloads.retrieval.database import Database, Generated
from ciphermark_workloads.retrieval.queries import Queried, Queries
from ciphermark_workloads.retrieval.symbols import Integers
from ciphermark_workloads.retrieval.work import Work
from ciphermark_workloads.workload import Stage


class Options(Queries, frozen=True):
    """The database. The index that a client asks for is no option: the server is told all options."""

    elements: Annotated[int, msgspec.Meta(ge=1, le=1 << 22, description="elements of the database")] = 4096
    element_bytes: Annotated[
        int, msgspec.Meta(ge=1, le=1 << 16, description="bytes of an element of the database")
    ] = 256
    database_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="what the bytes of the database are made of")
    ] = 1


class IndexRetrieval(Queried[int, Integers]):
    """The input is an index, 0 ≤ index < n, made of the seed; the output the bytes of the element there."""

    schemes: tuple[Scheme, ...] = ("bfv", "bgv")
    stages = (Stage("answer"),)
    Options = Options
    is_literal = True  # else equal plaintexts would be multiplied once, and the work depend on the database

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        return stored.element_options(name, data, values)

    def input(self, seed: int, data: Any) -> int:
        """One index of all, alike likely."""
        return int(np.random.default_rng(seed).integers(self.options.elements))

    def work(self) -> Work:
        options = self.options
        return Work(options.elements * options.element_bytes, options.element_bytes)

    def require_index(self, index: int) -> None:
        """Raise ``UserError`` for an index that the database does not have."""
        if not 0 <= index < self.options.elements:
            raise UserError(
                f"there is no element {index}: the database has {self.options.elements}, numbered from 0"
            )

    def reference(self, given: int) -> Integers:
        found: Integers = self.database().rows(given, given + 1)[0].astype(np.int64)
        return found

    def database(self) -> Database:
        """What the server has."""
        return database_of(self.options)


def database_of(options: Options) -> Database:
    """Made of the seed, or the user's own; raises ``UserError`` where that is not in this process's folder."""
    if options.database:
        return stored.elements(options.database, options.elements, options.element_bytes)
    return Generated(options.elements, options.element_bytes, options.database_seed)
