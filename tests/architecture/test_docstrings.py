"""A public method says what it is for, or overrides one that does: then it says only what is different about it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from house import product, tree

REFERENCE = re.compile(r"See (the contract|:\w+:`[^`]+`)\.")  # all that an override would say
Classes = Mapping[str, list[ast.ClassDef]]


def classes_of(modules: Iterable[ast.Module]) -> Classes:
    found = defaultdict(list)
    for module in modules:
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(node)
    return found


def methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    functions = (item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
    return (function for function in functions if not function.name.startswith("_"))


def is_told(node: ast.ClassDef, method: str, classes: Classes) -> bool:
    """Whether the class or one that it inherits from has a docstring for the method; what we did not write has one."""
    for function in methods(node):
        if function.name == method and ast.get_docstring(function) is not None:
            return True
    bases = [re.split(r"[.\[]", ast.unparse(base).partition("[")[0])[-1] for base in node.bases]
    return any(
        base not in classes or any(is_told(item, method, classes) for item in classes[base])
        for base in bases
        if base not in ("ABC", "Protocol", "Generic")
    )


def untold(classes: Classes) -> list[str]:
    return [
        f"{name}.{function.name}"
        for name, nodes in classes.items()
        for node in nodes
        for function in methods(node)
        if not is_told(node, function.name, classes)
    ]


def test_what_is_told() -> None:
    module = ast.parse(
        'class A(ABC):\n    def a(self):\n        """A."""\n    def b(self): ...\n'
        "class B(A):\n    def a(self): ...\n    def b(self): ...\n    def _c(self): ...\n"
        "class C(elsewhere.D[int]):\n    def d(self): ...\n"
    )
    assert untold(classes_of([module])) == ["A.b", "B.b"]


def test_every_public_method_is_told() -> None:
    classes = classes_of(tree(name) for name in product(".py") if not name.startswith("bench/"))
    assert len(classes) > 300
    assert untold(classes) == []


def test_no_docstring_only_refers_to_the_method_that_is_overridden() -> None:
    left = [
        f"{name} {node.name}.{function.name}"
        for name in product(".py")
        if not re.search("/_template/", name)  # to be copied, and read on its own
        for nodes in classes_of([tree(name)]).values()
        for node in nodes
        if node.bases
        for function in methods(node)
        if len(function.body) > 1 and REFERENCE.fullmatch(ast.get_docstring(function) or "")
    ]
    assert left == []
