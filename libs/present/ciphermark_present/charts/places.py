"""Which rows a chart shows, and what it calls the rings they were measured at. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ciphermark_present import parameters
from ciphermark_present.answer import Row


def fullest(rows: Sequence[Row]) -> list[Row]:
    """Of each N the rows of one size: the largest vector that fits one ciphertext, else the smallest there is."""
    sizes: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        sizes[row["ring_dimension"]].add(row["size"])
    chosen = {n: _fullest(found, n if rows[0]["scheme"] != "ckks" else n // 2) for n, found in sizes.items()}
    return [row for row in rows if row["size"] == chosen[row["ring_dimension"]]]


def with_rings(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows with a ``ring`` each: N, and what tells cases apart where an operation has several at one N."""
    labels = parameters.apart(rows, lambda row: (row["operation"], row["ring_dimension"]))
    return [
        {**row, "ring": joined(str(row["ring_dimension"]), label)}
        for row, label in zip(rows, labels, strict=True)
    ]


def joined(*texts: str) -> str:
    """Texts that are not empty, one after another."""
    return ", ".join(filter(None, texts))


def ring_order(rows: Sequence[Row]) -> list[str]:
    """The rings of :func:`with_rings` by N."""
    return list(
        dict.fromkeys(row["ring"] for row in sorted(rows, key=lambda row: int(row["ring_dimension"])))
    )


def _fullest(sizes: set[int], slots: int) -> int:
    fitting = [size for size in sizes if size <= slots]
    return max(fitting) if fitting else min(sizes)
