"""Charts of one value of each variant at every N, or vector length: small charts with lines, or rows of one chart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ciphermark_present import charting, parameters
from ciphermark_present.charting import Chart
from ciphermark_present.plots import Places, Value, lines
from ciphermark_present.query import Row


def by_ring(rows: Sequence[Row], value: Value) -> Chart | None:
    """A mark for each variant at every N; see :func:`along`."""
    return along(rows, value, "ring_dimension", "N")


def along(rows: Sequence[Row], value: Value, place: str, title: str) -> Chart | None:
    """A mark for each variant and place on an axis to base 2, one small chart per ``label``, or operation, and tuning.

    Of several cases of a variant at one place, its line takes the one with the longest chain; the marks of the others
    are hollow. See :func:`ciphermark_present.plots.lines`.
    """
    if not rows:
        return None
    paneled = _paneled(rows)
    labels = list(dict.fromkeys(row["label"] for row in paneled))
    cases = sorted(paneled, key=lambda row: (labels.index(row["label"]), row["panel"], str(row["variant"])))
    word = title.partition(",")[0]
    x = charting.powers_of_two((row[place] for row in cases), title, place)
    return lines(cases, value, Places(place, x, lambda each: f"{word} = {each}"))


def _paneled(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows, each with its ``panel``, and whether its place has a longer chain (``is_hollow``). Matched tuning is
    the usual one, which panels do not name.
    """
    named = []
    for row in rows:
        label = row.get("label") or row["operation"]
        tuning = row.get("tuning") or "matched"
        panel = charting.joined(label, f"{tuning} tuning" if tuning != "matched" else "")
        named.append({**row, "label": label, "panel": panel})
    if not _are_told_by_chains(named):
        words = parameters.apart(named, _place)
        named = [
            {**row, "panel": charting.joined(row["panel"], word)}
            for row, word in zip(named, words, strict=True)
        ]
    longest: dict[Any, tuple[int, str]] = {}
    for row in named:
        longest[_place(row)] = max(_chain(row), longest.get(_place(row), _chain(row)))
    return [{**row, "is_hollow": _chain(row)[1] != longest[_place(row)][1]} for row in named]


def _are_told_by_chains(rows: Sequence[Row]) -> bool:
    """Whether each place has one case, or two with different chains."""
    places: dict[Any, dict[str, str]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: str(row["variant"])):
        places[_place(row)].setdefault(row["comparison_group"], str(row.get("modulus_bits")))
    return all(len(chains) == len(set(chains.values())) <= 2 for chains in places.values())


def _place(row: Row) -> tuple[Any, ...]:
    return row["panel"], row["ring_dimension"], row["vector_length"]


def _chain(row: Row) -> tuple[int, str]:
    return sum(row.get("modulus_bits") or ()), row["comparison_group"]
