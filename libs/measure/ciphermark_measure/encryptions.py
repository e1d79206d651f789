"""Encryptions of vectors, kept as bytes for the other trials of a worker that have the same operands.

They lie in a file and not in memory: every trial reads its operands afresh, so that no ciphertext of one trial is in
another one's peak, and none was seen by a library before.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from typing import IO

from ciphermark_contract.interfaces import Vector

_MOST_BYTES = 1 << 30


class Encryptions:
    """Bytes of ciphertexts by what they hold. What is full is emptied: trials in a row share most."""

    def __init__(self, encrypt: Callable[[Vector], bytes], most_bytes: int = _MOST_BYTES) -> None:
        self._encrypt = encrypt
        self._most_bytes = most_bytes
        self._file: IO[bytes] | None = None
        self._places: dict[bytes, tuple[int, int]] = {}
        self._end = 0

    def of(self, vector: Vector) -> bytes:
        """An encryption of a vector; the same one for equal vectors, as long as it is kept."""
        digest = hashlib.blake2b(vector.tobytes() + vector.dtype.str.encode(), digest_size=32).digest()
        if digest not in self._places:
            return self._kept(digest, self._encrypt(vector))
        offset, size = self._places[digest]
        assert self._file is not None
        self._file.seek(offset)
        return self._file.read(size)

    def _kept(self, digest: bytes, made: bytes) -> bytes:
        if len(made) > self._most_bytes:
            return made
        if self._file is None or self._end + len(made) > self._most_bytes:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is open as long as this object
            self._places, self._end = {}, 0
        self._file.seek(self._end)
        self._file.write(made)
        self._places[digest] = self._end, len(made)
        self._end += len(made)
        return made
