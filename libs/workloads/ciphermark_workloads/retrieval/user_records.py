"""Users' databases, read from files and checked completely before use.

``.bin`` is a sequence of elements, whose size is an option. ``.csv`` has one element per line for retrieval by index,
all of equal length, and a keyword and a value per line for retrieval by keyword. There is no header.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_workloads import user_workloads
from ciphermark_workloads.retrieval.database import Rows

MAX_VALUE_BYTES = 1 << 15
_SEED = "database_seed"
_FORMS = "a database is a file records.bin or records.csv"


Complaint: TypeAlias = Callable[[bytes], str | None]  # the fault of a keyword, if any


def _no_complaint(_: bytes) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Stored:
    """Elements of a file, of shape (n, S)."""

    values: Rows

    def rows(self, start: int, stop: int) -> Rows:
        """See :class:`.database.Database`."""
        return self.values[start:stop]


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a file: the number of each keyword, and values by number, at least a byte each."""

    numbers: Mapping[bytes, int]
    values: tuple[bytes, ...]

    @property
    def value_bytes(self) -> int:
        """The length of the longest value."""
        return max(map(len, self.values))


def element_options(name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
    """The options of retrieval by index from a file: n and S follow from it, except for S of ``.bin``, which must be
    given.

    Raises ``UserError`` for an invalid database, and for other given values of n or S.
    """
    size = values.get("element_bytes")
    rows = _elements(name, data, size if isinstance(size, int) else None)
    shape = {"elements": rows.shape[0], "element_bytes": rows.shape[1]}
    return _agreed(name, values, shape)


def record_options(
    name: str, data: bytes, values: Mapping[str, Value], complaint: Complaint = _no_complaint
) -> dict[str, Value]:
    """The options of retrieval by keyword from a file. Raises ``UserError`` as :func:`element_options` does, and for a
    keyword with a ``complaint``.
    """
    table = _records(name, data, complaint)
    return _agreed(name, values, {"records": len(table.values), "value_bytes": table.value_bytes})


@lru_cache(maxsize=2)
def elements(name: str, count: int, element_bytes: int) -> Stored:
    """The elements of a stored file; raises ``UserError`` where it is missing, or its elements differ from the
    options.
    """
    rows = _elements(name, user_workloads.file_content(name), element_bytes)
    if rows.shape != (count, element_bytes):
        raise UserError(
            f"{name} has {rows.shape[0]} elements of {rows.shape[1]} bytes, not {count} of {element_bytes}"
        )
    return Stored(rows)


@lru_cache(maxsize=2)
def records(name: str, count: int, value_bytes: int) -> Records:
    """The records of a stored file; raises ``UserError`` as :func:`elements` does."""
    table = _records(name, user_workloads.file_content(name))
    if (len(table.values), table.value_bytes) != (count, value_bytes):
        raise UserError(
            f"{name} has {len(table.values)} records of at most {table.value_bytes} bytes, not {count} of {value_bytes}"
        )
    return table


def _agreed(name: str, values: Mapping[str, Value], found: Mapping[str, int]) -> dict[str, Value]:
    if _SEED in values:
        raise UserError(f"{name}: records from a file need no seed: omit {_SEED}")
    for option, value in found.items():
        if values.get(option, value) != value:
            raise UserError(
                f"{name}: {option} is {value} in the file, but {values[option]} in the suite: omit it"
            )
    return {**values, "database": name, **found}


def _elements(name: str, data: bytes, size: int | None) -> Rows:
    read = _ELEMENTS.get(Path(name).suffix)
    if read is None:
        raise UserError(f"{name}: {_FORMS}")
    return read(name, _required(name, data), size)


def _of_bin(name: str, data: bytes, size: int | None) -> Rows:
    if size is None:
        raise UserError(f"{name}: give the length of elements: element_bytes: [256]")
    if size < 1 or len(data) % size:
        raise UserError(f"{name}: {len(data)} bytes are no multiple of {size} (element_bytes)")
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, size)


def _of_csv(name: str, data: bytes, size: int | None) -> Rows:
    """Elements from lines, as the bytes of the text in UTF-8."""
    rows: list[bytes] = []
    for line, (element,) in _lines(name, data, 1, "an element"):
        rows.append(element)
        if not element or len(element) != len(rows[0]):
            raise UserError(
                f"{name}, line {line}: an element of {len(element)} bytes, and the first has {len(rows[0])}: "
                "elements are equally long, so fill them up"
            )
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)


_ELEMENTS: Mapping[str, Callable[[str, bytes, int | None], Rows]] = {".bin": _of_bin, ".csv": _of_csv}


def _records(name: str, data: bytes, complaint: Complaint = _no_complaint) -> Records:
    if Path(name).suffix != ".csv":
        raise UserError(
            f"{name}: keywords and values are read from a .csv, lines of a keyword and a value: key,value"
        )
    numbers: dict[bytes, int] = {}
    values: list[bytes] = []
    for line, (keyword, value) in _lines(name, _required(name, data), 2, "a keyword and a value"):
        place = f"{name}, line {line}"
        if not keyword or not value:
            raise UserError(f"{place}: an empty {'value' if keyword else 'keyword'}")
        if against := complaint(keyword):
            raise UserError(f"{place}: the keyword {keyword.decode()!r} {against}")
        if keyword in numbers:
            raise UserError(
                f"{place}: the keyword {keyword.decode()!r} is there twice: keep one record of it"
            )
        if len(value) > MAX_VALUE_BYTES:
            raise UserError(f"{place}: a value of {len(value)} bytes, {MAX_VALUE_BYTES} are the most")
        numbers[keyword] = len(values)
        values.append(value)
    return Records(numbers, tuple(values))


def _required(name: str, data: bytes) -> bytes:
    if not data:
        raise UserError(f"{name}: the file is empty: a database has an element or more")
    if len(data) > user_workloads.MAX_FILE_BYTES:
        raise UserError(
            f"{name}: {len(data)} bytes are too many, {user_workloads.MAX_FILE_BYTES} are the most"
        )
    return data


def _lines(name: str, data: bytes, fields: int, words: str) -> Iterator[tuple[int, list[bytes]]]:
    """Line numbers and fields, in UTF-8; raises ``UserError`` for lines with another number of fields, or without any
    line.
    """
    try:
        text = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8: save the file as UTF-8") from None
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in lines:
            if len(row) != fields:
                raise UserError(
                    f"{name}, line {lines.line_num}: {len(row)} fields where {words} is expected: "
                    "a field with a comma stands in quotation marks"
                )
            yield lines.line_num, [field.encode() for field in row]
    except csv.Error as error:
        raise UserError(f"{name}, line {lines.line_num}: {error}: write plain CSV") from error
