"""Filters: the part of a run that a page shows. Parsed from the query string, checked against the run. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from ciphermark_core.errors import UserError
from ciphermark_present.page import DATA, OPERATION, PHASE, SCHEME, TABLE, THREADS, TIMES, Filter, Page
from ciphermark_present.query import UNCORRECTED

Query = Sequence[tuple[str, str]]
FOR = "for"  # the overview's computation; every page passes it on, with the scheme
CARRIED = (FOR, SCHEME.name)
ARRANGED = "rows"  # the order of a table's rows
_PLACE = re.compile(r"\{(\w+)\}")
CONDITIONS = (PHASE, DATA, THREADS)  # a figure shows one value of each
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter as a page shows it: the available values, and the chosen ones.

    ``let_go`` holds requested values, as the address writes them, that the run has only under other choices of earlier
    filters. ``unset`` is the default.
    """

    filter: Filter
    values: tuple[Any, ...]
    chosen: tuple[Any, ...]
    let_go: tuple[str, ...] = ()
    unset: tuple[Any, ...] = ()

    @property
    def is_set(self) -> bool:
        """Whether the choice differs from the default."""
        return {*self.chosen} != {*self.unset}

    @property
    def is_offered(self) -> bool:
        """Whether there is more than one value to choose from."""
        return len(self.values) > 1

    @property
    def is_one_or_all(self) -> bool:
        """Whether a list with a single choice shows the chosen values."""
        return not self.filter.many or len(self.chosen) in (0, 1, len(self.values))

    @property
    def spoken(self) -> list[tuple[Any, str]]:
        """The values within a question, with their texts."""
        return [(value, self.filter.spoken(value)) for value in self.values]

    @property
    def asked(self) -> tuple[Any, ...]:
        """The value that a question has; none stands for all."""
        return () if self.filter.many and len(self.chosen) == len(self.values) else self.chosen

    @property
    def written(self) -> list[tuple[Any, str]]:
        """The values with their texts."""
        return [(value, self.filter.write(value)) for value in self.values]

    @property
    def note(self) -> str:
        """A note on the values that were let go, and on the values shown instead."""
        shown = ", ".join(map(self.filter.write, self.chosen)) or "nothing"
        return f"{self.filter.label} {', '.join(self.let_go)}: not available with earlier filters. Shown: {shown}."


@dataclass(frozen=True, slots=True)
class Selection:
    """The state of a page: ``subject`` names one run, or two. The choices and the subject give the parameters of
    queries.

    ``given`` is the reader's choice, ``extra`` has further parameters of queries. ``recorded`` changes when more of the
    runs is recorded. ``text`` is the page's question, with names of filters in braces.
    """

    subject: Query
    choices: tuple[Choice, ...] = ()
    given: Query = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    recorded: str = ""
    text: str = ""

    @property
    def runs(self) -> tuple[str, ...]:
        """The ids of the runs."""
        return tuple(run_id for _, run_id in self.subject)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of queries: the chosen values by column; one for which a run has no value is NULL."""
        values: dict[str, Any] = {_IN_SQL[name]: run_id for name, run_id in self.subject} | dict(self.extra)
        for choice in self.choices:
            chosen = list(choice.chosen)
            if choice.filter.is_optional and not chosen:
                continue
            values[choice.filter.parameter] = chosen if choice.filter.many else (chosen or [None])[0]
        return values

    @property
    def is_uncorrected(self) -> bool:
        """Whether times are shown as the clock measured them."""
        return self.parameters.get(TIMES.name) == UNCORRECTED

    @property
    def conditions(self) -> str:
        """The phase, the data and the number of threads that the figures show, as far as they have choices."""
        shown = [
            f"{choice.filter.label.lower()} {' and '.join(map(choice.filter.write, choice.chosen))}"
            for choice in self.choices
            if choice.filter in CONDITIONS and choice.chosen
        ]
        text = ", ".join(shown)
        return f"{text[:1].upper()}{text[1:]}"

    @property
    def query_string(self) -> str:
        """The permanent form: the runs by their full ids, and every filter that the reader set and that is valid."""
        names = {ARRANGED, *(name for name, _ in self.subject)}
        gone = {(choice.filter.name, text) for choice in self.choices for text in choice.let_go}
        return urlencode(
            [*self.subject, *(item for item in self.given if item[0] not in names and item not in gone)]
        )

    @property
    def question(self) -> Iterator[tuple[str, Choice | None]]:
        """The texts of the question, each with the choice that follows it."""
        by_name = {choice.filter.name: choice for choice in self.choices}
        *parts, end = _PLACE.split(self.text)
        for text, name in zip(parts[::2], parts[1::2], strict=True):
            yield text, by_name[name]
        yield end, None

    @property
    def is_askable(self) -> bool:
        """Whether every choice within the question has a value; the run has no case for the page if not."""
        return all(choice is None or choice.values for _, choice in self.question)

    @property
    def more_choices(self) -> list[Choice]:
        """The choices that the question does not have."""
        asked = {choice.filter.name for _, choice in self.question if choice and choice.is_one_or_all}
        return [choice for choice in self.choices if choice.is_offered and choice.filter.name not in asked]

    @property
    def more_set(self) -> int:
        """The number of rare choices that the reader has made."""
        return sum(choice.is_set for choice in self.more_choices)

    @property
    def kept(self) -> dict[str, str]:
        """The parameters that a form passes on in addition to its own fields."""
        own = {choice.filter.name for choice in self.choices if choice.is_offered}
        return {name: text for name, text in self.carried.items() if name not in own}

    @property
    def carried(self) -> dict[str, str]:
        """The computation and the scheme that the reader chose; other pages keep them."""
        texts = {name: text for name, text in self.given if name in CARRIED and text}
        operations = [text for name, text in self.given if name == OPERATION.name and text]
        return texts | ({FOR: operations[0]} if len(operations) == 1 else {})

    @property
    def arranged(self) -> str:
        """The order of a table's rows that the reader chose; empty without one."""
        return dict(self.given).get(ARRANGED, "")

    @property
    def notes(self) -> list[str]:
        """Notes on requested values that are not shown."""
        return [choice.note for choice in self.choices if choice.let_go]


_IN_SQL = {"run": "run_id", "a": "run_a", "b": "run_b"}


def selected(
    subject: Query, filters: Sequence[Filter], rows: Iterable[Mapping[str, Any]], query: Query
) -> Selection:
    """The selection of the query string from the rows of ``choices``, for the runs of ``subject``.

    Raises ``UserError`` for a filter that the page does not have or a value that the run does not have. A value that
    pages carry is let go instead.
    """
    own_names = [name for name, _ in query if name not in (*CARRIED, ARRANGED)]
    require_known(own_names, [*(item.name for item in filters), *dict(subject)])
    everywhere = list(rows)
    here: Rows = everywhere
    choices = []
    table = ""
    for item in filters:
        others = dict(item.by_table)
        own = others.get(table, item)
        # A value of the other table is let go when the table changes.
        known = [value for each in (item, *others.values()) for value in _values(each, everywhere)]
        choices.append(_choice(own, here, everywhere, known, query))
        here = _narrowed(here, choices[-1])
        if item == TABLE:
            (table,) = choices[-1].chosen
    return Selection(subject, tuple(choices), tuple(query))


def carried(
    page: Page, rows: Iterable[Mapping[str, Any]], run_id: str, chosen: Mapping[str, str]
) -> str | None:
    """The query string with which a page shows the run and the ``chosen`` values, as far as the run has them there.
    ``None`` where the run has no case for the page. ``rows`` are those of the block ``choices``.
    """
    here = page.choices(rows)
    if not here:
        return None
    query = {"run": run_id, **chosen}
    names = {item.name for item in page.filters}
    if SCHEME.name in names and chosen.get(SCHEME.name):
        of_scheme = [row for row in here if row["scheme"] == chosen[SCHEME.name]]
        if not of_scheme:
            del query[SCHEME.name]
        here = of_scheme or here
    if OPERATION.name in names and chosen.get(FOR) in {row["operation"] for row in here} - {None}:
        query[OPERATION.name] = chosen[FOR]
    return urlencode(query)


def require_known(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise ``UserError`` for a parameter that the page does not have."""
    there = sorted(set(known))
    for name in names:
        if name not in there:
            raise UserError(f"there is no filter {name!r} on this page; it has {', '.join(there) or 'none'}")


def _choice(item: Filter, here: Rows, everywhere: Rows, known: Sequence[Any], query: Query) -> Choice:
    """The choice among the values ``here``; another one of the ``known`` values is let go."""
    values = _values(item, here)
    by_text = {str(value): value for value in values}
    valid_texts = {str(value) for value in known}
    given = [text for name, text in query if name == item.name and text != ""]
    for text in given:
        if text not in valid_texts and item.name not in CARRIED:
            there = ", ".join(str(value) for value in _values(item, everywhere)) or "nothing"
            raise UserError(f"{item.label} {text!r}: this run has {there}")
    if not item.many and len(given) > 1:
        raise UserError(f"{item.label} takes one value, not {len(given)}")
    chosen = tuple(by_text[text] for text in dict.fromkeys(given) if text in by_text)
    let_go = tuple(text for text in dict.fromkeys(given) if text not in by_text)
    unset = _unset(item, values, here, everywhere)
    return Choice(item, values, chosen or unset, let_go, unset)


def _unset(item: Filter, values: tuple[Any, ...], here: Rows, everywhere: Rows) -> tuple[Any, ...]:
    """The default choice."""
    if item.many:
        return () if item.is_optional else values
    first = {row.get(item.min_of) for row in here}
    return _default(item, tuple(value for value in values if value in first) or values, everywhere)


def _default(item: Filter, values: tuple[Any, ...], everywhere: Rows) -> tuple[Any, ...]:
    """The default value of a filter with one value; empty where there is none."""
    least, preferred = item.least, item.preferred
    if item.preferred_of:
        preferred = max(filter(None, (row.get(item.preferred_of) for row in everywhere)), default=preferred)
    if least is not None:
        return tuple(value for value in values if value >= least)[:1] or values[-1:]
    return tuple(value for value in values if str(value) == preferred) or values[:1]


def _values(item: Filter, rows: Rows) -> tuple[Any, ...]:
    if item.values or not item.column:
        return item.values
    return tuple(sorted({row[item.column] for row in rows if row.get(item.column) is not None}))


def _narrowed(rows: Rows, choice: Choice) -> Rows:
    """The rows that later filters choose from. A row without a value may be of any value."""
    if not choice.filter.narrows:
        return rows
    return [row for row in rows if row[choice.filter.column] in (None, *choice.chosen)]
