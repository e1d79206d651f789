"""A program as a picture: SVG with a band for each level, made of text alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from ciphermark_contract import layout
from ciphermark_contract.layout import Box, Picture
from ciphermark_contract.program import Program

_BOX_HEIGHT = 24
_ROW = 46  # from one row to the next; groups, with arcs above and below them, take more
_GROUPS_ROW = 150
_BAND_GAP = 26
_LEFT, _TOP = 92, 96
_MARGIN = 24
# Fill and line by kind; dark text on all of them has a contrast of 7 and more.
_COLOURS: Mapping[str, tuple[str, str]] = {
    "key switch": ("#f9d5d3", "#b3261e"),
    "product": ("#fde3c4", "#b45309"),
    "level": ("#d7efd9", "#2e7d32"),
    "plaintext": ("#f3ecc2", "#8a7400"),
    "sum": ("#dbe7f6", "#2f5f98"),
    "input": ("#ffffff", "#374151"),
    "output": ("#ffffff", "#374151"),
}
_LEGEND = {
    "key switch": "takes an evaluation key",
    "product": "multiplies ciphertexts",
    "level": "changes the level",
    "plaintext": "takes a plaintext",
    "sum": "anything else",
}


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where bands begin, by level, and where columns do."""

    tops: Mapping[int, float]
    heights: Mapping[int, float]
    first_column: float
    width: float
    height: float
    row: int
    box_width: int

    def centre(self, box: Box) -> tuple[float, float]:
        """The middle of a box, in pixels."""
        x = _LEFT + (box.column - self.first_column) * _pitch(self.box_width) + self.box_width / 2 + _MARGIN
        return x, self.tops[box.level] + box.row * self.row + self.row / 2


def svg(program: Program, title: str) -> str:
    """The picture as an SVG document; beyond :data:`layout.MOST_NODES` nodes, of groups of them."""
    picture = layout.picture(program)
    plan = _plan(picture)
    return "\n".join([*_head(program, picture, plan, title), *_bands(plan), *_arrows(picture, plan),
                      *_boxes(picture, plan), "</svg>", ""])  # fmt: skip


def _pitch(box_width: int) -> int:
    """From one column to the next."""
    return box_width + 12


def _plan(picture: Picture) -> _Plan:
    row, box_width = (_GROUPS_ROW, 136) if picture.is_grouped else (_ROW, 88)
    rows: dict[int, int] = {}
    for box in picture.boxes:
        rows[box.level] = max(rows.get(box.level, 0), box.row + 1)
    tops, heights, top = {}, {}, float(_TOP)
    for level in sorted(rows, reverse=True):
        tops[level], heights[level] = top, float(rows[level] * row)
        top += rows[level] * row + _BAND_GAP
    columns = [box.column for box in picture.boxes]
    first, last = min(columns, default=0.0), max(columns, default=0.0)
    width = max(_LEFT + (last - first) * _pitch(box_width) + box_width + 3 * _MARGIN, 900.0)
    return _Plan(tops, heights, first, width, top, row, box_width)


def _head(program: Program, picture: Picture, plan: _Plan, title: str) -> Iterator[str]:
    form = "managed form; " if program.is_managed else ""
    grouped = "; groups: all nodes of one operation at one level" if picture.is_grouped else ""
    facts = (
        f"{form}{program.scheme}, N = {program.parameters.ring_dimension}, {len(program.nodes)} nodes, depth "
        f"{program.depth}, {len(program.constants)} constants, at most {program.live_ciphertexts} ciphertexts{grouped}"
    )
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plan.width:.0f} {plan.height:.0f}" '
        f'width="{plan.width:.0f}" height="{plan.height:.0f}" role="img" font-family="sans-serif" font-size="12">'
    )
    yield f"<title>{escape(title)}</title>"
    yield f'<rect width="{plan.width:.0f}" height="{plan.height:.0f}" fill="#ffffff"/>'
    yield f'<text x="{_MARGIN}" y="30" font-size="18" fill="#111827">{escape(title)}</text>'
    yield f'<text x="{_MARGIN}" y="50" fill="#374151">{escape(facts)}</text>'
    for number, (kind, meaning) in enumerate(_LEGEND.items()):
        fill, line = _COLOURS[kind]
        x = _MARGIN + number * 176
        yield f'<rect x="{x}" y="62" width="14" height="14" rx="3" fill="{fill}" stroke="{line}"/>'
        yield f'<text x="{x + 20}" y="73" fill="#374151">{meaning}</text>'


def _bands(plan: _Plan) -> Iterator[str]:
    for number, (level, top) in enumerate(plan.tops.items()):
        fill = "#f9fafb" if number % 2 else "#f3f4f6"
        height = plan.heights[level]
        yield (
            f'<rect x="{_MARGIN}" y="{top:.0f}" width="{plan.width - 2 * _MARGIN:.0f}" height="{height:.0f}" '
            f'rx="6" fill="{fill}"/>'
        )
        yield f'<text x="{_MARGIN + 10}" y="{top + 20:.0f}" fill="#374151">level {level}</text>'


def _arrows(picture: Picture, plan: _Plan) -> Iterator[str]:
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#6b7280"/></marker></defs>'
    )
    yield '<g fill="none" stroke="#6b7280" stroke-opacity="0.75" marker-end="url(#tip)">'
    for source, target, count in picture.arrows:
        width = 1 + math.log10(count)
        path = _path(plan, picture.boxes[source], picture.boxes[target])
        yield f'<path d="{path}" stroke-width="{width:.1f}" marker-end="url(#tip)"/>'
    yield "</g>"


def _path(plan: _Plan, source: Box, target: Box) -> str:
    (x1, y1), (x2, y2) = plan.centre(source), plan.centre(target)
    if y1 == y2:  # groups of one level: an arc above them to the right, below them to the left
        side = -1 if x2 > x1 else 1
        y, height = y1 + side * _BOX_HEIGHT / 2, min(14 + abs(x2 - x1) / 8, plan.row - _BOX_HEIGHT)
        return f"M{x1:.0f} {y:.0f}Q{(x1 + x2) / 2:.0f} {y + side * height:.0f} {x2:.0f} {y:.0f}"
    y1, y2 = y1 + _BOX_HEIGHT / 2, y2 - _BOX_HEIGHT / 2
    bend = min(max((y2 - y1) / 2, 10), 120)
    return f"M{x1:.0f} {y1:.0f}C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"


def _boxes(picture: Picture, plan: _Plan) -> Iterator[str]:
    for box in picture.boxes:
        fill, line = _COLOURS[box.kind]
        x, y = plan.centre(box)
        size = min(12.0, 1.7 * (plan.box_width - 8) / max(len(box.text), 1))
        yield (
            f'<rect x="{x - plan.box_width / 2:.0f}" y="{y - _BOX_HEIGHT / 2:.0f}" width="{plan.box_width}" '
            f'height="{_BOX_HEIGHT}" rx="5" fill="{fill}" stroke="{line}"/>'
        )
        yield (
            f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" font-size="{size:.1f}" fill="#111827">'
            f"{escape(box.text)}</text>"
        )
