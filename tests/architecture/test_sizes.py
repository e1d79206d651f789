"""Files and functions are small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from statistics import median

from house import lines, product, tree

MAX_LINES_OF_A_FILE = 600
MEDIAN_LINES, MAX_LINES_OF_NINE_IN_TEN, MAX_LINES = 8, 20, 40
WRITTEN_BY_HAND = (".py", ".sql", ".cpp", ".hpp", ".js", ".css", ".html", ".typ")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(node: ast.AST) -> Iterator[Function]:
    return (item for item in ast.walk(node) if isinstance(item, Function))


def own_lines(function: Function) -> int:
    """Lines without those of the docstring and of functions within."""
    first = function.body[0]
    doc = first if ast.get_docstring(function, clean=False) is not None else None
    within = [item for child in ast.iter_child_nodes(function) for item in outermost(child)]
    return _span(function) - sum(_span(item) for item in (doc, *within) if item is not None)


def outermost(node: ast.AST) -> Iterator[Function]:
    """The functions of a node that are in no other function of it."""
    if isinstance(node, Function):
        yield node
    else:
        for child in ast.iter_child_nodes(node):
            yield from outermost(child)


def _span(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def test_what_lines_of_a_function_are_its_own():
    (outer, inner) = functions(
        ast.parse(
            'def a():\n    """Doc.\n\n    """\n    if b:\n        def c():\n            return 1\n    return c'
        )
    )
    assert (own_lines(outer), own_lines(inner)) == (3, 2)


def test_no_file_is_long():
    sizes = {name: len(lines(name)) for name in product(*WRITTEN_BY_HAND)}
    assert len(sizes) > 300
    assert {name: size for name, size in sizes.items() if size > MAX_LINES_OF_A_FILE} == {}


def test_functions_are_short():
    sizes = {
        f"{name} {function.name}": own_lines(function)
        for name in product(".py")
        for function in functions(tree(name))
    }
    assert len(sizes) > 1500
    ordered = sorted(sizes.values())
    assert median(ordered) <= MEDIAN_LINES
    assert ordered[len(ordered) * 9 // 10] <= MAX_LINES_OF_NINE_IN_TEN
    assert {name: size for name, size in sizes.items() if size > MAX_LINES} == {}
