"""The figure of the parameters that libraries used, next to the limits of both security tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_core.security import LEVEL_BY, LEVELS, TABLES, Table, limit
from ciphermark_present import charting, sentences, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    CHAIN,
    LOG_QP,
    SCHEME,
    SECURITY_2018,
    SECURITY_2024,
    VARIANT,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Figure
from ciphermark_present.query import Row

_LEAST = LEVELS[0]
_HEIGHT = 340
_BEFORE, _ROOM = (
    3.0,
    1.9,
)  # factors of the axis of N beyond its ends, for notes, and for the last step and its name
_BIT_TICKS = [20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000]
_MOST_TICKS = 9
_APART = 1.04  # of names next to marks: a smaller ratio of bits is one place
_FIELDS = (
    "variant",
    "ring_dimension",
    "log_qp",
    "bits",
    "security_2018",
    "security_2024",
    "note",
    "note_short",
)


def _is_below(row: Row, table: Table) -> bool:
    """Whether a parameter set is below 128 bits by a table; an unrated one is not."""
    return row[LEVEL_BY[table]] == 0


def finding(rows: Sequence[Row]) -> str:
    """The number of parameter sets below 128 bits, and the variants that have them."""
    if not rows:
        return ""
    below = {table: [row for row in rows if _is_below(row, table)] for table in TABLES}
    if not any(below.values()):
        return f"All {len(rows)} parameter sets reach {_LEAST} bits by both tables"
    texts = [f"{len(own)} by the {table} table" for table, own in below.items() if own]
    who = sentences.variants([row for own in below.values() for row in own])
    return f"Below {_LEAST} bits: {' and '.join(texts)}, of {len(rows)} parameter sets ({who})"


def draw_map(rows: Sequence[Row]) -> Chart | None:
    """Bits of the modulus against N, both logarithmic to base 2: a mark for each variant and parameter set, below the
    limits of both tables. Marks below 128 bits by a table have a note.
    """
    if len(rows) < charting.MIN_MARKS:
        return None
    marks = _noted(rows)
    names = charting.variants_of(marks)
    rings = sorted({row["ring_dimension"] for row in marks})
    lines = list(_limits(rings))
    bits = [
        *(float(row["log_qp"]) for row in marks),
        *(line["bits"] for line in lines if line["level"] == _LEAST),
    ]
    x = charting.powers_of_two(rings, "N", "ring_dimension").scale(
        type="log", base=2, nice=False, padding=12, domain=[rings[0] / _BEFORE, rings[-1] * _ROOM]
    )
    low, high = min(bits) / 1.15, max(bits) * 1.1
    ticks = [tick for tick in _BIT_TICKS if low <= tick <= high]
    ticks = ticks[:: 1 + len(ticks) // (_MOST_TICKS + 1)]
    y = alt.Y(
        "bits:Q",
        title="log2 QP",
        scale=alt.Scale(type="log", base=2, nice=False, domain=[low, high], clamp=True),
        axis=alt.Axis(values=ticks, format="d"),
    )
    base = alt.Chart().encode(x=x, y=y)
    size = alt.Size("variant:O", title=charting.VARIANT, scale=charting.nested(names, 150, 30))
    points = base.mark_point(filled=True, opacity=1).encode(
        color=charting.colour(names), shape=charting.shape(names), size=size, tooltip=_tips()
    )
    notes = base.mark_text(align="right", dx=-11, style=theme.TEXT).encode(text=alt.Text("note:N"))
    shown = [line for line in lines if line["bits"] >= low]
    data = charting.data(marks, *_FIELDS)
    return alt.layer(*_steps(shown, x, y), points, notes, data=data).properties(
        width="container", height=_HEIGHT
    )


def _tips() -> list[alt.Tooltip]:
    return charting.tips(
        "variant:N",
        alt.Tooltip("ring_dimension:Q", title="N"),
        alt.Tooltip("log_qp:Q", title="log2 QP", format=".1f"),
        alt.Tooltip("security_2018:Q", title="Bits (2018)"),
        alt.Tooltip("security_2024:Q", title="Bits (2024)"),
    )


def _noted(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The marks in the order of variants; one of those at a place has the note of the place."""
    named: list[tuple[int, float]] = []
    marks = []
    for row in sorted(rows, key=lambda row: (str(row["variant"]), row["ring_dimension"], -row["log_qp"])):
        tables = [table for table in TABLES if _is_below(row, table)]
        ring, bits = row["ring_dimension"], float(row["log_qp"])
        is_free = all(ring != other or max(bits / at, at / bits) > _APART for other, at in named)
        by = f"{_LEAST} bits ({' and '.join(tables)})"
        is_noted = bool(tables) and is_free
        if is_noted:
            named.append((ring, bits))
        notes = {"note": f"below {by}" * is_noted, "note_short": f"< {by}"}
        marks.append({**row, "bits": bits, **notes})
    return marks


def _limits(rings: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The largest bits of each table and level by N, from the smallest N on and as far as the axis reaches."""
    for table in TABLES:
        for level in LEVELS:
            places = [*_between(rings), rings[-1] * _ROOM]
            for place in places:
                bits = limit(table, int(place), level)
                if bits is not None:
                    is_end = place == places[-1]
                    is_named = is_end and (level == _LEAST or table == "2018")
                    name = f"{level} bits ({table})" if level == _LEAST else f"{level} bits"
                    yield {
                        "ring_dimension": place,
                        "bits": bits,
                        "line": f"{table} {level}",
                        "level": level,
                        "table": table,
                        "name": name if is_named else "",
                    }


def _between(rings: Sequence[int]) -> list[int]:
    """The powers of two from the smallest to the largest N."""
    places = [rings[0]]
    while places[-1] * 2 <= rings[-1] * _ROOM:
        places.append(places[-1] * 2)
    return places


def _steps(limits: Sequence[Row], x: alt.X, y: alt.Y) -> Iterator[alt.Chart]:
    """The limits as steps: solid for the table of 2018 and dashed for that of 2024 at 128 bits, muted at others."""
    for table in TABLES:
        for is_least in (True, False):
            own = [
                line for line in limits if line["table"] == table and (line["level"] == _LEAST) == is_least
            ]
            base = alt.Chart(alt.Data(values=own)).encode(x=x, y=y, detail="line:N")
            dash = [1, 0] if table == "2018" else [6, 3]
            look: dict[str, Any] = (
                {"style": theme.TEXT, "strokeWidth": 1.8}
                if is_least
                else {"style": theme.UNITY, "strokeWidth": 1, "opacity": 0.6}
            )
            yield base.mark_line(interpolate="step-after", strokeDash=dash, **look)
            below = 12 if table == "2024" else -12 if is_least else -5
            yield base.mark_text(align="right", dx=-2, dy=below, style=theme.TEXT).encode(
                text=alt.Text("name:N")
            )


SECURITY_MAP = Figure(
    name="security-map",
    title="Parameters and security",
    lead="Modulus bits of every parameter set by N, below the limits of both security tables.",
    reading=(
        "A parameter set reaches a level if log2 QP, with the special primes, is at most the limit for its N. Limits "
        "hold from one N to the next. Solid: HE Standard (2018). Dashed: guidelines (Bossuat et al., 2024). Marks of "
        "different sizes show variants that coincide. Sparse secrets are not rated."
    ),
    view="security_map",
    narrowed_by=("scheme", "variant"),
    order="scheme, ring_dimension, log_qp desc, variant, parameter_set_id",
    finding=finding,
    chart=draw_map,
    page="/memory",
    printed=(),
    columns=(
        SCHEME,
        VARIANT,
        N,
        LOG_QP,
        SECURITY_2018,
        SECURITY_2024,
        CHAIN,
        columns.count("cases", "Cases"),
    ),
    empty="This run has no parameter set under these filters.",
)
