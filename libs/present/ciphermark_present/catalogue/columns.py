"""Columns that several tables share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_analysis.comparison import short_level
from ciphermark_core import descriptor, encryption
from ciphermark_core.descriptor import Dimension
from ciphermark_present import formats
from ciphermark_present.figure import OPENED, Column
from ciphermark_present.query import DISTURBED_TIMES, Row

_DETAIL = 5  # of a parameter in which rows of a table happen to differ
_NAMES = (
    "variant",
    "variant_off",
    "ring_dimension",
    "modulus_bits",
    "vector_length",
    "data_pattern",
    "threads",
)


def with_differing(
    columns: Sequence[Column], rows: Sequence[Row], known: Sequence[Column]
) -> tuple[Column, ...]:
    """The columns of a table, with the ``known`` ones in which its rows differ after those that name things.

    A missing value does not count as a difference. Where no column distinguishes cases, their keys do.
    """
    there = {column.name for column in columns}
    there |= {"dimensions"} if OPTIONS.name in there else set()
    others = [replace(column, detail=_DETAIL) for column in known if column.name not in there]
    own = differing(others, rows)
    if _are_alike(rows, (*columns, *own)):
        own.append(_CASE)
    last = max((place for place, column in enumerate(columns) if column.name in _NAMES), default=-1) + 1
    return (*columns[:last], *own, *columns[last:])


def _are_alike(rows: Sequence[Row], columns: Sequence[Column]) -> bool:
    """Whether several cases have the same texts in all columns that are not measured."""
    names = {column.name for column in OF_CASE}
    about = [
        column for column in columns if not column.unit and (not column.is_number or column.name in names)
    ]
    cases: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        cases.setdefault(tuple(column.cell(row) for column in about), set()).add(row.get(_CASE.name) or "")
    return any(len(keys) > 1 for keys in cases.values())


def differing(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    """The columns in which rows differ."""
    return [
        column
        for column in columns
        if len({column.cell(row) for row in rows if row.get(column.name) is not None}) > 1
    ]


def _chain(row: Row) -> str:
    return f"log2(QP) = {row['log_qp']:.0f} ({', '.join(map(str, row['modulus_bits']))})"


def _level(year: str) -> dict[str, Any]:
    name = f"security_{year}"
    return {
        "brief": short_level,
        "heading": lambda row: f"{formats.security(row[name])} ({year})",
        "is_number": False,  # a level is written in words
        "is_warning": lambda level: level == 0,
    }


_HOW: Mapping[str, dict[str, Any]] = {  # for headings, and where there is little room
    "ring_dimension": {"heading": lambda row: f"N = {row['ring_dimension']}"},
    "log_qp": {"brief": formats.rounded, "heading": _chain},
    "security_2018": _level("2018"),
    "security_2024": _level("2024"),
}


def of_dimension(dimension: Dimension[Any]) -> Column:
    """The column of a dimension of cases, as its declaration heads, writes and aligns it."""
    declared: dict[str, Any] = {
        "write": getattr(formats, dimension.written),
        "is_number": dimension.is_number,
        "short": dimension.short,
    }
    return Column(dimension.name, dimension.heading, **(declared | _HOW.get(dimension.name, {})))


def seconds(name: str, label: str, short: str = "") -> Column:
    """A time."""
    return Column(name, label, formats.seconds, is_number=True, short=short, brief=formats.brief_seconds)


def size(name: str, label: str, short: str = "") -> Column:
    """Bytes."""
    return Column(name, label, formats.size, is_number=True, short=short, brief=formats.brief_size)


def share(name: str, label: str, short: str = "") -> Column:
    """A share of 1."""
    return Column(name, label, formats.share, is_number=True, short=short, brief=formats.brief_share)


def error(name: str, label: str, short: str) -> Column:
    """An error of any size; an exact result has 0."""
    return Column(name, label, formats.small, is_number=True, short=short, brief=formats.relative)


def count(name: str, label: str) -> Column:
    """A number without a unit."""
    return Column(name, label, formats.digits, is_number=True)


def ratio(name: str, label: str) -> Column:
    """A multiple."""
    return Column(name, label, formats.times, is_number=True)


_DECLARED = {dimension.name: of_dimension(dimension) for dimension in descriptor.columns()}
VARIANT = _DECLARED["variant"]
OPERATION = _DECLARED["operation"]
WORKLOAD = replace(OPERATION, label="Workload")
OPTIONS = Column("options", "Options", formats.text)
RANKED = Column("label", "Operation")  # composite operations separately
SCHEME = _DECLARED["scheme"]
N = _DECLARED["ring_dimension"]
SIZE = _DECLARED["vector_length"]
DATA = _DECLARED["data_pattern"]
THREADS = _DECLARED["threads"]
LEVEL = _DECLARED["level"]
CHAIN = _DECLARED["modulus_bits"]
LOG_QP = _DECLARED["log_qp"]
SECURITY_2018 = _DECLARED["security_2018"]
SECURITY_2024 = _DECLARED["security_2024"]
STATUS = Column("status", "Outcome")
REASON = Column("error", "Reason", formats.text)
PEAK = size("peak_bytes", "Peak memory", "peak")
_INTERVAL = "95% interval"


def opened(*columns: Column) -> tuple[Column, ...]:
    """The columns, which a page shows where a row opens."""
    return tuple(replace(column, detail=OPENED) for column in columns)


def compared(column: Column) -> Column:
    """The column, whose values a page compares by bars."""
    return replace(column, is_compared=True)


def interval(write: Callable[[Row, float, float], str], low: str = "ci_low", high: str = "ci_high") -> Column:
    """The 95% interval of a value, which ``write`` formats from the row and its bounds."""

    def text(row: Row) -> str:
        bounds = row[low], row[high]
        return "" if None in bounds else write(row, *bounds)

    return Column(low, _INTERVAL, is_number=True, text=text, detail=2)


def _of_time(row: Row, low: float, high: float) -> str:
    return formats.interval_of(row["median"], low, high)


def _of_unit(row: Row, low: float, high: float) -> str:
    if row["unit"] == "s":
        return _of_time(row, low, high)
    return f"[{formats.quantity(low, row['unit'])}, {formats.quantity(high, row['unit'])}]"


INTERVAL_WITH_UNIT = interval(_of_unit)  # likewise, in the unit of the row
INTERVAL = interval(_of_time)  # of the column ``median``, in its unit


def _of_ratio(_: Row, low: float, high: float) -> str:
    """The interval of a ratio; empty for the fastest, whose ratio to itself has none."""
    return "" if low == high == 1 else formats.ratio_interval(low, high)


RATIO_INTERVAL = interval(_of_ratio)
# A table has those of these columns in which its rows differ: properties of a case, and of its resolution by a library.
OF_CASE = tuple(_DECLARED[dimension.name] for dimension in descriptor.tells_apart())
OF_LIBRARY = tuple(_DECLARED[dimension.name] for dimension in descriptor.of_library())
DISTURBED = f"{formats.DISTURBED} disturbed samples only"  # meaning of the mark


def disturbance(is_disturbed: bool) -> str:
    """The mark of a time with disturbed samples only; empty for others."""
    return formats.DISTURBED if is_disturbed else ""


UNACCELERATED = "° built without HEXL"  # meaning of the mark


def acceleration_marks(rows: Iterable[Row]) -> dict[str, str]:
    """The mark of each variant in a table: builds without HEXL have one where another build has HEXL; it is empty for
    others. A build of unknown state counts as without HEXL.
    """
    accelerated: dict[str, bool] = {}
    for row in rows:
        accelerated[row["variant"]] = accelerated.get(row["variant"], False) or row.get("hexl") is True
    is_mixed = any(accelerated.values())
    return {name: UNACCELERATED[0] if is_mixed and not own else "" for name, own in accelerated.items()}


UNLIKE = "† encrypted with the secret key, others with the public key; ranked apart"  # meaning of the mark
_ACCELERATION, _ENCRYPTION = "acceleration_mark", "encryption_mark"  # columns of marked rows
_MEANINGS = {
    _ACCELERATION: UNACCELERATED,
    _ENCRYPTION: UNLIKE,
    DISTURBED_TIMES: DISTURBED,
}


def of_build(column: Column) -> Column:
    """The column of variant names, with a mark on builds without HEXL where the table also has one with HEXL."""
    return replace(column, mark=lambda row: row.get(_ACCELERATION, ""))


BUILD = of_build(VARIANT)  # in tables of times


def encrypted(column: Column) -> Column:
    """The column, whose values depend on the encrypting key, with a mark where the keys of a case differ."""
    return replace(column, mark=encryption_mark)


def encryption_mark(row: Row) -> str:
    """The mark of a value that depends on the encrypting key; empty where all rows of its case use the same."""
    return str(row.get(_ENCRYPTION, ""))


def phase_mark(row: Row) -> str:
    """As :func:`encryption_mark`, for a value of a row's ``phase``, or ``stage`` and ``part``, and ``metric``; empty
    where the value does not depend on the encrypting key.
    """
    stage, part = row.get("stage"), row.get("part")
    if "phase" in row:
        stage, _, part = (row["phase"] or "").partition(".")
    return encryption_mark(row) if encryption.bears_on(stage, part, row.get("metric", "time")) else ""


def marked(rows: Sequence[Row], most: int | None = None) -> list[Row]:
    """The rows of a table, or the first ``most``, with the marks of :data:`BUILD` and of columns that are
    ``encrypted``.
    """
    acceleration = acceleration_marks(row for row in rows if "hexl" in row)
    keys: dict[str, set[str]] = {}
    for row in rows:
        if row.get("encryption"):
            keys.setdefault(row.get("comparison_group", ""), set()).add(row["encryption"])
    marks: list[Row] = []
    for row in rows[:most]:
        is_secret = row.get("encryption") == encryption.SECRET_KEY
        is_unlike = is_secret and len(keys[row.get("comparison_group", "")]) > 1
        own = {
            _ACCELERATION: acceleration.get(row.get("variant", ""), ""),
            _ENCRYPTION: UNLIKE[0] if is_unlike else "",
        }
        marks.append({**row, **own})
    return marks


def legend(rows: Sequence[Row], texts: Iterable[str]) -> list[str]:
    """The meanings of the marks that rows have and that texts of a table show."""
    signs = {name: meaning[0] for name, meaning in _MEANINGS.items() if any(row.get(name) for row in rows)}
    shown = {name for text in texts for name, sign in signs.items() if sign in text}
    return [meaning for name, meaning in _MEANINGS.items() if name in shown]


UNDISTURBED = Column("undisturbed_share", "Undisturbed", formats.percent, is_number=True)
_CASE = Column("comparison_group", "Case", lambda key: (key or formats.NOTHING)[:6])
PARAMETERS = (*OF_CASE, *OF_LIBRARY)
