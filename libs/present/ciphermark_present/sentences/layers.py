"""Sentences about layers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.answer import Row
from ciphermark_present.formats import level, seconds, share

_PLACE = ("operation", "options", "scheme", "threads", "security_2018")


def longest(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Which layer takes most, with the variant whose layers together take least."""
    cases: dict[str, list[Row]] = {}
    for row in every:
        cases.setdefault(row["case_key"], []).append(row)
    least: dict[tuple[object, ...], list[Row]] = {}
    for rows in cases.values():
        place = tuple(rows[0][name] for name in _PLACE)
        if place not in least or _together(rows) < _together(least[place]):
            least[place] = rows
    for rows in least.values():
        most = max(rows, key=lambda row: row["layer_time"])
        options = f", {most['options']}" if most["options"] else ""
        threads = "" if most["threads"] == 1 else f", {most['threads']} threads"
        yield (
            f"{most['operation']}{options} in {most['scheme']} at {level(most['security_2018'])} (2018){threads}, "
            f"{most['variant']}: most of its time is that of “{most['layer']}”, {share(most['layer_share'])} of "
            f"{seconds(_together(rows))}."
        )


def _together(rows: Sequence[Row]) -> float:
    return float(sum(row["layer_time"] for row in rows))
