"""Batches: several elements at once, by a probabilistic batch code over FastPIR.

Every element lies in three of b = 1.5k buckets, and k indices are looked up in k different buckets (Angel et al., "PIR
with compressed queries and amortized query processing", IEEE S&P 2018). Each of three hash functions has a third of the
buckets. The contents of buckets follow from n and k alone, so client and server exchange nothing.

In a group of g buckets, g a power of two, elements at the same position are neighbors in the slots, and each column
returns g slots further. One answer thus has an element of each of g buckets, and rotations serve all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from ciphermark_contract.interfaces import Vector
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.retrieval import columns, queries, user_records
from ciphermark_workloads.retrieval.columns import ColumnRetrieval, Layout, RowsOf
from ciphermark_workloads.retrieval.database import Database, Integers, Rows
from ciphermark_workloads.retrieval.queries import Work
from ciphermark_workloads.workload import Workload

HASHES = 3
_Words: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """``buckets`` and ``positions`` give, for each element and hash function, its bucket and its place there; both have
    shape (n, 3). ``elements`` has shape (elements of the fullest bucket, buckets), with −1 for empty places.
    """

    buckets: Integers
    positions: Integers
    elements: Integers

    @property
    def largest(self) -> int:
        """Elements of the fullest bucket."""
        return len(self.elements)

    @property
    def count(self) -> int:
        """The number of buckets."""
        return int(self.elements.shape[1])

    def element_at(self, first: int, buckets: int, start: int, stop: int) -> Integers:
        """The elements at positions from ``start`` to before ``stop`` of ``buckets`` buckets from ``first`` on: shape
        (positions, buckets), −1 for empty places.
        """
        elements = np.full((stop - start, buckets), -1, dtype=np.int64)
        there = self.elements[start:stop, first : first + buckets]
        elements[:, : there.shape[1]] = there
        return elements


def bucket_count(wanted: int) -> int:
    """b: one and a half buckets for each index, a third of all for each hash function."""
    return HASHES * -(-wanted // 2)


@lru_cache(maxsize=4)
def batch_code(elements: int, wanted: int) -> Buckets:
    """The code for n elements and queries of k; both parties compute it once."""
    share = -(-wanted // 2)
    buckets = np.stack(
        [_hashed(elements, number) % share + number * share for number in range(HASHES)], axis=1
    )
    positions = np.empty_like(buckets)
    for number in range(HASHES):
        order = np.argsort(buckets[:, number], kind="stable")
        loads = np.bincount(buckets[:, number] - number * share, minlength=share)
        starts = np.repeat(np.cumsum(loads) - loads, loads)
        positions[order, number] = np.arange(elements) - starts
    table = np.full((int(positions.max()) + 1, bucket_count(wanted)), -1, dtype=np.int64)
    table[positions, buckets] = np.arange(elements)[:, np.newaxis]
    return Buckets(buckets, positions, table)


def matched(choices: Sequence[Sequence[int]]) -> list[int] | None:
    """One choice of each, all different; ``None`` where there is none. Augmenting paths make the search complete."""
    owners: dict[int, int] = {}

    def placed(item: int, seen: set[int]) -> bool:
        for bucket in choices[item]:
            if bucket not in seen:
                seen.add(bucket)
                if bucket not in owners or placed(owners[bucket], seen):
                    owners[bucket] = item
                    return True
        return False

    if not all(placed(item, set()) for item in range(len(choices))):
        return None
    by_item = {item: bucket for bucket, item in owners.items()}
    return [by_item[item] for item in range(len(choices))]


def _hashed(elements: int, number: int) -> Integers:
    """A hash of 63 bits of each index: the finalizer of SplitMix64 (Steele et al., OOPSLA 2014), at three distant
    places of its sequence.
    """
    words: _Words = np.arange(elements, dtype=np.uint64) + np.uint64(1 + (number << 40))
    words *= np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((words ^ (words >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)


class Options(queries.IndexOptions, frozen=True):
    """The database, and the number of elements that are requested at once."""

    wanted: Annotated[int, msgspec.Meta(ge=16, le=1024, description="elements per query of a client")] = 64


class BatchPir(ColumnRetrieval[Sequence[int]]):
    """The input is k different indices, made from the seed; the output is their elements in sequence, k·S bytes."""

    name = "batch-pir"
    title = "private retrieval of several elements of a database at once (batch code over FastPIR)"
    Options = Options
    pass_s = 0.3

    def require_scheme(self, scheme: Scheme) -> None:
        """Raise ``Unsupported`` for another scheme, and for more requested elements than exist."""
        super().require_scheme(scheme)
        options = self.options
        if options.wanted > options.elements:
            raise Unsupported(
                f"{options.wanted} elements are wanted, and the database has {options.elements}"
            )

    def server_bytes(self, parameters: Parameters) -> int:
        database: int = self.options.elements * self.options.element_bytes
        return database + super().server_bytes(parameters)

    def outline(self, parameters: Parameters) -> Workload[Sequence[int], Integers]:
        """A database with as many elements as a row has slots, or as are requested: some blocks, and a few columns."""
        options, row = self.options, parameters.ring_dimension // 2
        return self.with_less(
            {
                "elements": min(options.elements, max(row, options.wanted)),
                "element_bytes": min(options.element_bytes, columns.FEW_BYTES),
            }
        )

    def work(self) -> Work:
        options = self.options
        return Work(options.elements * options.element_bytes, options.element_bytes, options.wanted)

    def groups(self, layout: Layout) -> int:
        """The number of answers: the buckets, in groups of as many as the stride."""
        return -(-bucket_count(self.options.wanted) // layout.stride)

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        return user_records.element_options(name, data, values)

    def input(self, seed: int, data: Any) -> Sequence[int]:
        """Distinct indices, drawn uniformly."""
        options = self.options
        drawn = np.random.default_rng(seed).choice(options.elements, size=options.wanted, replace=False)
        return [int(index) for index in drawn]

    def require_room(self, given: Sequence[int], parameters: Parameters) -> None:
        """Raise ``Unsupported`` for indices without an assignment to distinct buckets. There is no second round for the
        rest: requesting one would reveal information about the indices to the server.
        """
        self._places(given)

    def vectors(self, stage: str, given: Sequence[int], parameters: Parameters) -> list[Vector]:
        """A vector for each block of each group of buckets; it selects nothing in a bucket without a lookup. Raises
        ``UserError`` for indices outside of the database, and as :meth:`require_room` does.
        """
        layout, places = self.layout(parameters), self._places(given)
        return [
            vector
            for group in range(self.groups(layout))
            for vector in columns.query_vectors(
                (index for other, index in map(_in_group(layout), places) if other == group), layout
            )
        ]

    def tables(self, layout: Layout) -> Iterator[RowsOf]:
        """One for each group of buckets."""
        whole = self.database().rows(0, self.options.elements)
        return (self._rows_of(whole, layout, group) for group in range(self.groups(layout)))

    def output(self, outputs: Sequence[Vector], given: Sequence[int], parameters: Parameters) -> Integers:
        layout = self.layout(parameters)
        elements = (
            columns.element(outputs[group], index, layout)
            for group, index in map(_in_group(layout), self._places(given))
        )
        return np.concatenate([*elements])

    def reference(self, given: Sequence[int]) -> Integers:
        database = self.database()
        elements = [database.rows(index, index + 1)[0].astype(np.int64) for index in given]
        return np.concatenate(elements)

    def database(self) -> Database:
        """The server's database."""
        return queries.database_of(self.options)

    def _rows_of(self, whole: Rows, layout: Layout, group: int) -> Callable[[int], Rows]:
        code, height = self._code(), layout.row // layout.stride

        def rows_of(block: int) -> Rows:
            start, stop = block * height, min((block + 1) * height, code.largest)
            elements = code.element_at(group * layout.stride, layout.stride, start, stop).reshape(-1)
            return np.where(elements[:, np.newaxis] < 0, np.uint8(0), whole[elements])

        return rows_of

    def _places(self, given: Sequence[int]) -> list[tuple[int, int]]:
        """For each index: the bucket of its lookup, and its position there."""
        options, code = self.options, self._code()
        missing = [index for index in given if not 0 <= index < options.elements]
        if missing:
            raise UserError(
                f"there is no element {missing[0]}: the database has {options.elements}, numbered from 0"
            )
        buckets = matched([code.buckets[index].tolist() for index in given])
        if buckets is None:
            raise Unsupported(
                f"{len(given)} indices cannot be assigned to different buckets of {code.count}. "
                "All indices must differ. Rarely, different indices collide: put some of them into another batch"
            )
        hashes = [bucket // (code.count // HASHES) for bucket in buckets]
        return [
            (bucket, int(code.positions[index, number]))
            for index, bucket, number in zip(given, buckets, hashes, strict=True)
        ]

    def _code(self) -> Buckets:
        return batch_code(self.options.elements, self.options.wanted)

    def layout_at(self, row: int, bits: int) -> Layout:
        """The layout with as many neighboring buckets as a row has room for, up to the first power of two that holds
        all.
        """
        size, code = self.options.element_bytes, self._code()
        width = max(1, row // Layout(1, size, row, bits).columns)
        stride = min(1 << (width.bit_length() - 1), 1 << (code.count - 1).bit_length())
        return Layout(code.largest * stride, size, row, bits, stride)


def _in_group(layout: Layout) -> Callable[[tuple[int, int]], tuple[int, int]]:
    """A function from a bucket and a position to a group's layout: the group, and the number of the element in it."""

    def placed(place: tuple[int, int]) -> tuple[int, int]:
        group, neighbour = divmod(place[0], layout.stride)
        return group, place[1] * layout.stride + neighbour

    return placed


WORKLOADS = (BatchPir(),)
