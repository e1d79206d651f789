"""How many ciphertexts of a long vector are executed. Pure.

All ciphertexts of a vector cost the same. What makes a long vector differ from a short one is that it does not fit the
caches: so as many are executed as, with their results, fill the last-level cache; time follows by proportion.
"""

from __future__ import annotations

from collections.abc import Mapping

# Encoding, encrypting and decrypting take thousands of cycles for each cache line that they touch: what the caches hold
# is no matter there, and more than a few ciphertexts tell nothing.
_CLIENT_CIPHERTEXTS = 4


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
