"""Pages of figures about one run, and the filters by which their readers choose rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ciphermark_core import descriptor
from ciphermark_core.security import COMPARED_BY, TABLES
from ciphermark_present import formats, links, query
from ciphermark_present.query import UNCORRECTED
from ciphermark_present.questions import words

if TYPE_CHECKING:
    from ciphermark_present.figure import Figure
    from ciphermark_present.query import Row


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter: a query parameter, its label, and the source of its choices.

    ``column`` is the column of figures that it chooses rows by. Its choices are those of the block ``choices``, unless
    ``values`` lists them. ``many``: several values at once, by default all. Otherwise it has one value, by default
    ``preferred`` where the run has it, else the first. With ``least``, the default is the lowest value of at least
    that, else the highest; the candidates are the values of the column ``min_of``, where there are any. With
    ``is_optional``, it keeps all rows, also those without a value, until a reader chooses. ``preferred_of`` names the
    column whose largest value is the default. ``by_table`` has the filters that replace it where the earlier filter
    :data:`TABLE` has a value other than the first. ``write`` puts a value into words, ``phrase`` within a question,
    where ``every`` stands for all values.
    """

    name: str
    label: str
    column: str = ""
    many: bool = False
    preferred: str | None = None
    least: int | None = None
    min_of: str = ""
    values: tuple[str, ...] = ()
    narrows: bool = False
    is_optional: bool = False
    preferred_of: str = ""
    by_table: tuple[tuple[str, Filter], ...] = ()
    write: Callable[[Any], str] = str
    phrase: Callable[[Any], str] | None = None
    every: str = ""

    @property
    def parameter(self) -> str:
        """The query parameter that it sets: the column, where it has one."""
        return self.column or self.name

    def spoken(self, value: Any) -> str:
        """A value within a question."""
        return (self.phrase or self.write)(value)


def of(dimension: descriptor.Dimension[Any], **how: Any) -> Filter:
    """The filter of a dimension of cases, with the declared name and format except where ``how`` overrides them."""
    write = str if dimension.written in ("text", "digits") else getattr(formats, dimension.written)
    declared: dict[str, Any] = {
        "name": dimension.name,
        "label": dimension.heading,
        "column": dimension.name,
        "write": write,
    }
    return Filter(**(declared | how))


_HOW: dict[str, dict[str, Any]] = {
    "scheme": {"preferred": "bfv", "narrows": True, "phrase": str.upper},
    "security_compared": {"name": "security", "least": 128, "min_of": "security_first", "narrows": True},
    "security_compared_2024": {
        "name": "security",
        "least": 128,
        "min_of": "security_first_2024",
        "narrows": True,
    },
    "ring_dimension": {"name": "n", "many": True},
    "operation": {
        "many": True,
        "phrase": lambda name: words(name).question,
        "every": "execute each operation",
    },
    "experiment": {"name": "family", "label": "Family", "narrows": True},
    "data_set": {"narrows": True},
    "variant": {"many": True},
    "vector_length": {"many": True},
    "data_pattern": {"name": "data", "preferred": "random"},
    "threads": {"preferred": "1", "phrase": lambda count: f"{count} thread{'' if count == 1 else 's'}"},
}
_DECLARED = {
    dimension.name: of(dimension, **_HOW.get(dimension.name, {"many": True, "is_optional": True}))
    for dimension in descriptor.filters()
}
SCHEME = _DECLARED["scheme"]
SECURITY = replace(_DECLARED[COMPARED_BY["2018"]], by_table=(("2024", _DECLARED[COMPARED_BY["2024"]]),))
TABLE = Filter(
    query.TABLE,
    "Security table",
    values=tuple(TABLES),
    preferred_of="security_table",
    write=lambda table: TABLES[table],
    phrase=lambda table: {"2024": "guidelines (2024)"}.get(table, TABLES[table]),
)
RING_DIMENSION = _DECLARED["ring_dimension"]
OPERATION = _DECLARED["operation"]
WORKLOAD = replace(OPERATION, label="Workload", every="run each workload")
FAMILY = _DECLARED["experiment"]
DATA_SET = _DECLARED["data_set"]
VARIANT = _DECLARED["variant"]
SIZE = _DECLARED["vector_length"]
DATA = _DECLARED["data_pattern"]
THREADS = _DECLARED["threads"]
ONE_RING_DIMENSION = replace(RING_DIMENSION, many=False, preferred="16384", narrows=True)
RESIDENCY = replace(_DECLARED["residency"], many=False, is_optional=False, preferred="cached")
OTHERS = tuple(item for name, item in _DECLARED.items() if name not in _HOW)  # of dimensions declared since
VECTOR = (SIZE, DATA, THREADS, *OTHERS)
LEVELS = Filter("levels", "Security", preferred="equal", values=("equal", "any"))
OF_METRIC = "of each metric"
THRESHOLD = Filter(
    "threshold",
    "Threshold",
    preferred=OF_METRIC,
    values=(OF_METRIC, "1%", "2%", "5%", "10%", "20%", "50%"),
)
TIMES = Filter("times", "Times", preferred="corrected", values=("corrected", UNCORRECTED))
BANDWIDTH = Filter(links.BANDWIDTH, "Bandwidth", preferred=links.USUAL, values=links.CHOICES)
PHASE = Filter("phase", "Phase", "phase", preferred="evaluate", values=("evaluate", "encrypt", "decrypt"))


@dataclass(frozen=True, slots=True)
class Page:
    """A page of figures about one run; its filters offer the values of cases of the figures' subjects.

    ``question`` is what it answers, with the names of filters in braces where readers choose; ``title`` is its name in
    the navigation. ``suite`` is a shipped suite that measures it. ``place`` orders pages. ``run_parameter`` names the
    run in addresses; ``parameters`` are their other parameters, in addition to the filters.
    """

    path: str
    title: str
    lead: str
    filters: tuple[Filter, ...]
    figures: tuple[Figure, ...]
    question: str = ""
    suite: str = "quick"
    place: int = 50
    run_parameter: str = "run"
    parameters: tuple[str, ...] = ()

    def choices(self, rows: Iterable[Row]) -> list[Row]:
        """The rows of the block ``choices`` that concern the page's subjects."""
        subjects = list(dict.fromkeys(figure.subject for figure in self.figures if figure.subject))
        return [
            row if of_case.has_operations else {**row, "operation": None}
            for row in rows
            for of_case in subjects
            if of_case.covers(row["experiment"])
        ]
