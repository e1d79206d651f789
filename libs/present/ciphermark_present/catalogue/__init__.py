"""Every figure of terminal, pages and reports: its texts, its query, its chart and its tables."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

from ciphermark_present import families
from ciphermark_present.figure import Figure, Layout
from ciphermark_present.page import Page

T = TypeVar("T")


@cache
def of_page(path: str) -> tuple[Figure, ...]:
    """The figures that request to be on a page, in the order of module names."""
    return tuple(figure for figure in _declared(Figure) if figure.page == path)


@cache
def pages() -> tuple[Page, ...]:
    """The pages that families declare."""
    return tuple(_declared(Page))


@cache
def printed() -> tuple[tuple[Figure, Layout], ...]:
    """The figures that are printed, with their layouts, in the order of a run's results."""
    figures = {figure.name: figure for figure in _declared(Figure) if figure.printed}
    pairs = [(figure, layout) for figure in figures.values() for layout in figure.printed]
    return tuple(sorted(pairs, key=lambda pair: pair[1].place))


def _declared(kind: type[T]) -> list[T]:
    return [value for module in modules() for value in vars(module).values() if isinstance(value, kind)]


@cache
def modules() -> tuple[ModuleType, ...]:
    """The modules of this package, and those of the families of workloads."""
    own = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return (*own, *families.modules())
