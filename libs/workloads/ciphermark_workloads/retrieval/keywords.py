"""Records of a database that are found by keywords: a table in four parts, with one place in each that a record may
have (cuckoo hashing: Pagh and Rodler, ESA 2001; Fotakis et al., STACS 2003). Pure.

A record is a tag of 8 bytes, which is a keyed hash of the keyword, the length of the value in 2 bytes, and the value.
Where a record may be follows from its keyword and the seed of the hash; the place that it has, from all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_core.errors import Unsupported, UserError
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.symbols import Integers

PARTS = 4
TAG_BYTES = 8
LENGTH_BYTES = 2
HEAD_BYTES = TAG_BYTES + LENGTH_BYTES
KEYWORD_BYTES = 16
_LOAD = 0.9  # of places that are taken; 0.977 is where there is no arrangement any more (four places each)
_EVICTIONS = 500
_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Table:
    """Where records of ``count`` keywords may be: places are numbered so that the part is the number modulo four."""

    count: int
    hash_seed: int

    @property
    def places(self) -> int:
        """Of all parts together."""
        return PARTS * int(np.ceil(self.count / _LOAD / PARTS))

    def choices(self, keyword: bytes) -> tuple[int, ...]:
        """The place of a keyword in each part."""
        words = np.frombuffer(self._hashed(keyword, b"places", 8 * PARTS), dtype="<u8")
        height = self.places // PARTS
        return tuple(int(word) % height * PARTS + part for part, word in enumerate(words))

    def tag(self, keyword: bytes) -> bytes:
        """What a record of the keyword begins with; another keyword has the same with a chance of 2^-64."""
        return self._hashed(keyword, b"tag", TAG_BYTES)

    def record(self, keyword: bytes, value: bytes) -> bytes:
        """The bytes of a record."""
        return self.tag(keyword) + len(value).to_bytes(LENGTH_BYTES, "big") + value

    def arranged(self, keywords: Sequence[bytes]) -> Integers:
        """The number of the keyword in each place, −1 where none is.

        Raises ``UserError`` for a keyword that is there twice, and ``Unsupported`` where one finds no place after 500
        evictions.
        """
        if len(set(keywords)) < len(keywords):
            raise UserError("a keyword is there twice: a database has one record of each")
        choices = [self.choices(keyword) for keyword in keywords]
        generator = np.random.default_rng(self.hash_seed)
        places = np.full(self.places, _NOBODY, dtype=np.int64)
        for number in range(len(keywords)):
            self._insert(number, places, choices, generator)
        return places

    def _insert(
        self,
        number: int,
        places: Integers,
        choices: Sequence[tuple[int, ...]],
        generator: np.random.Generator,
    ) -> None:
        last = _NOBODY
        for _ in range(_EVICTIONS):
            free = next((place for place in choices[number] if places[place] == _NOBODY), None)
            if free is not None:
                places[free] = number
                return
            others = [place for place in choices[number] if place != last]  # not back at once
            last = others[int(generator.integers(len(others)))]
            places[last], number = number, int(places[last])
        raise Unsupported(
            f"a record of {len(choices)} finds no place among {len(places)} after {_EVICTIONS} evictions: take another "
            "hash_seed"
        )

    def _hashed(self, keyword: bytes, purpose: bytes, size: int) -> bytes:
        key = self.hash_seed.to_bytes(8, "big")
        return hashlib.blake2b(keyword, digest_size=size, key=key, person=purpose).digest()


def value_in(record: Integers, tag: bytes) -> Integers | None:
    """The value in a record with this tag; ``None`` in one with another tag, or of no keyword. Bytes are as
    :func:`.symbols.bytes_of` has them.

    Raises ``ValueError`` for what is no record.
    """
    length = int(record[TAG_BYTES]) << 8 | int(record[TAG_BYTES + 1])
    if (record < 0).any() or length > record.size - HEAD_BYTES:
        raise ValueError("what was decrypted is no record")
    if length == 0 or not np.array_equal(record[:TAG_BYTES], np.frombuffer(tag, dtype=np.uint8)):
        return None
    return record[HEAD_BYTES : HEAD_BYTES + length]


def generated(count: int, seed: int) -> list[bytes]:
    """Keywords of 16 bytes, made of a seed; two of them are equal with a chance below n²·2^-129."""
    drawn: Rows = np.random.default_rng([seed, PARTS]).integers(
        0, 256, (count, KEYWORD_BYTES), dtype=np.uint8
    )
    return [row.tobytes() for row in drawn]
