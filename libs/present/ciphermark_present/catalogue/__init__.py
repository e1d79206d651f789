"""Every figure of terminal, pages and reports: its words, its query, its chart and its tables."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

from ciphermark_present import families
from ciphermark_present.figure import Figure
from ciphermark_present.page import Page
from ciphermark_present.printed import Listing

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
def listings() -> tuple[Listing, ...]:
    """How figures are printed, in the order of a run's results."""
    return tuple(sorted(_declared(Listing), key=lambda listing: listing.place))


def _declared(kind: type[T]) -> list[T]:
    return [value for module in modules() for value in vars(module).values() if isinstance(value, kind)]


@cache
def modules() -> tuple[ModuleType, ...]:
    """The modules here, and those named ``figures`` of the families of workloads, which import nothing but this
    package: whoever presents results loads no workload.
    """
    own = [f"{__name__}.{module.name}" for module in iter_modules(__path__)]
    return tuple(
        import_module(name) for name in (*own, *(f"{family}.figures" for family in families.names()))
    )
