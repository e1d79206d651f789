"""How many ciphertexts of a long vector are executed. Pure.

All ciphertexts of a vector cost the same. What makes a long vector differ from a short one is that it does not fit the
caches: so as many are executed as, with their results, fill the last-level cache; time follows by proportion. Where an
operation computes for so long on each cache line that it is no matter where the line comes from, a few tell as much.
"""

from __future__ import annotations

from collections.abc import Mapping

# Encoding, encrypting and decrypting take thousands of cycles for each cache line that they touch: what the caches hold
# is no matter there, and more than a few ciphertexts tell nothing.
_CLIENT_CIPHERTEXTS = 4
# A core streams a cache line from memory in some 5 ns, from a cache in less: of so long a time that is a few percent.
_LINE_BYTES = 64
_COMPUTING_NS = 100.0
_COMPUTED_CIPHERTEXTS = 2


def is_computing(row_bytes: int, row_ns: float) -> bool:
    """Whether an operation that takes ``row_ns`` on ``row_bytes`` computes so long that caches are no matter."""
    return row_ns * _LINE_BYTES >= _COMPUTING_NS * row_bytes


def executed_computing(ciphertexts: int) -> int:
    """Of a vector's ciphertexts, those that an operation is executed on that computes for long."""
    return min(ciphertexts, _COMPUTED_CIPHERTEXTS)


def executed(ciphertexts: int, row_bytes: int, caches: Mapping[str, int]) -> int:
    """Of a vector's ciphertexts, those that an operation is executed on: as many as exceed the largest of the caches
    (bytes by level), where ``row_bytes`` are those of one ciphertext's operands and result, or all; all on a host that
    does not tell its caches.
    """
    if not caches:
        return ciphertexts
    return min(ciphertexts, max(caches.values()) // row_bytes + 1)


def executed_by_client(ciphertexts: int) -> int:
    """Likewise those that are encrypted or decrypted in a sample."""
    return min(ciphertexts, _CLIENT_CIPHERTEXTS)
