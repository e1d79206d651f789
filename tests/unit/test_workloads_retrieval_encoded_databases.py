"""How fast memory gives what an answer reads: how much is read by whom, whatever it takes."""

from __future__ import annotations

import threading
from itertools import count

import numpy as np
import pytest

from ciphermark_workloads.retrieval import encoded_databases

MIB = 1 << 20


@pytest.fixture
def reads(monkeypatch):
    """The arrays that are read, each with the thread that does; by a clock that is a second further at every look."""
    seen: list[tuple[int, int]] = []
    is_begun = threading.Barrier(2)

    def read(share, rounds):
        if len(seen) < 2:
            is_begun.wait(timeout=60)  # both threads are at work at the same time
        seen.append((threading.get_ident(), rounds * share.nbytes))

    ticks = count()
    monkeypatch.setattr(encoded_databases, "perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(encoded_databases, "_read", read)
    return seen


@pytest.mark.parametrize(
    ("size", "read"),
    [
        (64 * MIB, 256 * MIB),  # four times
        (96 * MIB, 288 * MIB),  # three times: as often as makes 256 MiB or more
        (8192, 256 * MIB),  # of less than 1 MiB, 1 MiB
        (3 << 30, 256 * MIB),  # of more than 256 MiB, 256 MiB
    ],
)
def test_every_thread_reads_its_share_again_and_again(reads, size, read):
    assert encoded_databases.bandwidth(size, threads=2) == read
    assert len(reads) % 2 == 0
    assert {amount for _, amount in reads} == {read // 2}
    assert len({thread for thread, _ in reads}) == 2


def test_all_of_a_share_is_read(monkeypatch):
    shares = []
    monkeypatch.setattr(np, "bitwise_or", type("Or", (), {"reduce": staticmethod(shares.append)}))
    share = np.ones(1000, dtype=np.uint64)
    encoded_databases._read(share, 3)
    assert [each is share for each in shares] == [True] * 3
