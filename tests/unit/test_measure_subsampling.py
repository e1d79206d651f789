from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_measure.experiments.subsampling import (
    executed,
    executed_by_client,
    executed_computing,
    is_computing,
)

CACHES = {"L1d": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}


@pytest.mark.parametrize(
    ("ciphertexts", "row_bytes", "caches", "expected"),
    [
        (1, 1 << 10, CACHES, 1),
        (1, 1 << 30, CACHES, 1),
        (1024, 48 << 10, CACHES, 683),  # 32 MiB hold 682 rows of 48 KiB
        (256, 48 << 10, CACHES, 256),
        (32, 24 << 20, CACHES, 2),
        (32, 1 << 30, CACHES, 1),
        (32, 24 << 20, {}, 32),
    ],
)
def test_as_many_as_exceed_the_last_level_cache_or_all(ciphertexts, row_bytes, caches, expected):
    assert executed(ciphertexts, row_bytes, caches) == expected


@given(
    st.integers(1, 10**6),
    st.integers(1, 1 << 40),
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 1 << 40)),
)
def test_at_min_one_and_never_more_than_there_are(ciphertexts, row_bytes, caches):
    count = executed(ciphertexts, row_bytes, caches)
    assert 1 <= count <= ciphertexts
    assert count == ciphertexts or count * row_bytes > max(caches.values())
    assert 1 <= executed_by_client(count) <= count


@pytest.mark.parametrize(
    ("row_bytes", "row_ns", "expected"),
    [(64, 99, False), (64, 100, True), (1 << 20, 1.6e6, False), (1 << 20, 1.7e6, True)],
)
def test_what_takes_long_for_each_cache_line_computes(row_bytes, row_ns, expected):
    assert is_computing(row_bytes, row_ns) is expected


def test_two_ciphertexts_tell_of_what_computes():
    assert [executed_computing(count) for count in (1, 2, 3, 1000)] == [1, 2, 2, 2]
