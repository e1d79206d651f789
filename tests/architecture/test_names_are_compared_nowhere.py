"""What differs by experiment, operation or family is a row of a table: nobody asks for one by its name.

A comparison is ``==``, ``!=``, ``in``, ``match`` or ``startswith`` with such a name, in Python; in SQL a condition on a
column of such names. Where a name is compared with a metric, stage, step or phase it is the name of one of those.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import lines, product, tree

import ciphermark_workloads
from ciphermark_contract.declaration import OPERATIONS
from ciphermark_measure.experiments import KINDS

FAMILIES = {path.parent.name for path in Path(ciphermark_workloads.__file__).parent.glob("*/__init__.py")}
OTHER_WORDS = {"data_sets"}  # folders that are no families
NAMES = frozenset(OPERATIONS) | frozenset(KINDS) | (FAMILIES - OTHER_WORDS)
# What a name is compared with says what it is the name of.
OTHER_COLUMNS = {"metric", "step", "stage", "phase"}
# A ratio has a kind, too, which is no experiment's: of a kind only names count.
CONDITION = re.compile(
    rf"\b((experiment|operation|family)|kind(?=[^']*'({'|'.join(NAMES)})'))\b\s*(=|<>|!=|not\s+in|in)\s*\(?\s*'",
    re.IGNORECASE,
)
# Where operations are defined: their table, the managed forms of them, and what SEAL has of them.
DEFINITIONS = (
    "libs/contract/ciphermark_contract/operations/",
    "libs/contract/ciphermark_contract/interfaces.py",
    "libs/adapters/ciphermark_adapters/helib/adapter.py",
    "libs/adapters/ciphermark_adapters/seal/adapter.py",
)


def texts(node: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    """The texts that an expression holds: a literal, a collection of literals, or a constant of the module."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Tuple(elts=items) | ast.Set(elts=items) | ast.List(elts=items):
            for item in items:
                yield from texts(item, constants)
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple"), args=[inner]):
            yield from texts(inner, constants)
        case ast.Name(id=name) if name in constants:
            yield from texts(constants[name], {})


def all_are_names(found: list[str]) -> bool:
    """A name, or a collection of nothing else: among other words it is one of theirs."""
    return bool(found) and NAMES.issuperset(found)


def subject(node: ast.expr) -> str:
    """The last word of what is compared."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def compared(module: ast.Module) -> Iterator[str]:
    """Every comparison with a name."""
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_named = any(all_are_names(list(texts(side, constants))) for side in sides)
            if is_named and OTHER_COLUMNS.isdisjoint(map(subject, sides)):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Call) and subject(node.func) in ("startswith", "endswith"):
            if node.args and all_are_names(list(texts(node.args[0], constants))):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.MatchValue) and not NAMES.isdisjoint(texts(node.value, constants)):
            yield f"{node.lineno}: case {ast.unparse(node)}"


def conditions(text: list[str]) -> Iterator[str]:
    """Every condition of SQL on a column of names."""
    return (f"{number}: {line.strip()}" for number, line in enumerate(text, 1) if CONDITION.search(line))


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("x = operation == 'mul'", 1),
        ("x = 'rotate' in able", 1),
        ("x = case.experiment not in ('depth', 'noise')", 1),
        ("KEYED = ('rotate', 'mul')\nx = name in KEYED", 1),
        ("match operation:\n    case 'add':\n        pass", 1),
        ("x = operation.startswith('rotate')", 1),
        ("x = path.endswith('.sql')", 0),
        ("x = sample.metric == 'depth'", 0),
        ("x = row['step'] == 'encrypt'", 0),
        ("x = {'mul': 1}['mul']", 0),
        ("x = scheme == 'ckks'", 0),
    ],
)
def test_what_counts_as_a_comparison(code: str, count: int) -> None:
    assert len(list(compared(ast.parse(code)))) == count


def test_what_counts_as_a_condition() -> None:
    text = [
        "where experiment = 'depth'",
        "and r.operation in ('add')",
        "where metric = 'time'",
        "on a.experiment = b.kind",
    ]
    assert len(list(conditions(text))) == 2


def test_no_name_is_compared() -> None:
    assert {"mul", "rotate", "depth", "learning"} <= NAMES
    found = {name: list(compared(tree(name))) for name in product(".py")}
    found |= {name: list(conditions(lines(name))) for name in product(".sql")}
    left = [
        f"{name}:{asked}"
        for name, all_asked in found.items()
        if not name.startswith(DEFINITIONS)
        for asked in all_asked
    ]
    assert not left, "let a row of the table say what is asked for:\n" + "\n".join(left)
