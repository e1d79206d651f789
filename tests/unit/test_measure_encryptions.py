from __future__ import annotations

from itertools import count

import numpy as np

from ciphermark_measure.session import Encryptions


def made(max_bytes=1000, size=100):
    """Encryptions whose bytes tell which one of all they are."""
    numbers = count()
    return Encryptions(lambda _: next(numbers).to_bytes(size, "big"), max_bytes)


def number(found):
    return int.from_bytes(found, "big")


def test_equal_vectors_are_encrypted_once():
    kept = made()
    one, other = np.arange(8), np.arange(1, 9)
    assert [number(kept.of(item)) for item in (one, other, one.copy(), other, one)] == [0, 1, 0, 1, 0]


def test_vectors_of_equal_bytes_and_other_types_are_others():
    kept = made()
    assert number(kept.of(np.zeros(4, dtype=np.int64))) != number(kept.of(np.zeros(4, dtype=np.float64)))


def test_what_is_full_starts_again():
    kept = made(max_bytes=250)
    vectors = [np.array([value]) for value in range(3)]
    assert [number(kept.of(item)) for item in vectors] == [0, 1, 2]  # the third one empties it
    assert [number(kept.of(vectors[index])) for index in (2, 0, 2)] == [2, 3, 2]


def test_what_is_too_large_is_not_kept():
    kept = made(max_bytes=99)
    assert [number(kept.of(np.zeros(1))) for _ in range(2)] == [0, 1]


def test_a_level_is_brought_down_once():
    lowerings = []

    def lower(data, level):
        lowerings.append(level)
        return data + bytes([level])

    kept, vector = Encryptions(lambda _: b"fresh", lower=lower), np.arange(8)
    assert [kept.of(vector, level) for level in (None, 2, 1, 2)] == [
        b"fresh",
        b"fresh\x02",
        b"fresh\x01",
        b"fresh\x02",
    ]
    assert lowerings == [2, 1]
