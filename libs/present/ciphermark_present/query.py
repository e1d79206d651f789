"""A figure's query: the rows of its view that a reader chose. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ciphermark_core.security import COMPARED_BY, OLDEST
from ciphermark_present import families

if TYPE_CHECKING:
    from ciphermark_present.figure import Figure


TABLE = "table"  # the parameter with the table of security levels
_NO_LEVEL = {TABLE: OLDEST, **dict.fromkeys(COMPARED_BY.values())}
UNCORRECTED = "uncorrected"  # of the parameter ``times``
AS_MEASURED = "Times are as the clock measured them: host interference is not corrected."
DISTURBED_TIMES = "disturbed_times"  # the column with the names of a row's disturbed times


def is_disturbed(row: Mapping[str, Any], column: str) -> bool:
    """Whether the time in a column has disturbed samples only: such a time is never the fastest."""
    return column in (row.get(DISTURBED_TIMES) or ())


# Rows of operations without a choice of the column: operands are fresh or at the top level, and not streamed.
_FRESH = {
    "level": "coalesce(level = top_level, level is null)",
    "residency": "residency is distinct from 'streamed'",
}


@dataclass(frozen=True, slots=True)
class Query:
    """A statement in psycopg's form, and its parameters by name. ``is_uncorrected``: it reads the views of the schema
    ``uncorrected``, whose values are as the clock measured them.
    """

    text: str
    parameters: Mapping[str, Any]
    is_uncorrected: bool = False


def of(figure: Figure, run_id: str | None, chosen: Mapping[str, Any]) -> Query:
    """The query for a run's rows. ``chosen`` are values by column, a list where several are allowed.

    The query ignores columns that the figure is not narrowed by, and columns without a choice. A text that narrows its
    rows itself names the columns as parameters; those for the levels of the other table are NULL.
    """
    text, is_uncorrected = view(figure.view), chosen.get("times") == UNCORRECTED
    subject = {} if figure.subject is None else figure.subject.parameters
    if not figure.order:
        return Query(text, {"run_id": run_id, **_NO_LEVEL, **subject, **chosen}, is_uncorrected)
    narrowing = {name: chosen[name] for name in figure.narrowed_by if name in chosen}
    narrowed = {**figure.where, **narrowing}
    levels = {
        "across_security_levels": chosen.get("across_security_levels", False),
        TABLE: chosen.get(TABLE, OLDEST),
    }
    parameters = {"run_id": run_id, **levels, **subject, **narrowed}
    conditions = ["run_id is null" if run_id is None else "run_id = %(run_id)s"]
    conditions += [] if figure.subject is None else [figure.subject.condition]
    conditions += [_condition(name, value, figure) for name, value in narrowed.items()]
    conditions += [
        text for name, text in _FRESH.items() if figure.has_fresh_operands and name not in narrowed
    ]
    where = "\n    and ".join(conditions)
    return Query(
        f"select {', '.join(figure.read)}\nfrom (\n{text}\n) as found\nwhere\n    {where}\norder by {figure.order}",
        parameters,
        is_uncorrected,
    )


@cache
def view(name: str) -> str:
    """The text of a figure's view: a file here or in the folder of a family, else all of the view with that name."""
    folders = (files(__package__) / "views", *map(files, families.names()))
    texts = (folder / f"{name}.sql" for folder in folders)
    text = next((file.read_text() for file in texts if file.is_file()), f"select * from {name}")
    return text.strip().removesuffix(";")


def _condition(column: str, value: Any, figure: Figure) -> str:
    several = isinstance(value, list | tuple)
    fits = f"{column} = any (%({column})s)" if several else f"{column} = %({column})s"
    return f"coalesce({fits}, true)" if column in figure.may_lack else fits


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Column names, and the rows in the order of the query."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]
