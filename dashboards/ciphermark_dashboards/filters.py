"""Filters: what of a run a page shows. Parsed from the query string, checked against what the run has. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from ciphermark_core.errors import UserError
from ciphermark_present.page import (
    DATA_SET,
    FAMILY,
    OPERATION,
    PHASE,
    SCHEME,
    SECURITY,
    TABLE,
    TIMES,
    Filter,
    Page,
)
from ciphermark_present.query import UNCORRECTED

Query = Sequence[tuple[str, str]]
FOR = "for"  # the computation that the overview is about; every page hands it on, and the scheme
CARRIED = (FOR, SCHEME.name)
_MAIN = frozenset(item.name for item in (SCHEME, FAMILY, TABLE, SECURITY, DATA_SET, PHASE))
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter as a page shows it: the values there are, and those that are chosen.

    ``let_go`` are values, as the address has them, that the run has only under other choices of the filters before.
    ``is_set``: the reader chose something else than what is shown without a choice.
    """

    filter: Filter
    values: tuple[Any, ...]
    chosen: tuple[Any, ...]
    let_go: tuple[str, ...] = ()
    is_set: bool = False

    @property
    def is_offered(self) -> bool:
        """Whether there is something to choose from."""
        return len(self.values) > 1

    @property
    def written(self) -> list[tuple[Any, str]]:
        """The values, and their words."""
        return [(value, self.filter.write(value)) for value in self.values]

    @property
    def note(self) -> str:
        """What is shown instead of the values that were let go."""
        shown = ", ".join(map(self.filter.write, self.chosen)) or "nothing"
        return f"{self.filter.label} {', '.join(self.let_go)}: not available with earlier filters. Shown: {shown}."


@dataclass(frozen=True, slots=True)
class Selection:
    """What a page shows: ``subject`` names one run, or two; then the choices, and from both the parameters of queries.

    ``given`` is what the reader chose, ``extra`` what else queries need; ``recorded`` changes when more of the runs is
    recorded.
    """

    subject: Query
    choices: tuple[Choice, ...] = ()
    given: Query = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    recorded: str = ""

    @property
    def runs(self) -> tuple[str, ...]:
        """The ids of the runs."""
        return tuple(run_id for _, run_id in self.subject)

    @property
    def parameters(self) -> dict[str, Any]:
        """What queries are asked with: the chosen values by column; one that a run has no value of is NULL."""
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
    def query_string(self) -> str:
        """The permanent form: the runs by their full ids, and every filter that the reader set and that holds."""
        names = {name for name, _ in self.subject}
        gone = {(choice.filter.name, text) for choice in self.choices for text in choice.let_go}
        return urlencode(
            [*self.subject, *(item for item in self.given if item[0] not in names and item not in gone)]
        )

    @property
    def main_choices(self) -> list[Choice]:
        """Those that stand beside the run."""
        return [choice for choice in self.choices if choice.is_offered and choice.filter.name in _MAIN]

    @property
    def more_choices(self) -> list[Choice]:
        """Those that are seldom made."""
        return [choice for choice in self.choices if choice.is_offered and choice.filter.name not in _MAIN]

    @property
    def more_set(self) -> int:
        """How many of the latter the reader has made."""
        return sum(choice.is_set for choice in self.more_choices)

    @property
    def kept(self) -> dict[str, str]:
        """What a form hands on beside its own fields."""
        own = {choice.filter.name for choice in self.choices if choice.is_offered}
        return {name: text for name, text in self.carried.items() if name not in own}

    @property
    def carried(self) -> dict[str, str]:
        """What other pages are about, too: the computation and the scheme that the reader chose."""
        texts = {name: text for name, text in self.given if name in CARRIED and text}
        operations = [text for name, text in self.given if name == OPERATION.name and text]
        return texts | ({FOR: operations[0]} if len(operations) == 1 else {})

    @property
    def notes(self) -> list[str]:
        """What was asked for and is not shown."""
        return [choice.note for choice in self.choices if choice.let_go]


_IN_SQL = {"run": "run_id", "a": "run_a", "b": "run_b"}


def selected(
    subject: Query, filters: Sequence[Filter], rows: Iterable[Mapping[str, Any]], query: Query
) -> Selection:
    """What the query string selects of the rows of ``choices``, about the runs of ``subject``.

    Raises ``UserError`` for a filter that the page does not have or a value that the run has not.
    """
    own_names = [name for name, _ in query if name not in CARRIED]
    require_known(own_names, [*(item.name for item in filters), *dict(subject)])
    everywhere = list(rows)
    here: Rows = everywhere
    choices = []
    table = ""
    for item in filters:
        choices.append(_choice(dict(item.by_table).get(table, item), here, everywhere, query))
        here = _narrowed(here, choices[-1])
        if item == TABLE:
            (table,) = choices[-1].chosen
    return Selection(subject, tuple(choices), tuple(query))


def carried(
    page: Page, rows: Iterable[Mapping[str, Any]], run_id: str, chosen: Mapping[str, str]
) -> str | None:
    """The query string with which a page shows the run and what is ``chosen``, as far as the run has it there; nothing
    where the run has nothing for the page. ``rows`` are those of the block ``choices``.
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
    """Raise ``UserError`` for a parameter that is none of the page's."""
    there = sorted(set(known))
    for name in names:
        if name not in there:
            raise UserError(f"there is no filter {name!r} on this page; it has {', '.join(there) or 'none'}")


def _choice(item: Filter, here: Rows, everywhere: Rows, query: Query) -> Choice:
    """What is chosen of the values ``here``; one that the run has only ``everywhere`` else is let go."""
    values = _values(item, here)
    by_text = {str(value): value for value in values}
    valid_texts = {str(value) for value in _values(item, everywhere)}
    given = [text for name, text in query if name == item.name and text != ""]
    for text in given:
        if text not in valid_texts:
            there = ", ".join(str(value) for value in _values(item, everywhere)) or "nothing"
            raise UserError(f"{item.label} {text!r}: this run has {there}")
    if not item.many and len(given) > 1:
        raise UserError(f"{item.label} takes one value, not {len(given)}")
    chosen = tuple(by_text[text] for text in dict.fromkeys(given) if text in by_text)
    let_go = tuple(text for text in dict.fromkeys(given) if text not in by_text)
    unset = _unset(item, values, here, everywhere)
    return Choice(item, values, chosen or unset, let_go, bool(chosen) and {*chosen} != {*unset})


def _unset(item: Filter, values: tuple[Any, ...], here: Rows, everywhere: Rows) -> tuple[Any, ...]:
    """What is chosen where nothing is given."""
    if item.many:
        return () if item.is_optional else values
    first = {row.get(item.min_of) for row in here}
    return _default(item, tuple(value for value in values if value in first) or values, everywhere)


def _default(item: Filter, values: tuple[Any, ...], everywhere: Rows) -> tuple[Any, ...]:
    """The value that stands for none given; nothing where there is none."""
    least, preferred = item.least, item.preferred
    if item.preferred_of:
        preferred = max(filter(None, (row.get(item.preferred_of) for row in everywhere)), default=preferred)
    if least is not None:
        return tuple(value for value in values if value >= least)[:1] or values[-1:]
    return tuple(value for value in values if str(value) == preferred) or values[:1]


def _values(item: Filter, rows: Rows) -> tuple[Any, ...]:
    if item.values or not item.column:
        return item.values
    return tuple(sorted({row[item.column] for row in rows if row[item.column] is not None}))


def _narrowed(rows: Rows, choice: Choice) -> Rows:
    """The rows that later filters choose from: what was never resolved to a value may be of any."""
    if not choice.filter.narrows:
        return rows
    return [row for row in rows if row[choice.filter.column] in (None, *choice.chosen)]
