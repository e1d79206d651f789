"""Figures of noise and depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_present import charting, formats, sentences, subject
from ciphermark_present.catalogue.columns import (
    CHAIN,
    OPERATION,
    PLACE,
    REASON,
    SIZE,
    STATUS,
    VARIANT,
    VECTOR,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.formats import bits
from ciphermark_present.notes import with_additions
from ciphermark_present.query import Row


def tell_noise(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """What the dearest operation costs in bits, on average over the operations in a row, at the largest N."""
    largest = max(row["ring_dimension"] for row in every)
    here = [row for row in every if row["ring_dimension"] == largest]
    costs = [
        cost for rows in sentences.by(here, "operation", "variant", "modulus_bits") if (cost := _cost(rows))
    ]
    if not costs:
        return
    operation = max(costs, key=lambda cost: cost["bits"])["operation"]
    told = sentences.extent([cost for cost in costs if cost["operation"] == operation], "bits", bits)
    yield (
        f"Noise, {sentences.place(parameters)}, N = {largest}: of the operations tried in a row, {operation} takes "
        f"the most bits of {here[0]['meaning']} each: on average {told}."
    )


def tell_bits_left(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """After which operation the fewest bits are left, at the largest N."""
    largest = max(row["ring_dimension"] for row in every)
    here = [row for row in every if row["ring_dimension"] == largest]
    least = min(here, key=lambda row: float(row["bits"]))
    same = [row for row in here if all(row[name] == least[name] for name in ("operation", "meaning"))]
    yield (
        f"Bits left, {sentences.place(parameters)}, N = {largest}: after one operation the least "
        f"{least['meaning']} is left by {least['operation']}, {sentences.extent(same, 'bits', bits)}."
    )


def tell_depth(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The most operations in a row that decrypt right, by operation, with the variants that reach it."""
    known = [row for row in every if row["depth"] is not None]
    told = []
    for rows in sentences.by(known, "operation"):
        most = max(row["depth"] for row in rows)
        best = [row for row in rows if row["depth"] == most]
        mark = "at least " if any(row["is_capped"] for row in best) else ""
        rings = " or ".join(str(ring) for ring in sorted({row["ring_dimension"] for row in best}))
        told.append(f"{mark}{most:,.0f} {rows[0]['operation']} ({sentences.variants(best)}; N = {rings})")
    if told:
        yield f"Depth, {sentences.place(parameters)}: the most in a row that decrypt right are {'; '.join(told)}."


def _cost(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Bits that one operation takes on average, of the rows of one operation, variant and chain."""
    known = sorted((row for row in rows if row["bits"] is not None), key=lambda row: int(row["repetitions"]))
    if len(known) < 2:
        return None
    first, last = known[0], known[-1]
    lost = (first["bits"] - last["bits"]) / (last["repetitions"] - first["repetitions"])
    return {"operation": first["operation"], "variant": first["variant"], "bits": lost}


def draw_noise(rows: Sequence[Row]) -> Chart | None:
    """Bits left of a full vector against the number of operations: noise budget (bfv, bgv) or precision (ckks).

    One small chart per operation and ring. Counts are powers of 2, so that a place for each makes a logarithmic axis
    that has a 0. Libraries often agree to the bit: then marks and lines lie upon each other, the first variant's the
    largest and widest, so that none is hidden and none is moved to where nothing was counted.
    """
    if not rows:
        return None
    chosen = charting.with_rings(charting.fullest(rows))
    known = sorted(
        ({**row, "place": f"{row['operation']}, N = {row['ring']}"} for row in chosen),
        key=lambda row: str(row["variant"]),
    )
    names = charting.variants_of(known)
    columns = ("variant", "place", "repetitions", "bits")
    order = list(dict.fromkeys(f"{row['operation']}, N = {row['ring']}" for row in chosen))
    base = alt.Chart().encode(
        x=alt.X("repetitions:O", title="Operations applied", axis=charting.counts_axis()),
        y=alt.Y("bits:Q", title="Bits left"),
        color=charting.colour(names),
    )
    line = base.mark_line().encode(strokeWidth=charting.nested_widths(names, 6, 1))
    points = base.mark_point(filled=False, strokeWidth=1.8, opacity=1).encode(
        shape=charting.shape(names),
        size=alt.Size("variant:O", title=charting.VARIANT, scale=charting.nested(names, 160, 25)),
        tooltip=charting.tips("variant:N", "place:N", "repetitions:Q", "bits:Q"),
    )
    return charting.dressed(
        alt.layer(line, points, data=charting.data(known, *columns))
        .properties(width=charting.WIDTH, height=charting.HEIGHT)
        .facet(facet=alt.Facet("place:N", title=None, sort=order), columns=2)
        .resolve_scale(x="independent")
        .resolve_axis(y="independent")
    )


def draw_bits_left(rows: Sequence[Row]) -> Chart | None:
    """Bits left of one ciphertext's vector after one operation, by ring and variant."""
    known = [{**row, "text": f"{row['bits']:.0f}"} for row in charting.with_rings(charting.fullest(rows))]
    return charting.grouped_bars(known, "bits", "Bits left", alt.Axis(tickCount=6))


def draw_depth(rows: Sequence[Row]) -> Chart | None:
    """The most operations in a row that still decrypt right, by ring and variant; ≥ where the search met its cap."""
    known = [
        {**row, "text": f"{'≥ ' if row['is_capped'] else ''}{row['depth']:,}"}
        for row in charting.with_rings(charting.fullest([row for row in rows if row["depth"] is not None]))
    ]
    return charting.grouped_bars(known, "depth", "Operations that decrypt right", charting.whole_axis())


_ADDITION = Column("addition", "What the library adds on purpose", formats.text, is_prose=True)

NOISE = Figure(
    name="noise",
    title="Bits left against the number of operations",
    lead=(
        "Noise budget (bfv, bgv) or precision (ckks) after 0, 1, 2, 4, 8, … operations in a row. Variants that agree "
        "lie upon each other, each with a mark of its own size. Fresh keys move a budget by a bit or two: less is no "
        "difference. What a library adds on purpose when it decrypts stands beside."
    ),
    view="noise",
    subject=subject.NOISE,
    where={"phase": "operation"},
    narrowed_by=(*PLACE, *VECTOR),
    order="operation, ring_dimension, size, variant, repetitions",
    derive=with_additions,
    tell=tell_noise,
    chart=draw_noise,
    noted_by=("metric", "meaning"),
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("repetitions", "Operations", formats.digits, is_number=True),
        Column("bits", "Bits left", formats.bits, is_number=True),
        Column("meaning", "Of"),
        _ADDITION,
    ),
)
BITS_LEFT = Figure(
    name="bits-left",
    title="Bits left after one operation",
    lead=(
        "Noise budget (bfv, bgv) or precision (ckks) of the result of one operation on fresh ciphertexts. The chart "
        "has one ciphertext's vector, the table every size. Fresh keys move a budget by a bit or two: less is no "
        "difference."
    ),
    view="bits_left",
    subject=subject.OPERATION,
    where={"phase": "operation"},
    narrowed_by=(*PLACE, *VECTOR),
    order="operation, ring_dimension, size, variant, meaning",
    derive=with_additions,
    tell=tell_bits_left,
    chart=draw_bits_left,
    noted_by=("metric", "meaning"),
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("bits", "Bits left", formats.bits, is_number=True),
        Column("meaning", "Of"),
        Column("n", "Samples", formats.digits, is_number=True),
        _ADDITION,
    ),
)
DEPTH = Figure(
    name="depth",
    title="Depth",
    lead="The most operations in a row whose result still decrypts right; ≥ where the search ended at its cap.",
    view="depth",
    subject=subject.DEPTH,
    narrowed_by=(*PLACE, *VECTOR),
    may_lack=("security_compared",),
    order="operation, ring_dimension, size, variant",
    tell=tell_depth,
    chart=draw_depth,
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("depth", "Operations", formats.digits, is_number=True),
        Column("is_capped", "At the cap", formats.yes),
        STATUS,
        REASON,
    ),
)
