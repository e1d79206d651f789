"""Graphs of CraterLake's programs have the structure that ``docs/explanation/deep-graphs.md`` states."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from ciphermark_workloads.deep import graphs
from ciphermark_workloads.deep.graphs import GRAPHS, Graph

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "deep-graphs.md"
SWITCHED = {"rotate", "conjugate", "relinearize"}
LARGE = {"lola-cifar"}


@cache
def rows() -> Mapping[str, tuple[int, ...]]:
    """The traced numbers of the page's table, by program."""
    lines = re.findall(r"^\| `([a-z0-9-]+)` \|((?: [\d,]+ \|){9})$", PAGE.read_text(), re.MULTILINE)
    return {name: tuple(int(cell.replace(",", "")) for cell in text.split("|")[:-1]) for name, text in lines}


def numbers(graph: Graph) -> tuple[int, ...]:
    """Rotations, relinearizations, plaintext products and bootstraps; expanded: key switches, their Σ L, distinct
    hints, plaintexts, and their MB in words of 28 bits.
    """
    program, whole = graph.program, graphs.expanded(graph)
    operations = [node.operation for node in program.nodes]
    products = [
        node
        for node in program.nodes
        if node.operation == "mul_plain" and program.constants[node.constants[0]].digest not in graph.numbers
    ]
    nodes = whole.program.nodes
    length = [graphs.residues(whole.parameters, level) for level in range(len(whole.parameters.moduli))]
    switches = [
        (node.operation, node.arguments, length[whole.program.level_of(node)])
        for node in nodes
        if node.operation in SWITCHED
    ]
    plaintexts = {item for item in whole.program.constants if item.digest not in whole.numbers}
    return (
        operations.count("rotate") + operations.count("conjugate"),
        operations.count("relinearize"),
        len(products),
        operations.count("bootstrap"),
        len(switches),
        sum(residues for *_, residues in switches),
        len(set(switches)),
        len(plaintexts),
        round(sum(length[item.level] for item in plaintexts) * whole.parameters.ring_dimension * 3.5e-6),
    )


@pytest.mark.parametrize("name", [name for name in GRAPHS if name not in LARGE])
def test_the_page_states_the_structure(name: str) -> None:
    assert numbers(GRAPHS[name]()) == rows()[name]


@pytest.mark.extended
@pytest.mark.parametrize("name", sorted(LARGE))
def test_the_page_states_the_structure_of_large_programs(name: str) -> None:
    assert numbers(GRAPHS[name]()) == rows()[name]


def test_bootstrapping_leaves_22_of_57_residues() -> None:
    graph = GRAPHS["packed-bootstrap"]()
    (output,) = graph.program.outputs
    levels = (len(graph.parameters.moduli) - 1, graph.program.shapes[output].level, 0)
    assert [graphs.residues(graph.parameters, level) for level in levels] == [57, 22, 2]
