"""Columns that several tables have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ciphermark_analysis.comparison import short_level
from ciphermark_present import formats
from ciphermark_present.figure import Column
from ciphermark_present.query import Row

_ELSEWHERE = ("repetitions", "data_set")
_NAMES = ("variant", "variant_off", "ring_dimension", "modulus_bits", "size", "data_pattern", "threads")


def with_differing(
    columns: Sequence[Column], rows: Sequence[Row], known: Sequence[Column]
) -> tuple[Column, ...]:
    """The columns of a table, and after those that name things the ``known`` ones in which its rows differ.

    What a row has no value of differs from nothing. Cases that no column tells apart are told by their keys.
    """
    there = {column.name for column in columns} | ({"dimensions"} if OPTIONS in columns else set())
    own = differing([column for column in known if column.name not in there], rows)
    if _are_alike(rows, (*columns, *own)):
        own.append(_CASE)
    last = max((place for place, column in enumerate(columns) if column.name in _NAMES), default=-1) + 1
    return (*columns[:last], *own, *columns[last:])


def _are_alike(rows: Sequence[Row], columns: Sequence[Column]) -> bool:
    """Whether several cases have the same texts, measured values apart."""
    about = [column for column in columns if not column.unit and (not column.is_number or column in OF_CASE)]
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


def _dimensions(values: Mapping[str, Any] | None) -> str:
    """What one experiment or family alone is varied by, but for what has a column of its own everywhere."""
    own = {name: value for name, value in (values or {}).items() if name not in _ELSEWHERE}
    return ", ".join(f"{name} {value}" for name, value in sorted(own.items())) or formats.NOTHING


def _chain(row: Row) -> str:
    return f"log2(QP) = {row['log_qp']:.0f} ({', '.join(map(str, row['modulus_bits']))})"


VARIANT = Column("variant", "Variant")
OPERATION = Column("operation", "Operation")
WORKLOAD = Column("operation", "Workload")
OPTIONS = Column("options", "Options", formats.text)
RANKED = Column("label", "Operation")  # composed ones apart
SCHEME = Column("scheme", "Scheme")
N = Column(
    "ring_dimension", "N", formats.text, is_number=True, heading=lambda row: f"N = {row['ring_dimension']}"
)
SIZE = Column("size", "Elements", formats.digits, is_number=True)
DATA = Column("data_pattern", "Data")
THREADS = Column("threads", "Threads", formats.text, is_number=True)
CHAIN = Column("modulus_bits", "Primes, bits", formats.chain)
LOG_QP = Column(
    "log_qp",
    "log2(QP)",
    formats.bits,
    is_number=True,
    short="log QP",
    brief=formats.rounded,
    heading=_chain,
)
SECURITY_2018 = Column(
    "security_2018",
    "Security (2018)",
    formats.level,
    short="2018",
    brief=short_level,
    heading=lambda row: f"{formats.level_or_unknown(row['security_2018'])} (2018)",
)
SECURITY_2024 = Column(
    "security_2024",
    "Security (2024)",
    formats.level,
    short="2024",
    brief=short_level,
    heading=lambda row: f"{formats.level_or_unknown(row['security_2024'])} (2024)",
)
STATUS = Column("status", "Outcome")
REASON = Column("error", "Reason", formats.text)
PEAK = Column(
    "peak_bytes", "Peak memory", formats.size, is_number=True, short="peak", brief=formats.brief_size
)
INTERVAL = (
    Column("ci_low", "95 % from", formats.seconds, is_number=True),
    Column("ci_high", "to", formats.seconds, is_number=True),
)
RATIO_INTERVAL = (
    Column("ci_low", "95 % from", formats.digits, is_number=True),
    Column("ci_high", "to", formats.digits, is_number=True),
)
# Tables have those of these in which their rows differ: of a case, and of what a library made of it.
OF_CASE = (
    N,
    CHAIN,
    Column("plain_modulus", "t", formats.text, is_number=True),
    Column("scale", "Scale", formats.scale, is_number=True),
    Column("division", "Division", formats.text),
    Column("security_bits", "Security asked for", formats.asked, is_number=True),
    Column("ring_dimension_is_minimum", "Smallest secure N", formats.yes),
    Column("dimensions", "Options", _dimensions),
    DATA,
    SIZE,
    THREADS,
)
OF_LIBRARY = (
    Column("key_switching", "Key switching", formats.text),
    Column("digits", "Digits", formats.text, is_number=True),
    Column("special_primes", "Special primes", formats.text, is_number=True),
    Column("scaling", "Scaling", formats.text),
    Column("secret_distribution", "Secret", formats.text),
    Column("encryption", "Encryption", formats.text),
)
_CASE = Column("comparison_key", "Case", lambda key: (key or formats.NOTHING)[:6])
PARAMETERS = (*OF_CASE, *OF_LIBRARY)
PLACE = ("scheme", "security_compared", "ring_dimension", "operation", "variant")  # what readers choose by
VECTOR = ("size", "data_pattern", "threads")
