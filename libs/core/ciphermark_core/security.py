"""Security levels from published tables.

Largest log2(QP) for a ternary secret against classical attacks. Sources: "Homomorphic Encryption
Security Standard" (Albrecht et al., 2018), the values that SEAL ships; "Security Guidelines for
Implementing Homomorphic Encryption" (Bossuat et al., ePrint 2024/463), Table 5.2. Neither rates a sparse secret, parts
of which hybrid attacks guess: its level is unknown here, whatever the modulus.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Table = Literal["2018", "2024"]
TABLES: Mapping[Table, str] = {
    "2018": "HE Standard (2018)",
    "2024": "guidelines (Bossuat et al., 2024)",
}
OLDEST: Table = "2018"
NEWEST: Table = "2024"
LEVELS = (128, 192, 256)
# Per table, the field with a case's level, and the field with the level at which the case is compared.
LEVEL_BY: Mapping[Table, str] = MappingProxyType({"2018": "security_2018", "2024": "security_2024"})
COMPARED_BY: Mapping[Table, str] = MappingProxyType(
    {"2018": "security_compared", "2024": "security_compared_2024"}
)

# ring dimension -> largest log2(QP) at 128, 192, 256 bits; None where the table has no entry
_LIMITS: dict[Table, dict[int, tuple[int | None, int | None, int | None]]] = {
    "2018": {
        1024: (27, 19, 14),
        2048: (54, 37, 29),
        4096: (109, 75, 58),
        8192: (218, 152, 118),
        16384: (438, 305, 237),
        32768: (881, 611, 476),
    },
    "2024": {
        1024: (26, None, None),
        2048: (53, 36, 27),
        4096: (106, 73, 56),
        8192: (214, 147, 114),
        16384: (430, 297, 230),
        32768: (868, 597, 462),
        65536: (1747, 1199, 929),
        131072: (3523, 2411, 1866),
    },
}


def limit(table: Table, ring_dimension: int, level_bits: int) -> int | None:
    """Largest log2(QP) at a level, or ``None`` below the table's smallest ring.

    A ring dimension between or above the table's rows gets the next smaller row: with the same
    modulus a larger ring is never less secure.
    """
    rows = _LIMITS[table]
    dimensions = [n for n in rows if n <= ring_dimension]
    return rows[max(dimensions)][LEVELS.index(level_bits)] if dimensions else None


def is_unrated(secret_distribution: str) -> bool:
    """Whether the tables do not rate a secret distribution: they rate dense ternary secrets only."""
    return secret_distribution.startswith("sparse")


def level(table: Table, ring_dimension: int, log_qp: float) -> int:
    """The highest level (128, 192, 256) that ``log_qp`` reaches in a table; 0 below 128."""
    reached = 0
    for bits in LEVELS:
        bound = limit(table, ring_dimension, bits)
        if bound is not None and log_qp <= bound:
            reached = bits
    return reached
