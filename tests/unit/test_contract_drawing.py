"""Pictures and listings of programs: every node has a place of its own, and arrows go down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS
from ciphermark_contract import drawing
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import fresh_inputs, trace
from ciphermark_core.model import ParameterSpec

PARAMETERS = CleartextAdapter(DECLARATIONS[0]).resolve(
    ParameterSpec("ckks", 64, (60, 40, 40, 40, 60), scale_bits=40, security=0)
)


def _program(width: int) -> Program:
    """Two products of sums of rotations, ``width`` rotations each."""

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        x, y = inputs
        do = evaluator.managed().apply
        for _ in range(2):
            total = x
            for step in range(1, width + 1):
                total = do("add", total, do("rotate", x, step))
            x = do("mul", total, y)
        return [x, y]

    return trace(circuit, PARAMETERS, fresh_inputs(PARAMETERS, 2)).program


SMALL, LARGE = _program(3), _program(drawing.MAX_NODES)


def test_boxes_of_a_row_do_not_overlap_and_arrows_go_down() -> None:
    picture = drawing.picture(SMALL)
    assert not picture.is_grouped
    assert len(picture.boxes) == len(SMALL.nodes) + len(SMALL.inputs) + len(SMALL.outputs)
    rows: dict[tuple[int, int], list[float]] = {}
    for box in picture.boxes:
        rows.setdefault((box.level, box.row), []).append(box.column)
    for columns in rows.values():
        ordered = sorted(columns)
        assert all(b - a >= 1 - 1e-9 for a, b in pairwise(ordered))
    for source, target, _ in picture.arrows:
        a, b = picture.boxes[source], picture.boxes[target]
        assert (-a.level, a.row) < (-b.level, b.row)


def test_large_programs_are_drawn_as_groups_with_their_counts() -> None:
    picture = drawing.picture(LARGE)
    assert picture.is_grouped
    top = max(level for _, level in LARGE.counts)
    texts = {(box.text, box.level) for box in picture.boxes}
    assert (f"rotate × {LARGE.counts['rotate', top]}", top) in texts
    assert len(picture.boxes) == len(LARGE.counts) + len({s.level for s in LARGE.inputs}) + 2


@pytest.mark.parametrize("program", [SMALL, LARGE], ids=["nodes", "groups"])
def test_pictures_are_well_formed_and_within_their_frame(program: Program) -> None:
    root = ElementTree.fromstring(drawing.svg(program, "a < b & c"))
    width, height = (float(root.get(name) or 0) for name in ("width", "height"))
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names <= {"svg", "title", "rect", "text", "g", "defs", "marker", "path"}
    for element in root.iter("{http://www.w3.org/2000/svg}rect"):
        x, y = float(element.get("x") or 0), float(element.get("y") or 0)
        assert 0 <= x <= x + float(element.get("width") or 0) <= width
        assert 0 <= y <= y + float(element.get("height") or 0) <= height


def test_a_listing_has_a_line_for_every_value() -> None:
    lines = list(drawing.lines(SMALL))
    assert len(lines) == len(SMALL.inputs) + len(SMALL.nodes) + 1
    assert lines[0] == "%0 = input 0  level 3, scale 2^40.00"
    assert lines[2] == "%2 = rotate(%0, 1)  level 3, scale 2^40.00"
    assert any(line.endswith("3 polynomials") for line in lines)
    facts = drawing.facts(SMALL)
    assert (facts["nodes"], facts["depth"]) == (len(SMALL.nodes), 2)
    assert facts["keys"] == "relinearization; rotation by 1, 2, 3"
