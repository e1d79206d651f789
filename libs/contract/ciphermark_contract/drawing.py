"""Drawing a program as SVG, with a band for each level."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ciphermark_contract.operations import Shape
from ciphermark_contract.program import Node, Program

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
    """Positions of bands, by level, and of columns, in pixels."""

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
    """The picture as an SVG document; beyond :data:`MAX_NODES` nodes, it shows groups of them."""
    drawn = picture(program)
    plan = _plan(drawn)
    return "\n".join([*_head(program, drawn, plan, title), *_bands(plan), *_arrows(drawn, plan),
                      *_boxes(drawn, plan), "</svg>", ""])  # fmt: skip


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
        f"{form}{program.scheme}, N = {program.parameters.ring_dimension}, {len(program.nodes)} nodes, multiplicative "
        f"depth {program.depth}, {len(program.constants)} constants, at most {program.live_ciphertexts} "
        f"ciphertexts{grouped}"
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


# Programs of more nodes than this are drawn as groups: one for all nodes of one operation at one level.
MAX_NODES = 300
# Number of passes that order rows by their dependencies, from above and from below.
_SWEEPS = 4


@dataclass(slots=True)
class Box:
    """A node, an input, an output or a group.

    ``row`` counts within the band of ``level``, from its top. The column is chosen once all boxes exist.
    """

    text: str
    kind: str
    level: int
    row: int
    column: float = 0.0


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, and the arrows between them: two indices of boxes, and the number of values that the arrow represents."""

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int, int], ...]
    is_grouped: bool


def picture(program: Program) -> Picture:
    """Every node, or groups where there are more than :data:`MAX_NODES`."""
    is_grouped = len(program.nodes) > MAX_NODES
    boxes, arrows = _groups(program) if is_grouped else _nodes(program)
    columns = _in_order(boxes) if is_grouped else _columns(boxes, arrows)
    for box, column in zip(boxes, columns, strict=True):
        box.column = column
    return Picture(tuple(boxes), tuple(arrows), is_grouped)


def kind_of(program: Program, node: Node) -> str:
    """The main cost of a node: a key switch, a product, a change of level, a plaintext operand, or nothing."""
    before, after = program.shapes[node.operands[0]], node.results[0]
    if program.keys_of(node):
        return "key switch"
    if after.polynomials > before.polynomials:
        return "product"
    if after.level < before.level:
        return "level"
    return "plaintext" if node.constants else "sum"


def _nodes(program: Program) -> tuple[list[Box], list[tuple[int, int, int]]]:
    boxes = [Box(f"input {i}", "input", shape.level, 0) for i, shape in enumerate(program.inputs)]
    makers = list(range(len(boxes)))  # of each value, its box
    arrows = []
    for node in program.nodes:
        box, level = len(boxes), program.level_of(node)
        sources = [makers[operand] for operand in node.operands]
        above = [boxes[source].row + 1 for source in sources if boxes[source].level == level]
        boxes.append(Box(_text(node), kind_of(program, node), level, max(above, default=0)))
        arrows += [(source, box, 1) for source in dict.fromkeys(sources)]
        makers += [box] * len(node.results)
    for number, output in enumerate(program.outputs):
        maker, level = makers[output], program.shapes[output].level
        row = boxes[maker].row + 1 if boxes[maker].level == level else 0
        arrows.append((maker, len(boxes), 1))
        boxes.append(Box(f"output {number}", "output", level, row))
    return boxes, arrows


def _groups(program: Program) -> tuple[list[Box], list[tuple[int, int, int]]]:
    """One box for all inputs of a level, for all its outputs, and for all nodes of one operation at one level."""
    members: dict[tuple[int, str, str], int] = defaultdict(int)
    flows: dict[tuple[tuple[int, str, str], tuple[int, str, str]], int] = defaultdict(int)
    makers = []
    for shape in program.inputs:
        makers.append((shape.level, "input", "input"))
        members[makers[-1]] += 1
    for node in program.nodes:
        key = (program.level_of(node), node.operation, kind_of(program, node))
        members[key] += 1
        for operand in node.operands:
            flows[makers[operand], key] += 1
        makers += [key] * len(node.results)
    for output in program.outputs:
        key = (program.shapes[output].level, "output", "output")
        members[key] += 1
        flows[makers[output], key] += 1
    numbers = {key: number for number, key in enumerate(members)}
    boxes = [Box(f"{name} × {count}", kind, level, 0) for (level, name, kind), count in members.items()]
    arrows = [(numbers[a], numbers[b], count) for (a, b), count in flows.items() if a != b]
    return boxes, arrows


def _text(node: Node) -> str:
    return " ".join([node.operation, *(f"{argument:g}" for argument in node.arguments[:3])])


def _in_order(boxes: Sequence[Box]) -> list[float]:
    """Columns that place the boxes of a level side by side, in order of first occurrence."""
    counts: dict[int, int] = defaultdict(int)
    columns = []
    for box in boxes:
        columns.append(float(counts[box.level]))
        counts[box.level] += 1
    return columns


def _columns(boxes: Sequence[Box], arrows: Iterable[tuple[int, int, int]]) -> list[float]:
    """Columns that keep boxes of one row at least one apart, and each box near its operands and users."""
    rows: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, box in enumerate(boxes):
        rows[-box.level, box.row].append(number)
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for source, target, _ in arrows:
        above[target].append(source)
        below[source].append(target)
    columns = [0.0] * len(boxes)
    for row in rows.values():
        _place(row, [float(place) for place in range(len(row))], columns)
    order = sorted(rows)
    for _ in range(_SWEEPS):
        for neighbours, direction in ((above, order), (below, order[::-1])):
            for place in direction:
                row = rows[place]
                _place(row, [_mean(columns, neighbours[box], columns[box]) for box in row], columns)
    return columns


def _mean(columns: Sequence[float], neighbours: Sequence[int], otherwise: float) -> float:
    return sum(columns[box] for box in neighbours) / len(neighbours) if neighbours else otherwise


def _place(row: Sequence[int], wanted: Sequence[float], columns: list[float]) -> None:
    """Place a row's boxes at least one apart, in the order of their wanted columns, and center the row on these."""
    order = sorted(range(len(row)), key=lambda place: wanted[place])
    placed: list[float] = []
    for place in order:
        placed.append(max(wanted[place], placed[-1] + 1) if placed else wanted[place])
    shift = (sum(wanted) - sum(placed)) / len(row)
    for place, column in zip(order, placed, strict=True):
        columns[row[place]] = column + shift


def facts(program: Program) -> dict[str, str | int]:
    """Key facts about a program, by name."""
    parameters = program.parameters
    return {
        "digest": program.digest,
        "form": "managed: the library chooses levels" if program.is_managed else "driven by levels",
        "scheme": program.scheme,
        "ring dimension": parameters.ring_dimension,
        "modulus bits": ", ".join(map(str, parameters.modulus_bits)),
        "inputs": len(program.inputs),
        "outputs": len(program.outputs),
        "nodes": len(program.nodes),
        "constants": len(program.constants),
        "depth": program.depth,
        "keys": _keys(program),
        "live ciphertexts": program.live_ciphertexts,
        "nodes on the longest path": round(program.span(lambda node, level: 1.0)),
    }


def lines(program: Program) -> Iterator[str]:
    """Inputs, nodes and outputs, each value by its number: ``%3 = rotate(%2, 64)``."""
    for number, shape in enumerate(program.inputs):
        yield f"%{number} = input {number}  {_shape(shape)}"
    for node, first in zip(program.nodes, program.first_results, strict=True):
        yield _line(node, first)
    yield f"return {', '.join(f'%{output}' for output in program.outputs)}"


def _line(node: Node, first: int) -> str:
    operands = [f"%{operand}" for operand in node.operands]
    operands += [f"constant {constant}" for constant in node.constants]
    operands += [f"{argument:g}" for argument in node.arguments]
    results = ", ".join(f"%{first + number}" for number in range(len(node.results)))
    return f"{results} = {node.operation}({', '.join(operands)})  {_shape(node.results[0])}"


def _shape(shape: Shape) -> str:
    scale = "" if shape.scale is None else f", scale 2^{math.log2(shape.scale):.2f}"
    more = "" if shape.polynomials == 2 else f", {shape.polynomials} polynomials"
    return f"level {shape.level}{scale}{more}"


def _keys(program: Program) -> str:
    keys = program.keys
    descriptions = [
        "relinearization" if keys.relinearization else "",
        f"rotation by {', '.join(map(str, keys.steps))}" if keys.steps else "",
        f"X^k for k = {', '.join(map(str, keys.elements))}" if keys.elements else "",
    ]
    return "; ".join(filter(None, descriptions)) or "none"
