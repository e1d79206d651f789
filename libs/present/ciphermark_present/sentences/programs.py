"""Sentences about programs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.answer import Row

SHOWN_DIGITS = 12  # of a digest


def equal(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Of the stages that several variants executed, in which their programs were not equal."""
    stages = {
        (row["comparison_key"], row["stage"]): row for row in every if row["is_equal_program"] is not None
    }
    unequal = [row for row in stages.values() if not row["is_equal_program"]]
    if not stages:
        return
    names = dict.fromkeys(f"{row['operation']}, {row['stage']} ({row['scheme']})" for row in unequal)
    told = f"; not in {'; '.join(names)}" if names else ""
    yield (
        f"Programs: in {len(stages) - len(unequal)} of {len(stages)} stages that several variants executed, their "
        f"programs were equal{told}."
    )
