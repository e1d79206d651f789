"""How far operations go in a row, at a glance: a line per case, a column per variant. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import SECURITY_2024
from ciphermark_present.listings import depths, headings
from ciphermark_present.listings.printed import Cells, Head, Printed, grouped, present, told_once
from ciphermark_present.notes import addition
from ciphermark_present.query import Row

FIGURES = depths.FIGURES
_OTHERS = "; * at other parameters than most of its line"
_ABOUT_DEPTH = "the most repetitions that still decrypt right, ≥ where that was the cap"
_ABOUT_NOISE = (
    "bits of noise budget (bfv, bgv) or precision (ckks): fresh → after n operations, the last of 1, 2, 4, 8, … looked "
    "at"
)
_PLACE = ("ring_dimension", "operation", "data_pattern")
_ORDER = ("operation", "data_pattern", "ring_dimension", "apart", "depth")


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table of depths and one of bits left for each scheme, division and security level by the 2018 table, or of all
    levels with ``any_security``. ``answers`` are those of :data:`FIGURES`.
    """
    depth, noise = depths.measured(answers)
    yield from _grids("depth", _ABOUT_DEPTH, depth, any_security, _depth)
    noise_rows = [{**row, "count": row["depth"]} for row in noise]
    yield from _grids("noise", _ABOUT_NOISE, noise_rows, any_security, _bits)


def _grids(
    title: str, about: str, rows: Sequence[Row], any_security: bool, cell: Callable[[Row], str]
) -> Iterator[Printed]:
    def table(row: Row) -> tuple[object, ...]:
        level = 0 if any_security or row["division"] == "best" else -(row["security_2018"] or 0)
        return row["scheme"], row["division"] != "best", level

    told = parameters.with_apart(rows, lambda row: (table(row), *_line(row)))
    known = sorted(told, key=lambda row: (table(row), *(row[name] for name in _ORDER)))
    for same in grouped(known, table):
        division = "division best" if same[0]["division"] == "best" else ""
        level = f"security {headings.levels(same)}"
        heading = " · ".join(filter(None, (title, same[0]["scheme"], division, level)))
        yield _grid(heading, about, same, cell)


def _grid(title: str, about: str, rows: Sequence[Row], cell: Callable[[Row], str]) -> Printed:
    variants = sorted({row["variant"] for row in rows})
    lines = grouped(rows, lambda row: (row["comparison_key"], row.get("count"), row["security_2018"]))
    what = _named(rows)
    texts = []
    for line in lines:
        first, usual = line[0], _usual(line)
        cells = {row["variant"]: cell(row) + "*" * (_parameters(row) != usual) for row in line}
        own = (write({**first, "line": line}) for _, write in what)
        texts.append((*own, *(cells.get(variant, formats.NOTHING) for variant in variants)))
    heads = (*(head for head, _ in what), *(Head(variant, True) for variant in variants))
    others = _OTHERS if any(text.endswith("*") for line in texts for text in line) else ""
    return Printed(title, about + others, heads, told_once(texts, 1), len(what), _added(rows))


def _named(rows: Sequence[Row]) -> list[Cells]:
    """What a line is about, as far as lines differ in it."""
    has_several_patterns = len({row["data_pattern"] for row in rows}) > 1
    message: Cells = (Head("message"), lambda row: parameters.told(row, parameters.MESSAGE))
    has_count = rows[0].get("count") is not None
    optional: list[Cells] = [
        *[(Head("data"), lambda row: str(row["data_pattern"]))] * has_several_patterns,
        *[message],
        *[(Head("case"), lambda row: str(row["apart"]))] * any(row["apart"] for row in rows),
        *[(Head("2024"), _levels)] * (not headings.is_shared(SECURITY_2024, rows)),
        *[(Head("n", True), lambda row: str(row["count"]))] * has_count,
    ]
    return [
        (Head("operation"), lambda row: str(row["operation"])),
        (Head("N", True), lambda row: str(row["ring_dimension"])),
        *present(optional, [{**row, "line": [row]} for row in rows]),
    ]


def _levels(row: Row) -> str:
    return "/".join(dict.fromkeys(SECURITY_2024.brief_cell(each) for each in row["line"]))


def _line(row: Row) -> tuple[object, ...]:
    message = parameters.told(row, parameters.MESSAGE)
    return (*(row[name] for name in _PLACE), message, row.get("count"))


def _parameters(row: Row) -> tuple[object, ...]:
    return row["ring_dimension"], tuple(row["modulus_bits"])


def _usual(line: Sequence[Row]) -> tuple[object, ...]:
    """The parameters of most variants; of the first of them where none has more."""
    return Counter(map(_parameters, line)).most_common(1)[0][0]


def _depth(row: Row) -> str:
    return f"{'≥ ' if row['is_capped'] else ''}{row['depth']:.0f}"


def _bits(row: Row) -> str:
    ends = (formats.NOTHING if bits is None else f"{bits:.0f}" for bits in (row["fresh"], row["last"]))
    return " → ".join(ends)


def _added(rows: Sequence[Row]) -> str:
    """What libraries add on purpose when they decrypt, where precision is told."""
    told = {row["variant"]: addition(row) for row in rows if "meaning" in row}
    return "; ".join(f"{variant}: {text}" for variant, text in sorted(told.items()) if text)
