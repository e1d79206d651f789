"""The number of executed ciphertexts of a long vector. Pure.

All ciphertexts of a vector cost the same. A long vector differs from a short one in that it does not fit the caches: so
as many are executed as, with their results, fill the last-level cache. The time is extrapolated in proportion. A few
ciphertexts suffice for an operation whose computation per cache line outweighs the access to it.
"""

from __future__ import annotations

from collections.abc import Mapping

# Encoding, encrypting and decrypting take thousands of cycles for each cache line that they touch. Caches do not matter
# there, and a few ciphertexts are enough.
_CLIENT_CIPHERTEXTS = 4
# A core streams a cache line from memory in about 5 ns, and faster from a cache: a few percent of so long a time.
_LINE_BYTES = 64
_COMPUTING_NS = 100.0
_COMPUTED_CIPHERTEXTS = 2


def is_computing(row_bytes: int, row_ns: float) -> bool:
    """Whether an operation that takes ``row_ns`` on ``row_bytes`` computes long enough that caches do not matter."""
    return row_ns * _LINE_BYTES >= _COMPUTING_NS * row_bytes


def executed_computing(ciphertexts: int) -> int:
    """The number of executed ciphertexts of a vector for an operation that computes for long."""
    return min(ciphertexts, _COMPUTED_CIPHERTEXTS)


def executed(ciphertexts: int, row_bytes: int, caches: Mapping[str, int]) -> int:
    """The number of executed ciphertexts of a vector: enough to exceed the largest of the caches (bytes by level), or
    all. ``row_bytes`` is the size of one ciphertext's operands and result. All are executed on a host that does not
    report its caches.
    """
    if not caches:
        return ciphertexts
    return min(ciphertexts, max(caches.values()) // row_bytes + 1)


def executed_by_client(ciphertexts: int) -> int:
    """Likewise, the number that are encrypted or decrypted in a sample."""
    return min(ciphertexts, _CLIENT_CIPHERTEXTS)
