"""A probabilistic batch code: every element lies in three of b = 1.5k buckets, and k indices are looked up in as many
buckets, one in each (Angel et al., "PIR with compressed queries and amortized query processing", IEEE S&P 2018). Pure.

A third of the buckets belongs to each of three hash functions. What is in which bucket follows from n and k alone, so
that client and server need not tell each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_workloads.retrieval.symbols import Integers

HASHES = 3
_Words: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """``buckets`` and ``positions`` tell of every element its bucket by each hash function, and where in the bucket it
    is, both of shape (n, 3); ``elements`` what is there, of shape (elements of the fullest bucket, buckets), −1 where
    nothing is.
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
        """How many buckets there are."""
        return int(self.elements.shape[1])

    def element_at(self, first: int, buckets: int, start: int, stop: int) -> Integers:
        """The elements at positions from ``start`` to before ``stop`` of as many buckets from the ``first`` on: of
        shape (positions, buckets), −1 where there is none.
        """
        found = np.full((stop - start, buckets), -1, dtype=np.int64)
        there = self.elements[start:stop, first : first + buckets]
        found[:, : there.shape[1]] = there
        return found


def count_of(wanted: int) -> int:
    """b: a bucket and a half for each index, a third of them for each hash function."""
    return HASHES * -(-wanted // 2)


@lru_cache(maxsize=4)
def of(elements: int, wanted: int) -> Buckets:
    """The code for n elements of which k are wanted at once; both parties make it once."""
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
    table = np.full((int(positions.max()) + 1, count_of(wanted)), -1, dtype=np.int64)
    table[positions, buckets] = np.arange(elements)[:, np.newaxis]
    return Buckets(buckets, positions, table)


def matched(choices: Sequence[Sequence[int]]) -> list[int] | None:
    """A choice of each, all different; ``None`` where there is none. By augmenting paths, which overlook none."""
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
    """A hash of 63 bits of each index: the finalizer of SplitMix64 (Steele et al., OOPSLA 2014), at three places far
    apart of its sequence.
    """
    words: _Words = np.arange(elements, dtype=np.uint64) + np.uint64(1 + (number << 40))
    words *= np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((words ^ (words >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
