"""Every figure of terminal, pages and reports: its words, its query, its chart and its table."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ciphermark_present.figure import Figure


@cache
def of_page(path: str) -> tuple[Figure, ...]:
    """The figures of all modules here that ask for a page themselves, by the names of the modules."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Figure)]
    return tuple(figure for figure in found if figure.page == path)
