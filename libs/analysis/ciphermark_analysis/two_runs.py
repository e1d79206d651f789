"""Two runs compared as wholes: host-wide shifts, and times relative to an unchanged reference. Pure.

A slower host slows every variant; so does a library, a compiler or a kernel that the variants share. The reference
kernels of both runs distinguish the two causes. A change that all variants of a comparison group share is a host-wide
shift where the reference kernel changed as much. Otherwise it is a regression, with a remark.

A *reference* is a variant whose build is the same in both runs, or the reference kernel. It cancels the effects of both
hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from ciphermark_analysis import comparison
from ciphermark_analysis.comparison import COLUMNS, Rule, with_judgement
from ciphermark_analysis.estimates import ratio_of

Row = Mapping[str, Any]
_Judged = tuple[Row, float, str]  # with the ratio and the verdict

REFERENCE_KERNEL = "reference_kernel"
HOST_WIDE_SHIFT = "host-wide shift"
SHARED = "not explained by the reference kernel"
UNKNOWN = "without a reference kernel in both runs"
_MOVES = ("slower", "faster")
_FEWEST = 3  # minimum number of variants for a host-wide shift
_ALIKE = 1.25  # the maximum factor between their ratios
_result = itemgetter("comparison_group", "phase", "metric", "repetitions")


def judgements(rows: Sequence[Row], rule: Rule) -> list[tuple[Any, ...]]:
    """Values of ``COLUMNS`` for each row of :func:`~ciphermark_analysis.comparison.settled`."""
    return _together(rows, [with_judgement(row, rule) for row in rows])


def shared(rows: Sequence[Row]) -> str | None:
    """Return a remark on results that changed in all variants of their comparison groups, but not with the host.

    Rows have their ``verdict``. ``None`` without such results.
    """
    own = [row["verdict"].partition(":")[0] for row in rows if row["verdict"].endswith(SHARED)]
    parts = [f"{own.count(kind)} {kind}" for kind in _MOVES if kind in own]
    if not parts:
        return None
    return (
        f"Results that moved alike in all variants, {SHARED}: {' and '.join(parts)}. Check what the variants share, "
        "such as a library, a compiler or a kernel"
    )


def relative(rows: Sequence[Row], reference: str) -> list[Row]:
    """Return the rows with times of run b multiplied by the reference's ratio a/b: b's times on a's host.

    Bounds combine the worst cases of run b's interval and of that ratio's. Times without a corresponding time of the
    reference in both runs are left out.
    """
    references = {_result(row): row for row in rows if row["variant"] == reference and _has_times(row)}
    output = []
    for row in rows:
        if row["unit"] != "s" or not _has_times(row):
            output.append(row)
            continue
        factors = (
            _of_reference_kernel(row)
            if reference == REFERENCE_KERNEL
            else _of_variant(references.get(_result(row)))
        )
        if factors is not None:
            output.append(_scaled(row, *factors))
    return output


def _has_times(row: Row) -> bool:
    return all(row[f"{side}_median"] is not None and row[f"{side}_median"] > 0 for side in "ab")


def _of_reference_kernel(row: Row) -> tuple[float, float, float] | None:
    a, b = row["a_reference_kernel_s"], row["b_reference_kernel_s"]
    return (a / b,) * 3 if a and b else None


def _of_variant(row: Row | None) -> tuple[float, float, float] | None:
    """The ratio a/b of the reference and its bounds, which are 0 where it has none."""
    if row is None:
        return None
    ratio = ratio_of(*comparison.estimates(row))
    return ratio.median, ratio.low or 0.0, ratio.high or 0.0


def _scaled(row: Row, middle: float, low: float, high: float) -> Row:
    own = row["b_low"] is not None and row["b_high"] is not None and low > 0
    return {
        **row,
        "b_median": row["b_median"] * middle,
        "b_low": row["b_low"] * low if own else None,
        "b_high": row["b_high"] * high if own else None,
        "a_reference_kernel_s": None,  # the reference includes the effects of the hosts
        "b_reference_kernel_s": None,
    }


def _together(known: Sequence[Row], judged: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The judgements of rows, with the cause where all variants of a comparison group changed alike."""
    ratio, place = COLUMNS.index("ratio"), COLUMNS.index("verdict")
    groups: dict[tuple[Any, ...], list[_Judged]] = {}
    for row, values in zip(known, judged, strict=True):
        if row["unit"] == "s" and values[ratio]:
            groups.setdefault(_result(row), []).append((row, 1 / values[ratio], values[place]))
    verdicts = {result: _verdict(group) for result, group in groups.items()}
    output = []
    for row, values in zip(known, judged, strict=True):
        verdict = verdicts.get(_result(row)) if values[place] in _MOVES else None
        output.append(values if verdict is None else (*values[:place], verdict, *values[place + 1 :]))
    return output


def _verdict(group: Sequence[_Judged]) -> str | None:
    """The verdict on a comparison group whose variants all changed alike and in one direction; else ``None``."""
    ratios = [ratio for _, ratio, _ in group]
    verdicts = {verdict for *_, verdict in group}
    are_alike = len(verdicts) == 1 and verdicts < set(_MOVES) and max(ratios) / min(ratios) <= _ALIKE
    if len(group) < _FEWEST or not are_alike:
        return None
    (verdict,) = verdicts
    pairs = [(ratio, bounds) for row, ratio, _ in group if (bounds := comparison.of_hosts(row)) is not None]
    if not pairs:
        return f"{verdict}: all {len(group)} variants alike, {UNKNOWN}"
    of_host = sum(low <= ratio <= high for ratio, (low, high) in pairs)
    if 2 * of_host > len(pairs):
        return f"{HOST_WIDE_SHIFT}: all {len(group)} variants are {verdict} alike, as is the reference kernel"
    return f"{verdict}: all {len(group)} variants alike, {SHARED}"
