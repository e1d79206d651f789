"""What a run found, in sentences, and what spoils it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ciphermark_dashboards.formats import digits, level
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.store import Row


def sentences(outcomes: Sequence[Row], figures: Mapping[str, Sequence[Filled]]) -> Iterator[str]:
    """What a reader in a hurry should know."""
    yield _outcomes(outcomes)
    for item in figures.get("leaderboard", ()):
        yield from _leaderboard(item)
    for item in figures.get("speedup", ()):
        yield _speedup(item)


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


def _leaderboard(item: Filled) -> Iterator[str]:
    ranked = [row for row in item.rows if row["mean_ratio"] is not None]
    if len(ranked) < 2:
        return
    first, *others = ranked
    place = f"{item.selection.parameters['scheme']} at {level(item.selection.parameters['security'])} (2018)"
    behind = ", ".join(f"{row['variant']} {digits(row['mean_ratio'])}×" for row in others)
    yield (
        f"{place}: {first['variant']} leads with a geometric mean of {digits(first['mean_ratio'])}× the fastest time "
        f"over {first['common_cases']} common cases; then {behind}."
    )


def _speedup(item: Filled) -> str:
    ratios = [row["ratio"] for row in item.rows]
    same = sum(row["verdict"] == "no difference" for row in item.rows)
    scheme = item.selection.parameters["scheme"]
    return (
        f"HEXL in {scheme}: {digits(min(ratios))}× to {digits(max(ratios))}× the speed over {len(ratios)} cases; "
        f"no difference in {same} of them."
    )
