"""Where the nodes of a program's picture lie: a band for each level, rows by dependency. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ciphermark_contract.program import Node, Program

# Programs of more nodes than this are drawn as groups: one for all nodes of one operation at one level.
MOST_NODES = 300
# How often rows are put in the order of what they depend on, from above and from below.
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Box:
    """A node, an input, an output or a group. ``row`` counts within the band of ``level``, from its top."""

    text: str
    kind: str
    level: int
    row: int
    column: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, and the arrows between them by index with the number of values that each stands for."""

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int, int], ...]
    is_grouped: bool


@dataclass(slots=True)
class _Draft:
    text: str
    kind: str
    level: int
    row: int


def picture(program: Program) -> Picture:
    """Every node, or groups where there are more than :data:`MOST_NODES`."""
    is_grouped = len(program.nodes) > MOST_NODES
    drafts, arrows = _groups(program) if is_grouped else _nodes(program)
    columns = _in_order(drafts) if is_grouped else _columns(drafts, arrows)
    boxes = tuple(
        Box(draft.text, draft.kind, draft.level, draft.row, column)
        for draft, column in zip(drafts, columns, strict=True)
    )
    return Picture(boxes, tuple(arrows), is_grouped)


def kind_of(program: Program, node: Node) -> str:
    """What a node costs most for: a key switch, a product, a change of level, a plaintext operand, or nothing."""
    before, after = program.shapes[node.operands[0]], node.results[0]
    if program.keys_of(node):
        return "key switch"
    if after.polynomials > before.polynomials:
        return "product"
    if after.level < before.level:
        return "level"
    return "plaintext" if node.constants else "sum"


def _nodes(program: Program) -> tuple[list[_Draft], list[tuple[int, int, int]]]:
    drafts = [_Draft(f"input {i}", "input", shape.level, 0) for i, shape in enumerate(program.inputs)]
    makers = list(range(len(drafts)))  # of each value, its box
    arrows = []
    for node in program.nodes:
        box, level = len(drafts), program.level_of(node)
        sources = [makers[operand] for operand in node.operands]
        above = [drafts[source].row + 1 for source in sources if drafts[source].level == level]
        drafts.append(_Draft(_text(node), kind_of(program, node), level, max(above, default=0)))
        arrows += [(source, box, 1) for source in dict.fromkeys(sources)]
        makers += [box] * len(node.results)
    for number, output in enumerate(program.outputs):
        maker, level = makers[output], program.shapes[output].level
        row = drafts[maker].row + 1 if drafts[maker].level == level else 0
        arrows.append((maker, len(drafts), 1))
        drafts.append(_Draft(f"output {number}", "output", level, row))
    return drafts, arrows


def _groups(program: Program) -> tuple[list[_Draft], list[tuple[int, int, int]]]:
    """One box for all inputs of a level, and for all nodes of one operation at one level; outputs alike."""
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
    drafts = [_Draft(f"{name} × {count}", kind, level, 0) for (level, name, kind), count in members.items()]
    arrows = [(numbers[a], numbers[b], count) for (a, b), count in flows.items() if a != b]
    return drafts, arrows


def _text(node: Node) -> str:
    return " ".join([node.operation, *(f"{argument:g}" for argument in node.arguments[:3])])


def _in_order(drafts: Sequence[_Draft]) -> list[float]:
    """Boxes of a level beside each other, in the order in which they first come."""
    counts: dict[int, int] = defaultdict(int)
    columns = []
    for draft in drafts:
        columns.append(float(counts[draft.level]))
        counts[draft.level] += 1
    return columns


def _columns(drafts: Sequence[_Draft], arrows: Iterable[tuple[int, int, int]]) -> list[float]:
    """Columns such that boxes of one row are at least one apart, each near to what it depends on and what needs it."""
    rows: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, draft in enumerate(drafts):
        rows[-draft.level, draft.row].append(number)
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for source, target, _ in arrows:
        above[target].append(source)
        below[source].append(target)
    columns = [0.0] * len(drafts)
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
    """Put a row's boxes where they want to be, in that order, one apart, and the row as a whole in their middle."""
    order = sorted(range(len(row)), key=lambda place: wanted[place])
    placed: list[float] = []
    for place in order:
        placed.append(max(wanted[place], placed[-1] + 1) if placed else wanted[place])
    shift = (sum(wanted) - sum(placed)) / len(row)
    for place, column in zip(order, placed, strict=True):
        columns[row[place]] = column + shift
