"""What a run found, in sentences, and what spoils it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ciphermark_dashboards.rendering import Filled
from ciphermark_present import host_state
from ciphermark_present.query import Row


def headline(outcomes: Sequence[Row], verdicts: Iterable[str]) -> Iterator[str]:
    """What a reader in a hurry should know: how many trials, and who is fastest how often."""
    yield _outcomes(outcomes)
    yield from verdicts


def sentences(outcomes: Sequence[Row], figures: Sequence[Filled]) -> Iterator[str]:
    """What each figure says, and what failed."""
    for figure in dict.fromkeys(item.figure.name for item in figures):
        for item in figures:
            if item.figure.name == figure and item.figure.tell is not None:
                yield from item.figure.tell(item.rows, item.selection.parameters)
    yield from _failures(outcomes)


def caveats(facts: Row, builds: Sequence[Row], states: Sequence[Row]) -> Iterator[str]:
    """What the host warned of when the run began and was like beside samples; builds whose times mean nothing."""
    yield from facts["host_warnings"]
    for row in states:
        yield from host_state.told(row)
    for build in builds:
        if build["is_debug"]:
            yield f"{build['variant']} is a debug build: its times mean nothing"


def _outcomes(outcomes: Sequence[Row]) -> str:
    counted: Counter[str] = Counter()
    for row in outcomes:
        counted[row["status"]] += row["trials"]
    total = sum(counted.values())
    told = ", ".join(f"{count} {status}" for status, count in counted.most_common())
    noun = "trial" if total == 1 else "trials"
    return f"{total} {noun}: {told}. Only trials whose results were checked and right have times here."


def _failures(outcomes: Sequence[Row]) -> Iterator[str]:
    """Which variants have trials without figures; the reasons are a section of their own."""
    found: dict[str, list[str]] = {}
    for row in outcomes:
        if row["status"] != "ok":
            found.setdefault(row["variant"], []).append(f"{row['trials']} {row['status']}")
    if found:
        told = "; ".join(f"{variant}: {', '.join(counts)}" for variant, counts in sorted(found.items()))
        yield f"Not measured: {told}. The reasons are below."
