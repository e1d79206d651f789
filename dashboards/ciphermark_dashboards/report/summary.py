"""What a run found, in sentences, and what spoils it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.report import quality, times
from ciphermark_dashboards.store import Row

_TELLERS: dict[str, Callable[[Filled], Iterator[str]]] = {
    "leaderboard": times.leaderboard,
    "latency": times.latency,
    "by-data": times.by_data,
    "speedup": times.speedup,
    "noise": quality.noise,
    "bits-left": quality.bits_left,
    "depth": quality.depth,
    "chains": quality.chains,
    "memory": quality.memory,
    "sizes": quality.sizes,
    "learning": quality.learning,
}


def sentences(outcomes: Sequence[Row], figures: Sequence[Filled]) -> Iterator[str]:
    """What a reader in a hurry should know: how many trials, what each figure says, and what failed."""
    yield _outcomes(outcomes)
    for name, tell in _TELLERS.items():
        for item in figures:
            if item.figure.name == name:
                yield from tell(item)
    yield from _failures(outcomes)


def caveats(facts: Row, builds: Sequence[Row]) -> Iterator[str]:
    """What the host warned of when the run began, and builds whose times mean nothing."""
    yield from facts["host_warnings"]
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
