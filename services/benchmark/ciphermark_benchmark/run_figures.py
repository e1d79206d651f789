"""Figures about recorded runs, filled with their rows: for files and for Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import storage
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_dashboards.filters import CARRIED, Selection
from ciphermark_dashboards.pages import FIGURE_PAGES, FIGURES
from ciphermark_dashboards.rendering import Figures, Filled
from ciphermark_dashboards.selections import Selections
from ciphermark_dashboards.store import Store


def opened() -> Store:
    """The store of the data directory, with pending journals recorded."""
    data_directory = data_directories.find()
    caught_up(data_directory).close()
    return Store(storage.url(data_directory))


def require_known(name: str) -> None:
    """Raise ``UserError`` for a name that no figure has."""
    if name not in FIGURES:
        raise UserError(f"no figure {name!r}{did_you_mean(name, FIGURES) or '; see `ciphermark figure`'}")


def filled(store: Store, name: str, run: str, filters: Sequence[tuple[str, str]]) -> Filled:
    """The figure with its rows; ``filters`` are names and values of the page's address. Raises ``UserError`` if there
    are no rows.
    """
    figures = Figures(store)
    parameters = [*filters, (FIGURE_PAGES[name].run_parameter, run)]
    selection = Selections(store, figures).of_figure(name, parameters)
    for choice in selection.choices:
        if (
            choice.let_go and choice.filter.name in CARRIED
        ):  # a page shows another value, and a file would hide it
            there = ", ".join(map(str, choice.values))
            raise UserError(f"{choice.filter.label} {choice.let_go[0]!r}: this run has {there}")
    item = figures.filled(FIGURES[name], selection)
    if not item.rows:
        choices = "".join(f"\n{line}" for line in shown(selection))
        raise UserError(f"{name}: {item.figure.empty} Run {' and '.join(selection.runs)}.{choices}")
    return item


def shown(selection: Selection) -> Iterator[str]:
    """The values of the single-value filters that are shown, and the other possible values, in the syntax of the
    command line.
    """
    filters = []
    for choice in selection.choices:
        if not choice.filter.many and choice.chosen:
            others = [str(value) for value in choice.values if value not in choice.chosen]
            filters.append(
                f"{choice.filter.name}={choice.chosen[0]}" + (f" (or {', '.join(others)})" if others else "")
            )
    if filters:
        yield f"Shown: {', '.join(filters)}"
