"""Sentences about workloads of any family. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.answer import Row
from ciphermark_present.formats import level, seconds


def stages(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Who has the least median time for each stage of each workload, by scheme, size and level."""
    least: dict[tuple[object, ...], Row] = {}
    for row in every:
        if row["metric"] == "time" and not row["part"]:
            place = tuple(row[name] for name in ("operation", "scheme", "size", "security_2018", "stage"))
            if place not in least or row["median"] < least[place]["median"]:
                least[place] = row
    for row in least.values():
        yield (
            f"{row['operation']} in {row['scheme']}, {row['size']:,} elements at {level(row['security_2018'])} (2018): "
            f"least median time of {row['stage']} {seconds(row['median'])} ({row['variant']})."
        )
