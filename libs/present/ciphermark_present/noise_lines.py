"""Charts of the bits that consecutive operations leave, and of where a result is no longer correct."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_core.metrics import MIN_PRECISION_BITS
from ciphermark_present import charting, theme
from ciphermark_present.charting import Chart, alt
from ciphermark_present.printed import grouped
from ciphermark_present.query import Row

FAILS, NO_LEVEL = "fails here", "no level left"
_WIDTH, _HEIGHT = 480, 240  # of a small chart
_APART_PX = 36  # between the names of N
_LEAST = 0.1  # of the axis of counts: a line that ends before has no room for a text
_CROSS = "M-1,-1L1,1M1,-1L-1,1"
_FIELDS = ("variant", "panel", "line", "repetitions", "bits", "kind", "is_last", "is_early", "text", "label")


def least_bits(row: Row) -> float:
    """The remaining bits at which a result is incorrect: no noise budget, or less than the minimum precision."""
    return MIN_PRECISION_BITS if row["meaning"] == "precision" else 0.0


def is_correct(row: Row) -> bool:
    """Whether a state decrypts correctly, by its remaining bits."""
    return bool(row["bits"] >= least_bits(row) if row["meaning"] == "precision" else row["bits"] > 0)


def end(states: Sequence[Row]) -> dict[str, Any] | None:
    """The end of the line through the states of a case, which are in the order of their counts. It is where the cost of
    the last correct operations leaves no more bits, and not beyond the first incorrect count. Without another level, it
    is the last state. ``None`` where all counts up to the maximum are correct, or none is.
    """
    correct = [row for row in states if is_correct(row)]
    failed = [row for row in states if not is_correct(row)]
    if not correct:
        return None
    last = correct[-1]
    if failed:
        count = _meeting(correct, least_bits(last), failed[0]["repetitions"])
        return {**last, "repetitions": count, "bits": least_bits(last), "kind": "end", "text": FAILS}
    most = (last.get("dimensions") or {}).get("max_repetitions")
    is_out_of_levels = most is not None and last["repetitions"] < most
    return {**last, "text": NO_LEVEL} if is_out_of_levels else None


def _meeting(correct: Sequence[Row], least: float, failed_at: int) -> float:
    """The count at which the line through the last two correct states meets the least bits."""
    if len(correct) < 2:
        return failed_at
    before, last = correct[-2:]
    cost = (before["bits"] - last["bits"]) / (last["repetitions"] - before["repetitions"])
    return min(failed_at, last["repetitions"] + (last["bits"] - least) / cost) if cost > 0 else failed_at


def draw(rows: Sequence[Row]) -> Chart | None:
    """Remaining bits of a full vector against the number of operations, a small chart for each operation and a line for
    each variant and N.

    The axis of counts is linear: an equal loss with each operation is a straight line. Libraries often agree to the
    bit. Their marks and lines then overlap, the first variant's the largest and widest. None is hidden, and none is
    moved to a place without a count.
    """
    marks, notes = charting.enough(_marks(rows), "panel")
    if not marks:
        return None
    meanings = sorted({row["meaning"] for row in marks})
    base = alt.Chart().encode(
        x=alt.X("repetitions:Q", title="Operations applied", axis=charting.whole_axis()),
        y=alt.Y("bits:Q", title=f"{' or '.join(meanings).capitalize()}, bits"),
    )
    chart = alt.layer(*_layers(base, charting.variants_of(marks)), data=charting.data(marks, *_FIELDS))
    order = list(dict.fromkeys(row["panel"] for row in marks))
    return charting.small_charts(
        chart, "panel", order, width=_WIDTH, height=_HEIGHT, scales=("x",), axes=("y",)
    ).properties(**charting.noted(notes))


def _layers(base: alt.Chart, names: Sequence[str]) -> list[alt.Chart]:
    """Lines through correct states, dashed to where they end; the states; a cross at the end; texts."""
    look = base.encode(color=charting.colour(names))
    tips = charting.tips("variant:N", "line:N", alt.Tooltip("repetitions:Q", title="Operations"), "bits:Q")
    line = look.encode(detail="line:N", strokeWidth=charting.nested_widths(names, 6, 1))
    size = alt.Size("variant:O", title=charting.VARIANT, scale=charting.nested(names, 160, 25))
    texts = base.encode(text="text:N")
    points = look.encode(shape=charting.shape(names), size=size, tooltip=tips)
    return [
        line.transform_filter("datum.kind === 'state'").mark_line(),
        look.encode(detail="line:N").transform_filter("datum.is_last").mark_line(strokeDash=[3, 3]),
        points.transform_filter("datum.kind === 'state'").mark_point(
            filled=False, strokeWidth=1.8, opacity=1
        ),
        look.encode(tooltip=tips)
        .transform_filter("datum.kind === 'end'")
        .mark_point(shape=_CROSS, size=50, strokeWidth=2, opacity=1),
        base.encode(text="label:N").mark_text(style=theme.TEXT, align="left", dx=9, dy=-9),
        texts.transform_filter("!datum.is_early").mark_text(style=theme.TEXT, align="right", dx=-9, dy=-4),
        texts.transform_filter("datum.is_early").mark_text(style=theme.TEXT, align="left", dx=9, dy=-4),
    ]


def _marks(rows: Sequence[Row]) -> list[Row]:
    """The drawn states of every case, the ends of their lines, and the texts next to them."""
    chosen = charting.with_rings(charting.fullest(rows)) if rows else []
    is_of_one_ring = len({row["ring"] for row in chosen}) == 1
    states = [
        {
            **row,
            "line": f"N = {row['ring']}",
            "panel": charting.joined(row["operation"], f"N = {row['ring']}" if is_of_one_ring else ""),
            "kind": "state",
            "is_last": False,
            "is_early": False,
            "text": "",
            "label": "",
        }
        for row in chosen
    ]
    most = max((row["bits"] for row in states), default=0.0)
    return [
        mark
        for panel in grouped(states, lambda row: row["panel"])
        for mark in _labelled(list(_with_ends(panel)), most, is_of_one_ring)
    ]


def _with_ends(panel: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The correct states of each line, and its end; a line without a correct state keeps its states."""
    ordered = sorted(panel, key=lambda row: (str(row["variant"]), row["repetitions"]))
    for case in grouped(ordered, lambda row: (row["variant"], row["line"])):
        stop = end(case)
        *before, last = [row for row in case if is_correct(row)] or case
        yield from map(dict, before)
        if stop is None or stop["kind"] == "state":
            yield dict(stop or last)
        else:
            yield {**last, "is_last": True}
            yield {**stop, "is_last": True}


def _labelled(marks: Sequence[dict[str, Any]], most: float, is_of_one_ring: bool) -> list[dict[str, Any]]:
    """The marks of a small chart: the furthest end keeps its text, and fresh states have the name of their N, where
    names have room.
    """
    furthest = max(marks, key=lambda mark: (bool(mark["text"]), mark["repetitions"]))
    reach = max(mark["repetitions"] for mark in marks)
    gap, lowest = _APART_PX / _HEIGHT * most, math.inf
    fresh = {mark["line"]: mark for mark in reversed(marks) if mark["repetitions"] == 0}
    for mark in sorted(fresh.values(), key=lambda mark: -mark["bits"]):
        if is_of_one_ring or mark["bits"] > lowest - gap:
            break
        mark["label"], lowest = mark["line"], mark["bits"]
    return [
        {
            **mark,
            "text": mark["text"] if mark is furthest and mark["repetitions"] > reach * _LEAST else "",
            "is_early": mark["repetitions"] < reach / 2,  # room for the text is on the right
        }
        for mark in marks
    ]
