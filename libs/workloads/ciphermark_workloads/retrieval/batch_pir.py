"""Batches: several elements at once, by a probabilistic batch code over FastPIR.

Buckets lie side by side: of g buckets, g a power of two, the elements at one position are neighbours in the slots, and
columns come back g slots further each. So one answer has an element of each of g buckets, and rotations serve all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_contract.interfaces import Vector
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Parameters, Scheme
from ciphermark_workloads.retrieval import buckets, by_index, formulas, packing, stored
from ciphermark_workloads.retrieval.by_columns import ColumnRetrieval
from ciphermark_workloads.retrieval.columns import RowsOf
from ciphermark_workloads.retrieval.database import Database, Rows
from ciphermark_workloads.retrieval.layout import Layout
from ciphermark_workloads.retrieval.symbols import Integers
from ciphermark_workloads.retrieval.work import Work
from ciphermark_workloads.workload import Workload


class Options(by_index.Options, frozen=True):
    """The database, and how many of its elements are asked for at once."""

    wanted: Annotated[
        int, msgspec.Meta(ge=16, le=1024, description="elements that a client asks for at once")
    ] = 64


class BatchPir(ColumnRetrieval[Sequence[int]]):
    """The input is k different indices, made of the seed; the output their elements one after the other, k·S bytes."""

    name = "batch-pir"
    title = "private retrieval of several elements of a database at once (batch code over FastPIR)"
    Options = Options
    pass_s = 0.3

    def require_scheme(self, scheme: Scheme) -> None:
        """Raise ``Unsupported`` for another scheme, and for more elements than there are."""
        super().require_scheme(scheme)
        options = self.options
        if options.wanted > options.elements:
            raise Unsupported(
                f"{options.wanted} elements are wanted, and the database has {options.elements}"
            )

    def server_bytes(self, parameters: Parameters) -> int:
        layout = self.layout(parameters)
        database: int = self.options.elements * self.options.element_bytes
        return database + self.groups(layout) * formulas.server_bytes(layout, len(parameters.moduli))

    def outline(self, parameters: Parameters) -> Workload[Sequence[int], Integers]:
        """Of as many elements as a row has slots, or as are wanted: some blocks, and a few columns."""
        options, row = self.options, parameters.ring_dimension // 2
        return self.with_less(
            {
                "elements": min(options.elements, max(row, options.wanted)),
                "element_bytes": min(options.element_bytes, packing.FEW_BYTES),
            }
        )

    def work(self) -> Work:
        options = self.options
        return Work(options.elements * options.element_bytes, options.element_bytes, options.wanted)

    def groups(self, layout: Layout) -> int:
        """How many answers there are: the buckets, as many of them in each as the stride."""
        return -(-buckets.count_of(self.options.wanted) // layout.stride)

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        return stored.element_options(name, data, values)

    def input(self, seed: int, data: Any) -> Sequence[int]:
        """As many indices of all, each alike likely, no two of them equal."""
        options = self.options
        drawn = np.random.default_rng(seed).choice(options.elements, size=options.wanted, replace=False)
        return [int(index) for index in drawn]

    def require_room(self, given: Sequence[int], parameters: Parameters) -> None:
        """Raise ``Unsupported`` for indices that find no bucket each. There is no second round for the rest: that it is
        asked for would tell the server something of the indices.
        """
        self._places(given)

    def vectors(self, stage: str, given: Sequence[int], parameters: Parameters) -> list[Vector]:
        """A vector for each block of each group of buckets. In a bucket that none of the indices is looked up in,
        nothing is selected. Raises ``UserError`` for indices that the database does not have, and as
        :meth:`require_room` does.
        """
        layout, places = self.layout(parameters), self._places(given)
        return [
            vector
            for group in range(self.groups(layout))
            for vector in packing.query_vectors(
                (index for other, index in map(_in_group(layout), places) if other == group), layout
            )
        ]

    def tables(self, layout: Layout) -> Iterator[RowsOf]:
        """One for each group of buckets."""
        whole = self.database().rows(0, self.options.elements)
        return (self._rows_of(whole, layout, group) for group in range(self.groups(layout)))

    def output(self, outputs: Sequence[Vector], given: Sequence[int], parameters: Parameters) -> Integers:
        layout = self.layout(parameters)
        found = (
            packing.element(outputs[group], index, layout)
            for group, index in map(_in_group(layout), self._places(given))
        )
        return np.concatenate([*found])

    def reference(self, given: Sequence[int]) -> Integers:
        database = self.database()
        found = [database.rows(index, index + 1)[0].astype(np.int64) for index in given]
        return np.concatenate(found)

    def database(self) -> Database:
        """What the server has."""
        return by_index.database_of(self.options)

    def _rows_of(self, whole: Rows, layout: Layout, group: int) -> Callable[[int], Rows]:
        code, height = self._code(), layout.row // layout.stride

        def rows_of(block: int) -> Rows:
            start, stop = block * height, min((block + 1) * height, code.largest)
            elements = code.element_at(group * layout.stride, layout.stride, start, stop).reshape(-1)
            return np.where(elements[:, np.newaxis] < 0, np.uint8(0), whole[elements])

        return rows_of

    def _places(self, given: Sequence[int]) -> list[tuple[int, int]]:
        """Of each index the bucket that it is looked up in, and where it is there."""
        options, code = self.options, self._code()
        missing = [index for index in given if not 0 <= index < options.elements]
        if missing:
            raise UserError(
                f"there is no element {missing[0]}: the database has {options.elements}, numbered from 0"
            )
        found = buckets.matched([code.buckets[index].tolist() for index in given])
        if found is None:
            raise Unsupported(
                f"{len(given)} indices do not find a bucket each among {code.count}: each has to differ from all "
                "others, and seldom different ones do not, either; ask for some of them in another batch"
            )
        hashes = [bucket // (code.count // buckets.HASHES) for bucket in found]
        return [
            (bucket, int(code.positions[index, number]))
            for index, bucket, number in zip(given, found, hashes, strict=True)
        ]

    def _code(self) -> buckets.Buckets:
        return buckets.of(self.options.elements, self.options.wanted)

    def layout_at(self, row: int, bits: int) -> Layout:
        """With as many buckets side by side as a row has room for, up to the first power of two that has all."""
        size, code = self.options.element_bytes, self._code()
        width = max(1, row // Layout(1, size, row, bits).columns)
        stride = min(1 << (width.bit_length() - 1), 1 << (code.count - 1).bit_length())
        return Layout(code.largest * stride, size, row, bits, stride)


def _in_group(layout: Layout) -> Callable[[tuple[int, int]], tuple[int, int]]:
    """What a bucket and a position there are in a layout of groups: the group, and the number of the element in it."""

    def placed(place: tuple[int, int]) -> tuple[int, int]:
        group, neighbour = divmod(place[0], layout.stride)
        return group, place[1] * layout.stride + neighbour

    return placed


WORKLOADS = (BatchPir(),)
