"""Sentences about figures of times and their ratios. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ciphermark_present.answer import Row
from ciphermark_present.formats import digits, level, seconds


def place(parameters: Row) -> str:
    """The scheme and the level that a figure is about."""
    return f"{parameters['scheme']} at {level(parameters['security_compared'])} (2018)"


def leaderboard(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Which variant is the fastest, and how far behind the others are; of each division, and of composed operations,
    apart.
    """
    known = [row for row in every if row["mean_ratio"] is not None]
    for ranked in dict.fromkeys(map(_ranking, known)):
        yield from _ranks([row for row in known if _ranking(row) == ranked], parameters)


def _ranking(row: Row) -> tuple[str, bool]:
    return row["division"], row["is_composed"]


def _ranks(known: Sequence[Row], parameters: Row) -> Iterator[str]:
    if len(known) < 2:
        return
    cases = _cases(known[0]["common_cases"])
    made = "compose" if known[0]["is_composed"] else "have"
    where = f"{place(parameters)}, division {known[0]['division']}"
    over = f"geometric mean of the ratios to the fastest, over {cases} that all {made}"
    first = [row for row in known if row["rank"] == 1]
    if not first:
        yield f"{where}: {_means(known)} ({over}); too few samples to rank them."
        return
    leading = (
        f"{first[0]['variant']} is the fastest{_of_the_best(first[0]['mean_ratio'])}"
        if len(first) == 1
        else f"{_means(first)} share rank 1: which of them is the fastest is not sure"
    )
    told = [leading]
    for rank in sorted({row["rank"] for row in known if row["rank"] not in (None, 1)}):
        told.append(f"rank {rank}: {_means([row for row in known if row['rank'] == rank])}")
    unsure = [row for row in known if row["rank"] is None]
    if unsure:
        told.append(f"without a rank, by an interval too wide for one: {_means(unsure)}")
    yield f"{where}: {'; '.join(told)} ({over})."


def _of_the_best(ratio: float) -> str:
    """How a leader stands to the fastest of each case: it is that in every one, or takes so many times as long."""
    return (
        " in every case"
        if ratio <= 1
        else f", with {digits(ratio)} times the time of the fastest of each case"
    )


def latency(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The cheapest and the dearest operation, at the largest N with the longest vector there."""
    largest = max(row["ring_dimension"] for row in every)
    size = max(row["size"] for row in every if row["ring_dimension"] == largest)
    here = [row for row in every if (row["ring_dimension"], row["size"]) == (largest, size)]
    least, most = min(here, key=_median), max(here, key=_median)
    where = f"{place(parameters)}, N = {largest}, {size} elements"
    yield f"Operations, {where}: median times from {_timed(least)} to {_timed(most)}."


def by_data(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Whether random values take longer than one value in all slots."""
    counted = Counter(row["verdict"] for row in every)
    slower = [row["ratio"] for row in every if row["verdict"] == "random is slower"]
    parts = [
        f"slower in {len(slower)} of {_cases(len(every))}"
        + (f", up to {digits(max(slower))}×" if slower else "")
    ]
    parts += [
        f"{words} in {counted[verdict]}"
        for verdict, words in (("random is faster", "faster"), *_UNDECIDED)
        if counted[verdict]
    ]
    yield f"Random values rather than one value in all slots, {place(parameters)}: {'; '.join(parts)}."


def speedup(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Where HEXL helps, by how much at most, where it harms, and where nothing can be told."""
    counted = Counter(row["verdict"] for row in every)
    faster, slower = _ratios(every, "faster"), _ratios(every, "slower")
    parts = [
        f"faster in {len(faster)} of {_cases(len(every))}"
        + (f", up to {digits(max(faster))}×" if faster else "")
    ]
    if slower:
        parts.append(f"slower in {len(slower)}, down to {digits(min(slower))}× the speed")
    parts += [f"{words} in {counted[verdict]}" for verdict, words in _UNDECIDED if counted[verdict]]
    yield f"HEXL in {place(parameters)}: {'; '.join(parts)}."


_UNDECIDED = (("no difference", "no difference"), ("too few samples", "too few samples to tell"))


def _means(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row['variant']} {digits(row['mean_ratio'])}×" for row in rows)


def _median(row: Row) -> float:
    return float(row["median"])


def _timed(row: Row) -> str:
    return f"{seconds(row['median'])} ({row['operation']}, {row['variant']})"


def _ratios(rows: Sequence[Row], verdict: str) -> list[float]:
    return [row["ratio"] for row in rows if row["verdict"] == verdict]


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"
