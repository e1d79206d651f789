"""Sentences about retrieval. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.answer import Row
from ciphermark_present.formats import level, seconds, size


def answers(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Who answers soonest by each protocol, for each database, length of what is got, scheme and level."""
    least: dict[tuple[object, ...], Row] = {}
    for row in every:
        place = tuple(
            row[name]
            for name in (
                "operation",
                "scheme",
                "database_size",
                "answered_size",
                "inputs",
                "threads",
                "security_2018",
            )
        )
        if row["answer_s"] is not None and (place not in least or row["answer_s"] < least[place]["answer_s"]):
            least[place] = row
    for row in least.values():
        yield (
            f"{row['operation']} in {row['scheme']} over {size(row['database_size'])} at {level(row['security_2018'])} "
            f"(2018): least median time of an answer {seconds(row['answer_s'])} ({row['variant']}), "
            f"{size(row['throughput'])}/s."
        )
