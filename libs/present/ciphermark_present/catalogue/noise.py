"""Figures of noise and multiplicative depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_core.security import COMPARED_BY
from ciphermark_present import charting, formats, headings, noise_lines, parameters, sentences, subject
from ciphermark_present.by_ring import by_ring
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    CHAIN,
    DATA,
    OPERATION,
    REASON,
    SECURITY_2024,
    SIZE,
    STATUS,
    VARIANT,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure, Layout
from ciphermark_present.formats import bits
from ciphermark_present.listing import level_of
from ciphermark_present.notes import addition, with_additions
from ciphermark_present.plots import Value
from ciphermark_present.printed import Cells, Head, Pivot, Wanted, grouped, of, present
from ciphermark_present.query import Row


def tell_noise(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The average cost in bits of the most expensive operation, over consecutive operations, at the largest N."""
    costs = _most_expensive(every)
    if costs:
        yield (
            f"Noise, {sentences.place(parameters)}, N = {costs[0]['ring_dimension']}: {costs[0]['operation']} consumes "
            f"the largest number of bits of {costs[0]['meaning']} per operation: on average "
            f"{sentences.extent(costs, 'bits', bits)}."
        )


def find_noise(every: Sequence[Row]) -> str:
    """The same as a heading."""
    costs = _most_expensive(every)
    if not costs:
        return ""
    least, most = (choose(cost["bits"] for cost in costs) for choose in (min, max))
    extent = bits(least) if bits(least) == bits(most) else f"{least:.1f} to {most:.1f}"
    return (
        f"Each {costs[0]['operation']} costs {extent} bits of {costs[0]['meaning']} at "
        f"N = {costs[0]['ring_dimension']}"
    )


def _most_expensive(every: Sequence[Row]) -> list[dict[str, Any]]:
    """The costs of the operation with the highest cost, one for each variant and chain at the largest N."""
    largest = max((row["ring_dimension"] for row in every), default=0)
    here = [row for row in every if row["ring_dimension"] == largest]
    costs = [
        cost for rows in sentences.by(here, "operation", "variant", "modulus_bits") if (cost := _cost(rows))
    ]
    operation = max(costs, key=lambda cost: cost["bits"])["operation"] if costs else None
    return [cost for cost in costs if cost["operation"] == operation]


def tell_remaining_bits(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The operation with the smallest remaining noise budget or precision, at the largest N."""
    largest = max(row["ring_dimension"] for row in every)
    here = [row for row in every if row["ring_dimension"] == largest]
    least = min(here, key=lambda row: float(row["bits"]))
    same = [row for row in here if all(row[name] == least[name] for name in ("operation", "meaning"))]
    yield (
        f"Remaining noise budget or precision, {sentences.place(parameters)}, N = {largest}: after one operation the "
        f"least {least['meaning']} is left by {least['operation']}, {sentences.extent(same, 'bits', bits)}."
    )


def tell_depth(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The maximum number of consecutive operations that decrypts correctly, by operation, with the variants that reach
    it.
    """
    cases = [row for row in every if row["depth"] is not None]
    texts = []
    for rows in sentences.by(cases, "operation"):
        most = max(row["depth"] for row in rows)
        best = [row for row in rows if row["depth"] == most]
        mark = "at least " if any(row["is_at_max_repetitions"] for row in best) else ""
        rings = " or ".join(str(ring) for ring in sorted({row["ring_dimension"] for row in best}))
        texts.append(f"{mark}{most:,.0f} {rows[0]['operation']} ({sentences.variants(best)}; N = {rings})")
    if texts:
        yield (
            f"Depth, {sentences.place(parameters)}: maximum number of consecutive operations that decrypt "
            f"correctly: {'; '.join(texts)}."
        )


def find_remaining(rows: Sequence[Row]) -> str:
    """The operation with the smallest remaining noise budget or precision, at the largest N."""
    here = charting.largest(rows)
    largest = here[0]["ring_dimension"]
    least = min(here, key=lambda row: float(row["bits"]))
    return (
        f"{least['operation']} leaves the least {least['meaning']} at N = {largest}: {bits(least['bits'])} bits "
        f"({least['variant']})"
    )


def find_depth(rows: Sequence[Row]) -> str:
    """The maximum number of consecutive operations that decrypts correctly, of the operation with the smallest one."""
    cases = [row for row in rows if row["depth"] is not None]
    best = [max(own, key=lambda row: int(row["depth"])) for own in sentences.by(cases, "operation")]
    if not best:
        return ""
    least = min(best, key=lambda row: int(row["depth"]))
    mark = "at least " if least["is_at_max_repetitions"] else "at most "
    return (
        f"{mark.capitalize()}{least['depth']:,} consecutive {least['operation']} decrypt correctly, at "
        f"N = {least['ring_dimension']}"
    )


def _cost(rows: Sequence[Row]) -> dict[str, Any] | None:
    """The average cost in bits of one operation, from the correct states of one operation, variant and chain: where a
    result is incorrect, no bit is left to lose.
    """
    measurements = sorted(
        (row for row in rows if row["bits"] is not None and noise_lines.is_correct(row)),
        key=lambda row: int(row["repetitions"]),
    )
    if len(measurements) < 2:
        return None
    first, last = measurements[0], measurements[-1]
    lost = (first["bits"] - last["bits"]) / (last["repetitions"] - first["repetitions"])
    return {**first, "bits": lost}


def draw_remaining_bits(rows: Sequence[Row]) -> Chart | None:
    """Remaining noise budget or precision after one operation, with a vector of one ciphertext, at the largest N."""
    cases = charting.largest(rows)
    axis = charting.linear(row["bits"] for row in cases)
    told = [charting.text_tip("bits", "Bits")]
    return by_ring(cases, Value("bits", "Bits", axis, told, written={"bits": formats.bits}))


def draw_depth(rows: Sequence[Row]) -> Chart | None:
    """The maximum number of consecutive operations that decrypts correctly, by ring and variant; ≥ where the search
    ended at max_repetitions.
    """
    cases = [
        {**row, "text": f"{'≥ ' if row['is_at_max_repetitions'] else ''}{row['depth']:,}"}
        for row in charting.fullest([row for row in rows if row["depth"] is not None])
    ]
    axis = charting.counts(row["depth"] for row in cases)
    told = [alt.Tooltip("text:N", title="Operations")]
    value = Value("depth", "Operations that decrypt correctly", axis, told, columns=("text",))
    return by_ring(cases, value)


_ADDITION = Column("addition", "Decryption noise (IND-CPA-D)", formats.text, is_prose=True)
Write = Callable[[Row], str]
Prepare = Callable[[Sequence[Sequence[Row]], Wanted], list[Row]]
_OTHERS = "* other parameters than most of its line"
_AT_MAX = "≥ search ended at max_repetitions"
_ABOUT = {
    "depth": "Maximum number of consecutive operations that decrypt correctly",
    "noise": "Noise budget (BFV, BGV) or precision (CKKS) in bits: fresh → after n consecutive operations",
}
_ABOUT_DETAILS = {
    "depth": _ABOUT["depth"],
    "noise": "Noise budget (BFV, BGV) or precision (CKKS): fresh, and after the last operation",
}


def _cases(rows: Sequence[Row]) -> list[list[Row]]:
    return grouped(rows, lambda row: (row["comparison_group"], row["variant"]))


def _ends(rows: Sequence[Row]) -> dict[str, Any]:
    """Remaining noise budget or precision of fresh ciphertexts, and after the largest number of operations."""
    by_count = {row["repetitions"]: row["bits"] for row in rows if row["repetitions"] is not None}
    return {"fresh": by_count.get(0), "last": by_count[max(by_count)] if by_count else None}


def depths(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
    """A row for each case and variant that has a depth, with its known remaining noise budget or precision at both
    ends.
    """
    bits = {(rows[0]["comparison_group"], rows[0]["variant"]): _ends(rows) for rows in _cases(answers[1])}
    none = {"fresh": None, "last": None, "count": None}
    return [
        {**row, **none, **bits.get((row["comparison_group"], row["variant"]), {})}
        for row in answers[0]
        if row["depth"] is not None
    ]


def noises(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
    """A row for each case and variant that has a remaining noise budget or precision; its depth is the largest number
    of operations in the rows.
    """
    most = [(rows, max(row["repetitions"] for row in rows)) for rows in _cases(answers[0])]
    return [
        {**rows[0], "depth": count, "count": count, "is_at_max_repetitions": False, **_ends(rows)}
        for rows, count in most
    ]


def _depth(row: Row) -> str:
    return f"{'≥ ' if row['is_at_max_repetitions'] else ''}{row['depth']:.0f}"


def _bits(row: Row) -> str:
    return " → ".join(
        formats.NOTHING if bits is None else f"{bits:.0f}" for bits in (row["fresh"], row["last"])
    )


def _parameters(row: Row) -> tuple[object, ...]:
    return row["ring_dimension"], tuple(row["modulus_bits"])


def _is_other(row: Row, line: Sequence[Row]) -> bool:
    """Whether its parameters differ from those of most variants; in a tie, from the first of the most common ones."""
    return _parameters(row) != Counter(map(_parameters, line)).most_common(1)[0][0]


def _line(row: Row) -> tuple[object, ...]:
    return row["comparison_group"], row["count"], row["security_2018"]


def _marks(rows: Sequence[Row]) -> Iterator[str]:
    """The meanings of the marks in the table."""
    if any(row["is_at_max_repetitions"] for row in rows):
        yield _AT_MAX
    if any(_is_other(row, line) for line in grouped(rows, _line) for row in line):
        yield _OTHERS


def _named(rows: Sequence[Row], _: Wanted) -> list[Cells]:
    """The columns that identify a line, as far as lines differ in them."""
    has_several_patterns = len({row["data_pattern"] for row in rows}) > 1
    optional: list[Cells] = [
        *[(Head("data"), lambda row: str(row["data_pattern"]))] * has_several_patterns,
        (Head("message"), _message),
        *[(Head("case"), lambda row: str(row["case_in_words"]))] * any(row["case_in_words"] for row in rows),
        *[(Head("2024"), _levels)] * (not headings.is_shared(SECURITY_2024, rows)),
        *[(Head("n", True), lambda row: str(row["count"]))] * (rows[0]["count"] is not None),
    ]
    return [
        (Head("operation"), lambda row: str(row["operation"])),
        (Head("N", True), lambda row: str(row["ring_dimension"])),
        *present(optional, [{**row, "line": [row]} for row in rows]),
    ]


def _levels(row: Row) -> str:
    return "/".join(dict.fromkeys(SECURITY_2024.brief_cell(each) for each in row["line"]))


def _added(rows: Sequence[Row]) -> str:
    """The decryption noise (IND-CPA-D) that libraries add, where precision is reported."""
    additions = {row["variant"]: addition(row) for row in rows if "meaning" in row}
    return "; ".join(f"{variant}: {text}" for variant, text in sorted(additions.items()) if text)


def _message(row: Row) -> str:
    return parameters.told(row, parameters.MESSAGE)


def _parameters_in_words(rows: Sequence[Row]) -> str:
    first = rows[0]
    ring = (
        f"{first['scheme'].upper()}, N = {first['ring_dimension']} ({formats.chain(first['modulus_bits'])})"
    )
    messages = dict.fromkeys(map(_message, rows))
    return f"{', '.join(filter(None, (ring, *messages)))}. Security: {headings.levels(rows)}"


def _end(name: str) -> Cells:
    return Head(name, True, drop=1), lambda row: "" if row[name] is None else f"{row[name]:.0f} bits"


def _case(rows: Sequence[Row]) -> list[Cells]:
    """The columns that identify a case, as far as cases differ in them."""
    has_messages = len(set(map(_message, rows))) > 1
    return [
        *map(of, (OPERATION, DATA)),
        *[(Head("message"), _message)] * has_messages,
        *[(Head("case"), lambda row: str(row["case_in_words"]))] * any(row["case_in_words"] for row in rows),
    ]


def _detailed(rows: Sequence[Row], _: Wanted) -> Iterator[Cells]:
    yield from _case(rows)
    yield of(VARIANT)
    yield from (of(column) for column in headings.LEVELS if not headings.is_shared(column, rows))
    yield (
        Head("operations", True),
        lambda row: f"{row['depth']:.0f}{' (maximum)' if row['is_at_max_repetitions'] else ''}",
    )
    added: Cells = (
        Head("decryption noise (IND-CPA-D)", is_prose=True),
        lambda row: addition(row) if "meaning" in row else "",
    )
    yield from present([_end("fresh"), _end("last"), added], rows)


def _in_words(row: Row) -> tuple[object, ...]:
    place = (row[name] for name in ("ring_dimension", "operation", "data_pattern"))
    return *place, _message(row), row["count"]


_IN_DETAIL = ("operation", "data_pattern", "comparison_group", "variant")
_AT_A_GLANCE = ("operation", "data_pattern", "ring_dimension", "case_in_words", "depth")


def _told_apart(rows: Sequence[Row], place: Callable[[Row], Any]) -> list[Row]:
    labels = parameters.apart(rows, place)
    return [{**row, "case_in_words": label} for row, label in zip(rows, labels, strict=True)]


def _layouts(
    title: str, prepare: Prepare, write: Write, place: int, *others: Figure
) -> tuple[Layout, Layout]:
    """The layouts. The summary has a line per case and a column per variant, and one table for the cases of a level.
    The detailed layout has all cases.
    """

    def compared(answers: Sequence[Sequence[Row]], wanted: Wanted) -> list[Row]:
        return _told_apart(
            prepare(answers, wanted),
            lambda row: (row["scheme"], row["tuning"], level_of(row, wanted, True), _in_words(row)),
        )

    def all_of_them(answers: Sequence[Sequence[Row]], wanted: Wanted) -> list[Row]:
        return _told_apart(
            prepare(answers, wanted),
            lambda row: (row["scheme"], *_in_words(row), tuple(row["modulus_bits"])),
        )

    def heading(rows: Sequence[Row], _: Wanted) -> str:
        tuning = "recommended tuning" if rows[0]["tuning"] == "recommended" else ""
        about = ", ".join(filter(None, (rows[0]["scheme"].upper(), title, tuning)))
        return f"{about}. Security: {headings.levels(rows)}"

    at_a_glance = Layout(
        others=others,
        rows=compared,
        table=("scheme", "tuning"),
        is_recommended_mixed=True,
        order=lambda row: tuple(row[name] for name in _AT_A_GLANCE),
        title=heading,
        about=lambda rows, _: ". ".join((_ABOUT[title], *_marks(rows))),
        columns=_named,
        pivot=Pivot(_line, lambda row, line: write(row) + "*" * _is_other(row, line)),
        noted=_added,
        place=place,
        needs_details=False,
    )
    in_detail = Layout(
        others=others,
        rows=all_of_them,
        table=("scheme", "ring_dimension", "modulus_bits"),
        is_by_level=False,
        order=lambda row: tuple(row[name] for name in _IN_DETAIL),
        title=lambda rows, _: f"{title[0].upper()}{title[1:]}. {_parameters_in_words(rows)}",
        about=lambda rows, _: _ABOUT_DETAILS[title],
        columns=_detailed,
        once=lambda rows: len(_case(rows)),
        place=place,
        needs_details=True,
    )
    return at_a_glance, in_detail


NOISE = Figure(
    name="noise",
    title="Remaining bits by number of operations",
    lead=(
        "Remaining noise budget (BFV, BGV) or precision (CKKS) after 0, 1, 2, 4, 8, … consecutive operations."
    ),
    reading=(
        "The axis of counts is linear: equal costs are a straight line. Dashes continue it from the last correct "
        "state to the cross, where no bits are left (CKKS: 10 bits of precision). Marks of different sizes show "
        "variants that coincide. New keys change a budget by a bit or two: smaller differences are not significant. "
        "The column on decryption noise states what a library adds when it decrypts (IND-CPA-D)."
    ),
    view="noise",
    subject=subject.NOISE,
    where={"phase": "evaluate"},
    order="operation, ring_dimension, vector_length, variant, repetitions",
    derive=with_additions,
    tell=tell_noise,
    finding=find_noise,
    chart=noise_lines.draw,
    printed=_layouts("noise", noises, _bits, 31),
    noted_by=("metric", "meaning"),
    columns=(
        OPERATION,
        N,
        *columns.opened(CHAIN),
        SIZE,
        VARIANT,
        columns.count("repetitions", "Operations"),
        Column("bits", "Noise budget or precision", formats.bits, is_number=True),
        Column("meaning", "Of"),
        *columns.opened(_ADDITION),
    ),
)
REMAINING_BITS = Figure(
    name="remaining-bits",
    title="Remaining bits after one operation",
    lead=("Remaining noise budget (BFV, BGV) or precision (CKKS) after one operation on fresh ciphertexts."),
    reading=(
        "The chart shows one full ciphertext at the largest N, the table all of them. New keys change a budget by a "
        "bit or two: smaller differences are not significant."
    ),
    view="remaining_bits",
    subject=subject.OPERATION,
    where={"phase": "evaluate"},
    order="operation, ring_dimension, vector_length, variant, meaning",
    derive=with_additions,
    tell=tell_remaining_bits,
    finding=find_remaining,
    chart=draw_remaining_bits,
    printed=(),
    noted_by=("metric", "meaning"),
    columns=(
        OPERATION,
        N,
        *columns.opened(CHAIN),
        SIZE,
        VARIANT,
        Column("bits", "Noise budget or precision", formats.bits, is_number=True),
        Column("meaning", "Of"),
        *columns.opened(columns.count("n", "Samples"), _ADDITION),
    ),
)
DEPTH = Figure(
    name="depth",
    title="Maximum number of consecutive operations",
    lead="Maximum number of consecutive operations whose result decrypts correctly.",
    reading="≥ marks a search that ended at max_repetitions.",
    view="depths",
    subject=subject.DEPTH,
    may_lack=tuple(COMPARED_BY.values()),
    order="operation, ring_dimension, vector_length, variant",
    tell=tell_depth,
    finding=find_depth,
    chart=draw_depth,
    printed=_layouts("depth", depths, _depth, 30, replace(NOISE, subject=subject.DEPTH)),
    columns=(
        OPERATION,
        N,
        *columns.opened(CHAIN),
        SIZE,
        VARIANT,
        columns.count("depth", "Operations"),
        Column("is_at_max_repetitions", "At the maximum", formats.yes),
        STATUS,
        *columns.opened(REASON),
    ),
)
