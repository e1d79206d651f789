"""Every figure of terminal, pages and reports: its words, its query, its chart and its tables."""

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
    """The figures that ask for a page themselves, by the names of the modules."""
    return tuple(figure for figure in _declared(Figure) if figure.page == path)


@cache
def pages() -> tuple[Page, ...]:
    """The pages that families declare."""
    return tuple(_declared(Page))


@cache
def printed() -> tuple[tuple[Figure, Layout], ...]:
    """The figures that are printed, and how, in the order of a run's results."""
    figures = {figure.name: figure for figure in _declared(Figure) if figure.printed}
    pairs = [(figure, layout) for figure in figures.values() for layout in figure.printed]
    return tuple(sorted(pairs, key=lambda pair: pair[1].place))


def _declared(kind: type[T]) -> list[T]:
    return [value for module in modules() for value in vars(module).values() if isinstance(value, kind)]


@cache
def modules() -> tuple[ModuleType, ...]:
    """The modules here, and those of the families of workloads."""
    own = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return (*own, *families.modules())
