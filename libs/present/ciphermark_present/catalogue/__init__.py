"""Every figure of terminal, pages and reports: its words, its query, its chart and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

from ciphermark_present.figure import Figure
from ciphermark_present.printed import Listing

FAMILIES = (
    "ciphermark_workloads"  # a family is a folder there; its module ``figures`` declares what it presents
)
T = TypeVar("T")


@cache
def of_page(path: str) -> tuple[Figure, ...]:
    """The figures that ask for a page themselves, by the names of the modules."""
    return tuple(figure for figure in _declared(Figure) if figure.page == path)


@cache
def listings() -> tuple[Listing, ...]:
    """How figures are printed, in the order of a run's results."""
    return tuple(sorted(_declared(Listing), key=lambda listing: listing.place))


def _declared(kind: type[T]) -> list[T]:
    return [value for module in modules() for value in vars(module).values() if isinstance(value, kind)]


@cache
def modules() -> tuple[ModuleType, ...]:
    """The modules here, and those named ``figures`` of the families of workloads that are installed."""
    own = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return (*own, *_of_families())


def _of_families() -> Iterator[ModuleType]:
    """They import nothing but this package: whoever presents results loads no workload."""
    for family in iter_modules(import_module(FAMILIES).__path__):
        if family.ispkg:
            name = f"{FAMILIES}.{family.name}"
            if any(module.name == "figures" for module in iter_modules(import_module(name).__path__)):
                yield import_module(f"{name}.figures")
