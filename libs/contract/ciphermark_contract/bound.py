"""An operation bound to its operands: the only object that is timed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import repeat
from time import perf_counter_ns
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

Handle: TypeAlias = Any  # a library's own ciphertext or plaintext object
Row: TypeAlias = Sequence[Any]  # the operands of one execution of an operation on one ciphertext


class Collections(NamedTuple):
    """The work of a garbage collector during a run: its cycles, and the nanoseconds for which it stopped the loop."""

    cycles: int = 0
    paused_ns: int = 0

    def __or__(self, other: Collections) -> Collections:
        """The work of both."""
        return Collections(self.cycles + other.cycles, self.paused_ns + other.paused_ns)

    def since(self, before: Collections) -> Collections:
        """The work after that of ``before``."""
        return Collections(self.cycles - before.cycles, self.paused_ns - before.paused_ns)


class Bound(ABC):
    """An operation bound to its operands: the only object that is timed. See also :func:`collections_of`."""

    prepares_in_run = (
        False  # whether ``run`` does more than it times: then its time cannot be measured from outside
    )

    @abstractmethod
    def run(self, loops: int) -> int:
        """Execute ``loops`` times over all rows; return the elapsed nanoseconds of the whole loop."""

    @abstractmethod
    def results(self) -> list[Handle]:
        """The results of the last execution, one per row.

        A result is a vector for ``decrypt``, a list of handles for an operation with several results, else a handle.
        """


def collections_of(bound: Bound) -> Collections:
    """The collections during the last run: its attribute ``collections``. Libraries without a collector have none."""
    collections: Collections = getattr(bound, "collections", Collections())
    return collections


class PythonBound(Bound):
    """The plain Python loop, for libraries that are called from Python."""

    def __init__(self, function: Callable[..., Handle], rows: Sequence[Row]) -> None:
        self._function = function
        self._rows = [tuple(row) for row in rows]
        self._results: list[Handle] = []

    def run(self, loops: int) -> int:
        """See :meth:`Bound.run`. A single row, the common case, has no inner loop. Of several, the results before are
        freed on the clock, as they are in the loop over one row.
        """
        function = self._function
        if len(self._rows) == 1:
            (row,) = self._rows
            start = perf_counter_ns()
            for _ in repeat(None, loops):
                result = function(*row)
            elapsed = perf_counter_ns() - start
            self._results = [result]
            return elapsed
        start = perf_counter_ns()
        for _ in repeat(None, loops):
            self._results = [function(*row) for row in self._rows]
        return perf_counter_ns() - start

    def results(self) -> list[Handle]:
        return self._results


Vector: TypeAlias = npt.NDArray[Any]  # int64 for bfv and bgv, float64 for ckks
