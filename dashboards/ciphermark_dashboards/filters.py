"""Filters: what of a run a page shows. Parsed from the query string, checked against what the run has. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from ciphermark_core.errors import UserError
from ciphermark_dashboards.formats import level

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter: a query parameter, its label, and where its choices come from.

    ``column`` is the column of the block ``choices``, unless ``values`` lists them. ``many``: several values at once,
    all by default; else one, by default ``preferred`` where the run has it and the first otherwise. ``write`` puts a
    value into words.
    """

    name: str
    label: str
    column: str = ""
    many: bool = False
    preferred: str | None = None
    values: tuple[str, ...] = ()
    write: Callable[[Any], str] = str

    @property
    def parameter(self) -> str:
        """Its name in SQL: a list where it takes several values."""
        return f"{self.name}s" if self.many else self.name


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter as a page shows it: the values there are, and those that are chosen."""

    filter: Filter
    values: tuple[Any, ...]
    chosen: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a page shows: ``subject`` names one run, or two; then the choices, and from both the parameters of queries.

    ``given`` is what the reader chose, ``extra`` what else queries need.
    """

    subject: Query
    choices: tuple[Choice, ...] = ()
    given: Query = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> tuple[str, ...]:
        """The ids of the runs."""
        return tuple(run_id for _, run_id in self.subject)

    @property
    def parameters(self) -> dict[str, Any]:
        """By name, for SQL; a filter for which a run has no value is NULL."""
        found: dict[str, Any] = {_IN_SQL[name]: run_id for name, run_id in self.subject} | dict(self.extra)
        for choice in self.choices:
            chosen = list(choice.chosen)
            found[choice.filter.parameter] = chosen if choice.filter.many else (chosen or [None])[0]
        return found

    @property
    def query_string(self) -> str:
        """The permanent form: the runs by their full ids, and every filter that the reader set."""
        names = {name for name, _ in self.subject}
        return urlencode([*self.subject, *(item for item in self.given if item[0] not in names)])


_IN_SQL = {"run": "run_id", "a": "run_a", "b": "run_b"}

SCHEME = Filter("scheme", "Scheme", "scheme", preferred="bfv")
SECURITY = Filter("security", "Security (2018)", "security_2018", preferred="128", write=level)
RING_DIMENSION = Filter("n", "N", "ring_dimension", many=True)
OPERATION = Filter("operation", "Operation", "operation", many=True)
WORKLOAD = Filter("operation", "Workload", "operation", many=True)
VARIANT = Filter("variant", "Variant", "variant", many=True)
SIZE = Filter("size", "Vector size", "size", many=True)
DATA = Filter("data", "Data", "data_pattern", preferred="random")
THREADS = Filter("threads", "Threads", "threads", preferred="1")
LEVELS = Filter("levels", "Security", preferred="equal", values=("equal", "any"))
SHOW = Filter(
    "show", "Show", preferred="all", values=("all", "regressions", "changed", "unchanged", "not comparable")
)
PHASE = Filter("phase", "Phase", preferred="operation", values=("operation", "encrypt", "decrypt"))


def selected(
    subject: Query, filters: Sequence[Filter], rows: Iterable[Mapping[str, Any]], query: Query
) -> Selection:
    """What the query string selects of the rows of ``choices``, about the runs of ``subject``.

    Raises ``UserError`` for a filter that the page does not have or a value that the run has not.
    """
    known = {item.name for item in filters} | {name for name, _ in subject}
    for name, _ in query:
        if name not in known:
            raise UserError(
                f"there is no filter {name!r} on this page; it has {', '.join(sorted(known)) or 'none'}"
            )
    all_rows = list(rows)
    choices = tuple(_choice(item, all_rows, query) for item in filters)
    return Selection(subject, choices, tuple(query))


def _choice(item: Filter, rows: Sequence[Mapping[str, Any]], query: Query) -> Choice:
    found = {row[item.column] for row in rows if row[item.column] is not None} if item.column else set()
    values = item.values or tuple(sorted(found))
    by_text = {str(value): value for value in values}
    given = [text for name, text in query if name == item.name and text != ""]
    for text in given:
        if text not in by_text:
            there = ", ".join(by_text) or "nothing"
            raise UserError(f"{item.label} {text!r}: this run has {there}")
    if not item.many and len(given) > 1:
        raise UserError(f"{item.label} takes one value, not {len(given)}")
    if given:
        return Choice(item, values, tuple(by_text[text] for text in dict.fromkeys(given)))
    if item.many:
        return Choice(item, values, values)
    preferred = by_text.get(item.preferred or "", values[0] if values else None)
    return Choice(item, values, () if preferred is None else (preferred,))
