"""What a worker finds once for all operations on its parameters, told once in listings. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ciphermark_present.answer import Answer, Row

ALL = "all operations"
# Keys and fresh ciphertexts belong to the parameters; every trial that needs them has the peak of making them.
_PHASES = ("keys", "encrypt")
_METRIC = "peak_memory"
_OF_OPERATION = frozenset(
    ("experiment", "operation", "label", "is_composed", "comparison_key", "case_key", "repetitions")
)
# Of the trials that tell the peak, and not of the peak.
_OF_TRIALS = frozenset(("anchor_s", "anchor_spread", "steal_share", "executed_ciphertexts"))


def once(rows: Iterable[Row]) -> list[Row]:
    """The rows, of which those that differ in nothing but the operation are one, where they are about what belongs to
    the parameters; its operation is :data:`ALL`, and its case the first one's. Where any figure differs, rows stay
    apart.
    """
    groups: dict[object, list[Row]] = {}
    for place, row in enumerate(rows):
        groups.setdefault(_alike(row) or place, []).append(row)
    return [same[0] if len(same) == 1 else {**same[0], "operation": ALL} for same in groups.values()]


def derived(answer: Answer, _: Row) -> Answer:
    """As :func:`once`, of an answer."""
    kept = once(answer.mappings)
    return Answer(answer.columns, [tuple(row[name] for name in answer.columns) for row in kept])


def _alike(row: Row) -> str | None:
    """The same text for rows to be told once; nothing for a row that stands for itself."""
    if row["metric"] != _METRIC or row["phase"] not in _PHASES:
        return None
    return repr(
        sorted((name, value) for name, value in row.items() if name not in _OF_OPERATION | _OF_TRIALS)
    )
